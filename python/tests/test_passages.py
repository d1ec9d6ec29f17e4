"""passages cuts out of files what stands in earlier ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import alike


def test_a_repeated_line_stays_in_the_first_file(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": f"one two three\nof its own {i}\n"}) + "\n" for i in range(3)))
    summary = alike.passages(str(path), output=tmp_path / "out", unit="line", progress=False)
    assert summary["passages"]["changed"] == 2
    kept = [json.loads(line)["text"] for line in (tmp_path / "out" / "kept" / "in.jsonl").read_text().splitlines()]
    assert kept == ["one two three\nof its own 0\n", "of its own 1\n", "of its own 2\n"]
    with pytest.raises(alike.UsageError):
        alike.passages(["one two three"], output=tmp_path / "other", unit="line")
