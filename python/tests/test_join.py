"""Links are those of the command, of whatever kind the tables are."""

from __future__ import annotations

import csv
import json
import logging
import random
from pathlib import Path
from typing import Any

import pytest
from conftest import WORDS, command

import alike


def tables() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return records that correspond, in another order, with an error in each title."""
    rng = random.Random(3)
    left = [
        {"id": f"l{i}", "title": " ".join(f"{rng.choice(WORDS)}{rng.randrange(30)}" for _ in range(5)), "price": i * 1.5} for i in range(60)
    ]
    right = [{"id": f"r{i}", "title": row["title"][:-1] + "x", "price": row["price"]} for i, row in enumerate(left)]
    rng.shuffle(right)
    return left, right


def of_command(tmp_path: Path, left: Any, right: Any, *flags: str) -> list[list[str]]:
    paths = []
    for name, rows in (("left", left), ("right", right)):
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(csv.reader(command("join", *paths, *flags).splitlines()))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "datasets", "list"])
def test_links_are_those_of_the_command(library: str, tmp_path: Path) -> None:
    left, right = tables()
    header, *want = of_command(tmp_path, left, right)
    assert len(want) > 50
    if library == "list":
        links = alike.join(left, iter(right))
        assert [[x.left_id, x.right_id, x.similarity] for x in links] == [[a, b, float(s)] for a, b, s, *_ in want]
        assert list(links[0].fields) == header[3:]
        return
    module = pytest.importorskip(library)
    make = {
        "pandas": getattr(module, "DataFrame", None),
        "polars": getattr(module, "DataFrame", None),
        "pyarrow": lambda rows: module.Table.from_pylist(rows),
        "datasets": lambda rows: module.Dataset.from_list(rows),
    }[library]
    found = alike.join(make(left), make(right))
    assert type(found) is type(make(left))
    columns = {name: list(found[name].to_pylist() if library == "pyarrow" else found[name]) for name in header}
    got = list(zip(*columns.values(), strict=True))
    assert [list(map(str, row[:2])) for row in got] == [row[:2] for row in want]
    assert [row[2] for row in got] == [float(row[2]) for row in want]


def test_files_are_joined_as_the_command_does(tmp_path: Path) -> None:
    left, right = tables()
    _, *want = of_command(tmp_path, left, right, "--match=all", "--field=title", "--field=price:2:number")
    files = tmp_path / "left.jsonl", tmp_path / "right.jsonl"
    found = alike.join(*files, match="all", field=["title", "price:2:number"])
    assert [(x.left_id, x.right_id) for x in found] == [(a, b) for a, b, *_ in want]
    assert alike.join(left, files[1])[0].right_id.startswith("r")
    out = tmp_path / "out.csv"
    assert alike.join(*files, output=out, with_="title") is None
    assert out.read_text().startswith("left_id,right_id,similarity,")


def test_rows_are_known_by_their_own_labels_or_a_column() -> None:
    p = pytest.importorskip("pandas")
    left, right = (p.DataFrame(rows).drop(columns="id") for rows in tables())
    left.index = [f"row {i}" for i in range(len(left))]
    found = alike.join(left, right, threshold=0.3)
    assert found.left_id[0] == "row 0" and found.right_id.dtype.kind == "i"
    assert set(alike.join(left, right, right_id="price").right_id) <= set(right.price)


def test_what_is_wrong_is_said_as_the_command_says_it(tmp_path: Path, caplog: Any) -> None:
    left, right = tables()
    with pytest.raises(alike.AlikeError, match=r'^left rows has no column "nothing", there are: title, price \(--field\)$'):
        alike.join(left, right, field="nothing")
    with pytest.raises(alike.UsageError, match="left has texts, where a table has columns"):
        alike.join(["a"], right)
    with pytest.raises(alike.UsageError, match="there is no column 'x' with ids"):
        alike.join(left, right, left_id="x")
    with pytest.raises(alike.UsageError, match="output is for files"):
        alike.join(left, right, output=tmp_path / "x.csv")
    with pytest.raises(TypeError, match="did you mean match"):
        alike.join(left, right, mach="all")
    with pytest.raises(alike.AlikeError, match="nowhere"):
        alike.join(left, tmp_path / "nowhere.csv")
    with caplog.at_level(logging.INFO, "alike"):
        alike.join(left, right)
    assert any("links among 60 " in message for message in caplog.messages)
    caplog.clear()
    alike.join(left, right, quiet=True)
    assert not caplog.messages
