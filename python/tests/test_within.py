"""within compares rows of one value only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import alike

TEXT = "the river rose in the night and by morning the lower street stood under water"
ROWS: list[dict[str, Any]] = [{"id": str(i), "text": TEXT, "crawl": crawl, "n": i} for i, crawl in enumerate(["a", "b", "a", "c", "b"])]


def test_rows_are_compared_within_a_column(tmp_path: Path) -> None:
    assert [row["id"] for row in alike.dedup(ROWS, within="crawl", progress=False)] == ["0", "1", "3"]
    assert [(p.a, p.b) for p in alike.pairs(ROWS, within="crawl", progress=False)] == [("0", "2"), ("1", "4")]
    assert alike.dedup_mask(ROWS, within="crawl", against=ROWS[:1], progress=False) == [False, True, False, True, False]
    assert [row["duplicate_of"] for row in alike.tag(ROWS, within="crawl", progress=False)] == [None, None, "0", None, "1"]
    assert [row["id"] for row in alike.stream(ROWS, within="crawl")] == ["0", "1", "3"]
    index = alike.Index.build(tmp_path / "ix", ROWS[:2], within="crawl")
    assert len(index) == 2
    assert [row["id"] for row in alike.dedup(ROWS, index=tmp_path / "new", progress=False)] == ["0"]


def test_frames_have_the_column_too() -> None:
    for kind in ("pandas", "polars"):
        frame = pytest.importorskip(kind).DataFrame(ROWS)
        assert list(alike.dedup(frame, within="crawl", progress=False)["id"]) == ["0", "1", "3"]
    table = pytest.importorskip("pyarrow").Table.from_pylist(ROWS)
    assert alike.dedup(table, within="n", progress=False).num_rows == 5


def test_wrong_use_is_told() -> None:
    with pytest.raises(alike.UsageError, match="within is 'lang', but there is no such column"):
        alike.dedup(ROWS, within="lang")
    with pytest.raises(alike.UsageError, match="keep and within name two columns"):
        alike.dedup(ROWS, within="crawl", keep="max:n")
