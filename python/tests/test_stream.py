"""An iterator without the items that are like one before."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import command

import alike

RIVER = "The river rose in the night, and by morning the lower street stood under water."
BRIDGE = "Nobody in the council had expected the old bridge to hold for another winter."


def test_items_are_those_that_the_command_keeps(texts: list[str], tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)))
    with open(file, "rb") as lines:
        kept = subprocess.run([sys.executable, "-m", "alike", "stream", "--quiet"], stdin=lines, capture_output=True, check=True).stdout
    want = [json.loads(line)["text"] for line in kept.splitlines()]
    assert 0 < len(want) < len(texts)
    assert list(alike.stream(iter(texts))) == want
    assert [r["body"] for r in alike.stream(({"body": text} for text in texts), text="body")] == want


def test_an_item_is_yielded_before_the_next_one_is_read() -> None:
    read = []

    def items() -> Iterator[str]:
        for text in (RIVER, RIVER.upper(), BRIDGE):
            read.append(text)
            yield text

    kept = alike.stream(items())
    assert next(kept) == RIVER
    assert read == [RIVER]
    assert next(kept) == BRIDGE
    assert list(kept) == []


def test_windows_and_states(tmp_path: Path) -> None:
    records = [{"text": RIVER, "at": f"2024-01-0{day}T00:00:00Z"} for day in (1, 2, 5)]
    assert [r["at"][9] for r in alike.stream(records, time="at", window="36h")] == ["1", "5"]
    assert list(alike.stream([RIVER], state=tmp_path / "state")) == [RIVER]
    assert list(alike.stream([RIVER, BRIDGE], state=tmp_path / "state")) == [BRIDGE]


def test_items_without_a_text_are_left_out_and_told() -> None:
    with pytest.warns(alike.SkippedRecords, match="3 items without a text"):
        assert list(alike.stream([None, RIVER, 7, {"text": 7}, {"text": BRIDGE}])) == [RIVER, {"text": BRIDGE}]
    assert list(alike.stream([""])) == [""]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(alike.UsageError, match="one text"):
        alike.stream(RIVER)
    with pytest.raises(TypeError, match="did you mean window"):
        alike.stream([RIVER], windows="24h")  # type: ignore[call-arg]
    with pytest.raises(alike.UsageError, match="threshold"):
        list(alike.stream([RIVER], threshold=7))
    with pytest.raises(alike.UsageError, match="of type int"):
        list(alike.stream([7]))


def test_the_module_is_the_command() -> None:
    said = subprocess.run([sys.executable, "-m", "alike", "version"], capture_output=True, check=True, text=True).stdout
    assert said == command("version")
    assert subprocess.run([sys.executable, "-m", "alike", "nonsense"], capture_output=True).returncode == 2


def test_what_has_keys_or_columns_is_no_stream() -> None:
    class Frame:
        columns = ("text",)

        def __iter__(self) -> Iterator[str]:
            return iter(self.columns)

    for items in ({"a": "one text", "b": "one text"}, Frame()):
        with pytest.raises(alike.UsageError, match="a stream is an iterator of texts or records, and this is a"):
            alike.stream(items)
