#!/usr/bin/env python3
"""Makes RESULTS.md of results.json, so that a benchmark's change is a line of a diff.

    python3 bench/results.py                         writes RESULTS.md
    python3 bench/results.py check                   fails if it is not what results.json says
    python3 bench/results.py put TABLE ROW VALUE…    replaces a row, or adds it, and writes both
"""

import json
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).parent


def wrapped(text):
    return textwrap.fill(text, 112, break_long_words=False, break_on_hyphens=False)


def page(results):
    lines = ["# Results", "", "Made by `bench/results.py` of `results.json`; do not edit.", ""]
    lines += [wrapped(results["machine"]), ""]
    for table in results["tables"]:
        lines += [f"## {table['title']}", "", "```sh", *table["command"], "```", ""]
        if table.get("note"):
            lines += [wrapped(table["note"]), ""]
        lines.append("| " + " | ".join(table["columns"]) + " |")
        lines.append("|" + "---|" + "--:|" * (len(table["columns"]) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in table["rows"]]
        lines.append("")
    return "\n".join(lines)


def stored(results):
    """The text of results.json: a line for each row and each value."""

    def value(v):
        return json.dumps(v, ensure_ascii=False)

    tables = []
    for table in results["tables"]:
        fields = [f"   {value(k)}: {value(v)}" for k, v in table.items() if k != "rows"]
        rows = ",\n".join("    " + value(row) for row in table["rows"])
        tables.append("  {\n" + ",\n".join([*fields, f'   "rows": [\n{rows}\n   ]']) + "\n  }")
    return f'{{\n "machine": {value(results["machine"])},\n "tables": [\n' + ",\n".join(tables) + "\n ]\n}\n"


def put(results, table, row):
    found = [t for t in results["tables"] if t["id"] == table]
    if not found or len(row) != len(found[0]["columns"]):
        known = ", ".join(t["id"] for t in results["tables"])
        sys.exit(f"results.py: no table {table} of {len(row)} columns; there are {known}")
    rows = found[0]["rows"]
    at = next((i for i, r in enumerate(rows) if r[0] == row[0]), len(rows))
    rows[at : at + 1] = [row]


def main(args):
    source, target = HERE / "results.json", HERE / "RESULTS.md"
    results = json.loads(source.read_text("utf-8"))
    for table in results["tables"]:
        for row in table["rows"]:
            if len(row) != len(table["columns"]):
                sys.exit(f"results.json: {table['id']}: {row} has {len(row)} of {len(table['columns'])} columns")
    if args == ["check"]:
        if source.read_text("utf-8") != stored(results) or target.read_text("utf-8") != page(results):
            sys.exit("RESULTS.md is not made of results.json: run python3 bench/results.py")
        return
    if len(args) > 2 and args[0] == "put":
        put(results, args[1], args[2:])
    elif args:
        sys.exit(__doc__)
    source.write_text(stored(results), "utf-8")
    target.write_text(page(results), "utf-8")


main(sys.argv[1:])
