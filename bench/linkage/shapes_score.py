#!/usr/bin/env python3
"""What a program finds in the tables of shapes.py, with nothing chosen: python3 shapes_score.py ALIKE FOLDER…

A line for each folder, and one for each shape: mean F1 of pairs; how many ranges of precision or recall miss the truth by
more than .05 while they are said to be known; what `dedup --records` removes of a table, and of how many things it leaves
no record (lost). Two programs run at once.
"""

import csv
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def read(path):
    with open(path, newline="") as f:
        return list(csv.reader(f))[1:]


def run(*command):
    subprocess.run(command, capture_output=True, timeout=600)


def lost(table, truth, kept):
    """Returns of how many things of a table no record is kept."""
    thing = {r[0]: r[0] for r in table}

    def root(x):
        while thing[x] != x:
            x = thing[x]
        return x

    for a, b in truth:
        thing[root(a)] = root(b)
    return len({root(x) for x in thing} - {root(x) for x in kept})


def score(folder):
    folder, single = Path(folder), (Path(folder) / "table.csv").exists()
    table = folder / "table.csv"
    what = ["pairs", "--records", table, "--id-field", "id"] if single else ["join", folder / "left.csv", folder / "right.csv"]
    found = {"folder": folder.name, "removed": 0, "lost": 0}
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(tmp)
        run(alike, *what, "-o", out / "links.csv", "--summary", out / "summary.json")
        order = sorted if single else list
        truth = {tuple(order(r)) for r in read(folder / "truth.csv")}
        links = {tuple(order(r[:2])) for r in read(out / "links.csv")}
        if single:
            run(alike, "dedup", "--records", table, "--id-field", "id", "-o", out / "dedup")
            kept, records = read(out / "dedup/kept/table.csv"), read(table)
            found["removed"] = len(records) - len(kept)
            found["lost"] = lost(records, truth, [r[0] for r in kept])
        summary = json.loads((out / "summary.json").read_text())
    right = len(links & truth)
    found["links"], found["f1"] = len(links), 2 * right / (len(links) + len(truth)) if truth else None
    found["wrong"] = 0
    for of, n in (("precision", len(links)), ("recall", len(truth))):
        low, high = summary["expected_" + of]
        if n and high - low <= 0.3 and not low - 0.05 <= right / n <= high + 0.05:
            found["wrong"] = 1
    return found


def tell(name, of):
    f1 = [r["f1"] for r in of if r["f1"] is not None]
    sums = {key: sum(r[key] for r in of) for key in ("links", "wrong", "removed", "lost")}
    print(f"{name:24}", f"F1 {sum(f1) / len(f1):.3f}" if f1 else "no match", *(f"{k} {v}" for k, v in sums.items()))


alike, folders = sys.argv[1], sys.argv[2:]
with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(score, folders))
for r in results:
    tell(r["folder"], [r])
for shape in sorted({r["folder"].rsplit("-")[-1] for r in results}):
    tell(shape, [r for r in results if r["folder"].endswith("-" + shape)])
