"""dedup and pairs of records are those of the command, of whatever kind the table is."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import command
from test_join import tables

import alike


def table() -> list[dict[str, Any]]:
    """Return records of which most are there twice, with an error in the title."""
    left, right = tables()
    return left + right


def written(tmp_path: Path) -> Path:
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in table()))
    return path


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "list", "iterator"])
def test_records_are_kept_as_by_the_command(library: str, tmp_path: Path) -> None:
    command("dedup", "--records", written(tmp_path), "-o", tmp_path / "out", "--keep", "last", "--ids-only")
    want = (tmp_path / "out" / "kept.csv").read_text().split()[1:]
    assert 50 < len(want) < 100
    rows = table()
    if library in ("list", "iterator"):
        data: Any = rows if library == "list" else iter(rows)
        assert [row["id"] for row in alike.dedup(data, records=True, keep="last")] == want
        return
    module = pytest.importorskip(library)
    frame = module.Table.from_pylist(rows) if library == "pyarrow" else module.DataFrame(rows)
    kept = alike.dedup(frame, records=True, keep="last")
    assert type(kept) is type(frame)
    assert (kept["id"].to_pylist() if library == "pyarrow" else list(kept["id"])) == want
    assert sum(map(bool, alike.dedup_mask(rows, records=True, keep="last"))) == len(want)


def test_pairs_of_records_are_those_of_the_command(tmp_path: Path) -> None:
    path = written(tmp_path)
    header, *want = csv.reader(command("pairs", "--field", "title", path, "--probability").splitlines())
    assert len(want) > 40
    for data in (table(), iter(table()), path):
        found = alike.pairs(data, field="title", probability=True)
        assert [[p.a, p.b, f"{p.similarity:.6f}"] for p in found] == [row[:3] for row in want]
        assert list(found[0].fields) == header[3:] == ["title", "probability"]
    frame = pytest.importorskip("pandas").DataFrame(table())
    assert list(alike.pairs(frame, field="title", probability=True).columns) == header
    assert alike.pairs(frame.drop(columns="id"), field="title").a.iloc[0] == 0


def test_files_of_records_are_written_as_by_the_command(tmp_path: Path) -> None:
    path = written(tmp_path)
    summary = alike.dedup(path, records=True, output=tmp_path / "out")
    assert summary["candidate_method"] == "records"
    command("dedup", "--records", path, "-o", tmp_path / "want")
    assert (tmp_path / "out" / "removed.csv").read_bytes() == (tmp_path / "want" / "removed.csv").read_bytes()
    assert alike.pairs(path, records=True, output=tmp_path / "pairs.csv") is None
    assert (tmp_path / "pairs.csv").read_text() == command("pairs", "--records", path)


def test_what_is_about_texts_is_refused() -> None:
    with pytest.raises(alike.UsageError, match=r"against says nothing about records.*join\(\)"):
        alike.dedup(table(), records=True, against=table())
    with pytest.raises(alike.UsageError, match="text says nothing about records"):
        alike.pairs(table(), records=True, text="title")
    with pytest.raises(alike.UsageError, match="ngram says nothing about records"):
        alike.dedup(table(), records=True, ngram=3)
    with pytest.raises(alike.UsageError, match="has texts, where a table has columns"):
        alike.dedup(["a b c", "a b c"], records=True)
