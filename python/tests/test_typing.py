"""A type checker knows what comes back, and what options there are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

USE = """\
from collections.abc import Iterator
from pathlib import Path
import alike
kept: list[str] = alike.dedup(["a"], threshold=0.7, keep="longest", memory="1GiB")
mapping: dict[int, str] = alike.dedup({1: "a"}, against=Path("reference.jsonl"))
lazy: Iterator[str] = alike.dedup(text for text in kept)
summary: dict[str, object] = alike.dedup("in.jsonl", output=Path("out"), progress=lambda p: print(p.stage))
similarity: float = alike.compare("a", Path("b.txt"), measure="containment").similarity
alike.dedup(kept, threshold="high")
alike.dedup(kept, treshold=0.7)
alike.pairs(kept, verify="maybe")
wrong: list[int] = alike.dedup(["a"])
found: list[alike.Pair] = alike.pairs(kept)
lazily: Iterator[alike.Pair] = alike.pairs(text for text in kept)
written: dict[str, object] = alike.pairs("in.jsonl", output="pairs.csv")
fingerprints: list[alike.Fingerprint] = alike.sketch(mapping)
links: list[alike.Link] = alike.join("a.csv", [{"name": "b"}])
with alike.Index("folder") as index:
    matches: list[alike.Match] = index.search(kept, top=3)
    answer: dict[str, object] = index.check("a text")
    answers: list[dict[str, object]] = index.check({"b": "a text"}, add=True)
    size: int = len(index)
for item in alike.stream(kept, window="24h"):
    length: int = len(item)
number: int = alike.pairs(kept)
alike.stream(kept, windows="24h")
class Frame:
    columns: list[str] = []
    def drop(self, name: str) -> "Frame": return self
    def equals(self, other: "Frame") -> bool: return self is other
frame = Frame()
for table in (alike.dedup(frame), alike.tag(frame), alike.pairs(frame), alike.sketch(frame), alike.join(frame, kept)):
    columns: list[str] = table.columns
tags: list[alike.Tag] = alike.tag(kept)
tagged: list[dict[str, object]] = alike.tag([{"name": "b"}])
mask: list[bool] = alike.dedup_mask(kept)
masks: dict[int, bool] = alike.dedup_mask(mapping)
clean: list[str] = alike.decontaminate(kept, against=kept)
places: list[alike.Found] = alike.decontaminate(kept, against=kept, found_only=True)
cut: dict[str, object] = alike.decontaminate("in.jsonl", against="items.jsonl", output="out", cut=True)
wrong_tags: list[str] = alike.tag(kept)
wrong_frame: list[str] = alike.pairs(frame)
"""


@pytest.mark.parametrize(
    ("checker", "strictly"), [("mypy", ["--strict"]), ("basedpyright", ["--level", "error", "--pythonpath", sys.executable])]
)
def test_a_checker_finds_the_errors_and_no_others(checker: str, strictly: list[str], tmp_path: Path) -> None:
    pytest.importorskip(checker)
    (tmp_path / "use.py").write_text(USE)
    checked = subprocess.run([sys.executable, "-m", checker, *strictly, "use.py"], cwd=tmp_path, capture_output=True, text=True)
    lines = sorted({int(line[1]) for line in re.findall(r"(?m)^ *(\S*use\.py):(\d+)(?::\d+)*:? (?:- )?error", checked.stdout)})
    assert lines == [9, 10, 11, 12, 25, 26, 41, 42], checked.stdout
