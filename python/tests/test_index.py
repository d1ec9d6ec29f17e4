"""An index finds what the command finds, whatever its documents came from."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import command

import alike


def records(texts: list[str]) -> list[dict[str, Any]]:
    return [{"id": f"d{i}", "text": text, "date": f"2024-01-{i % 28 + 1:02}"} for i, text in enumerate(texts)]


def of_command(folder: Path, queries: Path) -> list[Any]:
    found = map(json.loads, command("search", folder, queries, "--json", "--quiet").splitlines())
    return [(f["query"], m["id"], m["similarity"], m["columns"]) for f in found for m in f["matches"]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "list"])
def test_documents_are_found_as_by_the_command(library: str, texts: list[str], tmp_path: Path) -> None:
    rows = records(texts)
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command("index", "build", tmp_path / "want", file, "--columns=date", "--quiet", "--threshold=0.6")
    want = of_command(tmp_path / "want", file)
    assert len(want) > len(texts) / 2
    make: Any = list
    if library != "list":
        module = pytest.importorskip(library)
        make = module.Table.from_pylist if library == "pyarrow" else module.DataFrame
    index = alike.Index.build(tmp_path / "index", make(rows[:100]), columns=["date"], threshold=0.6)
    index.add(make(rows[100:]))
    found = index.search(make(rows))
    if library == "list":
        assert [tuple(m) for m in found] == want
        return
    assert type(found) is type(make(rows))
    names = ("query", "id", "similarity", "date")
    columns = [found[name].to_pylist() if library == "pyarrow" else list(found[name]) for name in names]
    assert list(zip(*columns, strict=True)) == [(q, i, s, c["date"]) for q, i, s, c in want]


def test_an_index_lives_on(texts: list[str], tmp_path: Path) -> None:
    some = {f"d{i}": text for i, text in enumerate(texts) if text}
    index = alike.Index.build(tmp_path / "index", some)
    query = texts[0]
    assert ("d0", 1.0) in [(m.id, m.similarity) for m in index.search([query])]
    assert index.search([query])[0].query == 0
    index.delete(["d0"])
    assert "d0" not in [m.id for m in alike.Index(tmp_path / "index").search([query])]
    index.add({"d0": query})
    assert int(index.info()["documents"]) == len(some)
    index.verify()
    index.compact()
    assert "d0" in [m.id for m in index.search([query], top=500)]
    file = tmp_path / "more.jsonl"
    file.write_text('{"id":"x","text":"a text that is in a file alone"}\n')
    index.add(file)
    assert [tuple(m) for m in index.search(file)] == [("x", "x", 1.0, {})]


def test_what_is_wrong_is_said_as_the_command_says_it(tmp_path: Path) -> None:
    with pytest.raises(alike.UsageError, match="documents of an index have ids"):
        alike.Index.build(tmp_path / "index", ["a"])
    with pytest.raises(alike.AlikeError, match="index"):
        alike.Index(tmp_path / "nowhere").search(["a"])
    with pytest.raises(alike.UsageError, match="--threshold is 2"):
        alike.Index.build(tmp_path / "index", {"a": "b"}, threshold=2)
    with pytest.raises(TypeError, match="did you mean columns"):
        alike.Index.build(tmp_path / "index", {"a": "b"}, colums=["x"])
    with pytest.raises(alike.UsageError, match="there is no column 'x' for the index to keep"):
        alike.Index.build(tmp_path / "index", [{"id": "a", "text": "b"}], columns=["x"])
    with pytest.warns(alike.SkippedRecords, match=r"row b: .*null"):
        index = alike.Index.build(tmp_path / "index", {"a": "b", "b": None})
    with pytest.raises(alike.UsageError, match="ids is a str"):
        index.delete("a")


@pytest.mark.parametrize("library", ["pandas", "list"])
def test_an_index_of_texts_alone_takes_and_finds_rows(library: str, tmp_path: Path) -> None:
    make: Any = pytest.importorskip(library).DataFrame if library != "list" else list
    index = alike.Index.build(tmp_path / "index", make([{"id": "a", "text": "one two three"}]))
    index.add(make([{"id": "b", "text": "four five six", "date": "2024"}]))
    found = index.search(make([{"id": "q", "text": "four five six"}]))
    if library == "list":
        assert [tuple(match) for match in found] == [("q", "b", 1.0, {})]
    else:
        assert found.to_dict("records") == [{"query": "q", "id": "b", "similarity": 1.0}]


def test_a_folder_whose_name_begins_like_a_flag_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    index = alike.Index.build("-x", {"a": "one two three"})
    index.add({"b": "four five six"})
    index.delete(["a"])
    assert [match.id for match in index.search(["one two three", "four five six"])] == ["b"]


def test_each_record_that_is_skipped_is_counted(tmp_path: Path) -> None:
    texts = {"a": "one two three", **dict.fromkeys("bcdefghi"), "j": 7}
    named = r"^skipped 9 records, .*row b: .*\n(row [c-f]: .*\n){4}row j: .*\n"
    with pytest.warns(alike.SkippedRecords, match=named + r"9 in all: missing field \(8\), text is not a string \(1\)$"):
        index = alike.Index.build(tmp_path / "index", texts)
    with pytest.warns(alike.SkippedRecords, match="^skipped 2 records, "):
        assert len(index.search(["one two three", None, None])) == 1


def test_a_held_index_answers_as_processes_do(texts: list[str], tmp_path: Path) -> None:
    some = {f"d{i}": text for i, text in enumerate(texts) if text}
    plain = alike.Index.build(tmp_path / "plain", some)
    held = alike.Index.build(tmp_path / "held", some)
    with held:
        assert [tuple(m) for m in held.search(texts[:50])] == [tuple(m) for m in plain.search(texts[:50])]
        assert len(held) == len(plain) == len(some)
        held.delete(["d0", "d1"])
        plain.delete(["d0", "d1"])
        assert [tuple(m) for m in held.search(texts[:50])] == [tuple(m) for m in plain.search(texts[:50])]
        held.add({"d0": texts[0]})
        assert len(held) == len(some) - 1
        with pytest.raises(alike.AlikeError, match="process"):
            plain_writer = alike.Index(tmp_path / "held")
            plain_writer.delete(["d5"])
        with pytest.raises(alike.AlikeError, match="no document with such an id"):
            held.delete(["nothing"])
        assert len(held) == len(some) - 1
    plain.add({"d0": texts[0]})
    assert [tuple(m) for m in held.search(texts[:50])] == [tuple(m) for m in plain.search(texts[:50])]


def test_what_is_new_is_told_and_added(tmp_path: Path) -> None:
    river = "The river rose in the night, and by morning the lower street stood under water."
    other = "Nobody in the council had expected the old bridge to hold for another winter."
    with alike.Index.build(tmp_path / "index", {"a": river}) as index:
        assert not index.check(river.upper())["new"]
        assert index.check(river.upper())["nearest"][0]["id"] == "a"
        assert [answer["new"] for answer in index.check([river, other])] == [False, True]
        assert [answer["new"] for answer in index.check({"b": other, "c": other}, add=True)] == [True, False]
        assert len(index) == 2
        file = tmp_path / "text.txt"
        file.write_text(other)
        assert not index.check(file)["new"]
        with pytest.raises(alike.UsageError, match="ids"):
            index.check([other], add=True)
    assert alike.Index(tmp_path / "index").check(other)["nearest"][0]["id"] == "b"


def test_an_index_that_is_not_there_is_told_when_it_is_asked(tmp_path: Path) -> None:
    with alike.Index(tmp_path / "nothing") as index, pytest.raises(alike.AlikeError, match="nothing"):
        len(index)


@pytest.mark.parametrize("library", ["pandas", "polars", "list"])
def test_weeks_beside_an_index_are_kept_as_by_the_command(library: str, texts: list[str], tmp_path: Path) -> None:
    make: Any = list if library == "list" else pytest.importorskip(library).DataFrame
    rows = records(texts)
    weeks = [rows[:150], rows[150:], [*rows[:10], {"id": "d1", "text": "an id that was there", "date": ""}]]
    for number, week in enumerate(weeks):
        file = tmp_path / f"{number}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in week))
        command(
            "dedup", file, "-o", tmp_path / f"out{number}", "--index", tmp_path / "want", "--ids-only", "--quiet", status=3 * (number == 2)
        )
        want = (tmp_path / f"out{number}" / "kept.csv").read_text().split()[1:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", alike.SkippedRecords)
            kept = alike.dedup(make(week), index=tmp_path / "index", id="id")
        assert [row["id"] for row in (kept if library == "list" else _rows_of(kept))] == want
    with alike.Index(tmp_path / "index") as index:
        assert len(index) == len(alike.Index(tmp_path / "want"))
        with pytest.raises(alike.AlikeError, match="id"):
            alike.dedup(["texts", "without ids"], index=index)


def _rows_of(frame: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = frame.to_dict("records") if hasattr(frame, "iloc") else frame.to_dicts()
    return rows
