"""Entities and matches are those of the command."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from conftest import WORDS, command

import alike

NAMES = [f"{a} {b}" for a in WORDS[:8] for b in WORDS[8:]]


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """Return two tables of the same things, with errors in one of them."""
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for number, path in enumerate(paths):
        with path.open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["id", "name", "year", "place"])
            for i, name in enumerate(NAMES):
                at = len(name) // 2
                lines.writerow([f"{path.stem}{i}", name[: at - number] + name[at:], 1900 + 7 * i % 90, f"{WORDS[i % 9]} {i * 13 % 40}"])
    return paths


def test_entities_are_those_of_the_command(tables: list[Path], tmp_path: Path) -> None:
    _, *want = csv.reader(command("entities", *tables).splitlines())
    got = alike.entities(tables)
    assert got is not None
    assert [[e.table, e.id, e.entity, f"{e.probability:.6f}"] for e in got] == want
    assert alike.entities(tables, output=tmp_path / "known.csv") is None
    again = alike.entities(tables, known=tmp_path / "known.csv", changes=tmp_path / "changes.csv")
    assert again == got
    assert (tmp_path / "changes.csv").read_text() == "change,entity,other,why\n"


def test_matches_are_those_of_the_join(tables: list[Path], tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    links = {x.left_id: x.right_id for x in alike.join(*tables, save_config=model)}
    assert len(links) > 40
    with tables[0].open(newline="") as file:
        records: list[dict[str, Any]] = [dict(row) for row in csv.DictReader(file)]
    answers = alike.match(model, tables[1], records)
    found = {a["id"]: a["matches"][0]["id"] for a in answers if not a["new"]}
    assert [a["id"] for a in answers] == [r["id"] for r in records]
    assert sum(found.get(a) == b for a, b in links.items()) > 0.95 * len(links)
    pandas = pytest.importorskip("pandas")
    assert alike.match(model, tables[1], pandas.DataFrame(records)) == answers
    with alike.Matcher(model, tables[1], top=1) as matcher:
        assert matcher.match({"name": float("nan")}) == {"id": "1", "new": True, "matches": []}
        assert matcher.match(records[3])["matches"][0]["id"] == found[records[3]["id"]]


def test_what_cannot_be_matched_is_told(tables: list[Path]) -> None:
    with pytest.raises(alike.AlikeError, match="no model"):
        alike.match(tables[0], tables[1], [{"id": 1}])
    with pytest.raises(alike.UsageError, match="data frame"):
        alike.match(tables[0], tables[1], ["a text"])
