"""What is wrong is said as the command says it, in the caller's terms."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import alike
from alike._binary import binary


def said(*arguments: str | Path) -> str:
    """Return what the command says before it fails."""
    done = subprocess.run([binary(), *map(str, arguments)], capture_output=True, encoding="utf-8")
    assert done.returncode in (1, 2)
    return "\n".join(line.removeprefix("alike: ") for line in done.stderr.splitlines() if "--help" not in line)


def test_errors_have_the_texts_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"text":"a"}\n')
    with pytest.raises(alike.UsageError) as usage:
        alike.dedup(["a"], threshold=2)
    assert str(usage.value) == said("dedup", file, "-o", tmp_path / "o", "--threshold", "2")
    assert isinstance(usage.value, ValueError)
    with pytest.raises(alike.AlikeError) as failed:
        alike.pairs(tmp_path / "nowhere.jsonl")
    assert str(failed.value) == said("pairs", tmp_path / "nowhere.jsonl")
    assert not isinstance(failed.value, alike.UsageError)
    with pytest.raises(alike.UsageError, match="name it, output="):
        alike.dedup(file)
    with pytest.raises(alike.AlikeError, match=r"no such file or folder; check the name, or give texts as a list$"):
        alike.pairs("a text, no name")
    with pytest.raises(alike.UsageError) as usage:
        alike.compare("a", "b", ngram=0)
    assert str(usage.value) == said("compare", file, file, "--ngram", "0")


def test_rows_without_a_text_are_skipped_with_a_warning_that_names_them() -> None:
    p = pytest.importorskip("pandas")
    frame = p.DataFrame({"body": ["a b c", None, "a b c", float("nan")]}, index=["w", "x", "y", "z"], dtype=object)
    with pytest.warns(alike.SkippedRecords) as told:
        mask = alike.dedup_mask(frame)
    assert list(mask) == [True, False, False, False]
    assert str(told[0].message).startswith('skipped 2 records, in no result: row x: column "body" is null')
    assert "\nrow z: " in str(told[0].message)
    assert told[0].filename == __file__
    assert alike.dedup(frame, quiet=True).index.tolist() == ["w"]
    with pytest.raises(alike.AlikeError, match=r'^row x: column "body" is null'):
        alike.dedup(frame, on_error="fail")


@pytest.mark.parametrize("make", [list, iter, dict])
def test_missing_texts_of_a_list_are_named_by_their_numbers(make: Any) -> None:
    texts = ["a", None, 7, "b", ["c"]]
    rows = dict(zip("vwxyz", texts, strict=True)) if make is dict else make(texts)
    with pytest.warns(alike.SkippedRecords, match='skipped 3 records.*row [1w]: field "text" is null'):
        kept = alike.dedup(rows)
    assert list(kept.values() if make is dict else kept) == ["a", "b"]


def test_of_many_skipped_rows_some_are_named_and_all_are_counted() -> None:
    with pytest.warns(
        alike.SkippedRecords,
        match=r"skipped 1,000 records, in no result: row 1: .*\n(row [2-5]: .*\n){4}1,000 in all: missing field \(1,000\)$",
    ):
        assert alike.dedup(["a"] + [None] * 1000) == ["a"]


def test_a_record_that_is_too_long_is_skipped(tmp_path: Path) -> None:
    with pytest.warns(alike.SkippedRecords, match="row 1: "):
        assert alike.dedup(["a", "b" * 5000, "c"], max_record="1KiB") == ["a", "c"]


def test_notices_are_logged_unless_quiet(caplog: Any) -> None:
    with caplog.at_level(logging.WARNING, "alike"):
        alike.dedup(["", "a"])
    assert caplog.messages == ["1 document has no text to compare: it matches nothing"]
    caplog.clear()
    alike.dedup(["", "a"], quiet=True)
    assert caplog.messages == []


def test_the_text_column_is_found_or_asked_for() -> None:
    rows = [{"id": "1", "body": "a b", "n": 1}, {"id": "2", "body": "a b", "n": 2}]
    assert alike.dedup(rows) == rows[:1]
    both = [{"title": "x", "body": "y"}]
    with pytest.raises(alike.UsageError, match="""no column "text", and several hold strings \\('title', 'body'\\): name"""):
        alike.dedup(both)
    with pytest.raises(alike.UsageError, match="""none holds strings \\('n'\\)"""):
        alike.dedup([{"n": 1}])
    with pytest.raises(alike.UsageError, match="there is no column 'x': the columns are 'title', 'body'"):
        alike.dedup(both, text="x")
    with pytest.raises(alike.UsageError, match="there is no column 'x' with ids"):
        alike.pairs(both, text="body", id="x")
    with pytest.raises(alike.UsageError, match="keep is 'max:size', but there is no column 'size'"):
        alike.dedup(both, text="body", keep="max:size")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "datasets"])
def test_a_column_of_numbers_is_no_text(library: str) -> None:
    module = pytest.importorskip(library)
    make = {"pyarrow": "table", "datasets": "Dataset"}.get(library, "DataFrame")
    build = getattr(module, make)
    rows = (build.from_dict if library == "datasets" else build)({"n": [1, 2], "s": ["a b", "a b"]})
    assert len(alike.dedup(rows)) == 1
    with pytest.raises(alike.UsageError, match="column 'n' holds values of type"):
        alike.dedup(rows, text="n")


def test_what_is_no_data_is_refused() -> None:
    for data in (7, b"text", [7], [("a",)]):
        with pytest.raises(alike.UsageError):
            alike.dedup(data)
    with pytest.raises(alike.UsageError, match="a mask is for rows in memory"):
        alike.dedup_mask("in.jsonl")
    with pytest.raises(alike.UsageError, match="output is for files"):
        alike.dedup(["a"], output="out")
    with pytest.raises(alike.UsageError, match="format is for files"):
        alike.dedup(["a"], format="jsonl")
    frame = pytest.importorskip("polars").DataFrame({"text": ["a"]})
    with pytest.raises(alike.UsageError, match="collect"):
        alike.dedup(frame.lazy())
    table = pytest.importorskip("pyarrow").table([["a"], ["b"]], names=["text", "text"])
    with pytest.raises(alike.UsageError, match="several columns 'text'"):
        alike.dedup(table)
    frame = pytest.importorskip("pandas").DataFrame([["a", "b"]], columns=["text", "text"])
    with pytest.raises(alike.UsageError, match="several columns 'text'"):
        alike.dedup(frame)


def test_numbers_of_other_libraries_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    texts = ["a b c d e f", "a b c d e g"]
    assert alike.dedup(texts, threshold=numpy.float32(0.1), ngram=numpy.int64(5)) == texts[:1]


def test_values_that_a_table_cannot_hold_are_no_end() -> None:
    p = pytest.importorskip("pandas")
    mixed = p.DataFrame({"text": ["a b c", 7, "a b c", "lone \ud800 surrogate", "lone \ud800 surrogate"]}, dtype=object)
    with pytest.warns(alike.SkippedRecords, match='row 1: field "text" is a number'):
        assert list(alike.dedup_mask(mixed)) == [True, False, False, True, False]
    assert list(alike.dedup(iter(["lone \ud800 surrogate", "東京 \udfff"]))) == ["lone \ud800 surrogate", "東京 \udfff"]


def test_a_program_that_is_not_there_or_dies_is_an_error(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ALIKE_BINARY", str(tmp_path / "nothing"))
    with pytest.raises(alike.AlikeError, match="the program cannot be run"):
        alike.dedup(["a"])
    if sys.platform == "win32":
        return
    script = tmp_path / "alike"
    script.write_text("#!/bin/sh\necho 'alike: about to go' >&2\nkill -9 $$\n")
    script.chmod(0o755)
    monkeypatch.setenv("ALIKE_BINARY", str(script))
    with pytest.raises(alike.AlikeError, match=r"^about to go\nthe program was ended by signal 9$"):
        alike.dedup(["a"])
    assert not [name for name in os.listdir(tmp_path) if name.startswith("alike-")]


def test_what_is_no_path_is_told_by_the_name_of_its_argument(tmp_path: Path) -> None:
    calls: dict[str, Callable[[Any], Any]] = {
        "output": lambda wrong: alike.dedup(tmp_path, output=wrong),
        "b": lambda wrong: alike.compare("a text", wrong),
        "a table": lambda wrong: alike.entities([tmp_path / "a.csv", wrong]),
        "model": lambda wrong: alike.Matcher(wrong, tmp_path),
        "table": lambda wrong: alike.Matcher(tmp_path, wrong),
        "folder": lambda wrong: alike.Index(wrong),
    }
    for name, call in calls.items():
        for wrong in (None, 5, b"bytes"):
            if name == "output" and wrong is None:
                continue  # there is none
            with pytest.raises(alike.UsageError, match=f"^{name} is of type {type(wrong).__name__}: give a path$"):
                call(wrong)
