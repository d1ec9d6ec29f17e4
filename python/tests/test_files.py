"""Paths go to the program as they are."""

from __future__ import annotations

import base64
import itertools
import json
from pathlib import Path

import pytest
from conftest import command, shared

import alike


@pytest.fixture
def file(texts: list[str], tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"key": f"k{i}", "body": t}) + "\n" for i, t in enumerate(texts)), "utf-8")
    return path


def same(a: Path, b: Path) -> bool:
    """Compare two outputs but for the time that they took."""
    names = sorted(p.relative_to(a) for p in a.rglob("*") if p.is_file() and p.name != "summary.json")
    assert names == sorted(p.relative_to(b) for p in b.rglob("*") if p.is_file() and p.name != "summary.json")
    return all((a / name).read_bytes() == (b / name).read_bytes() for name in names)


def test_dedup_of_files_is_the_command(file: Path, tmp_path: Path) -> None:
    summary = alike.dedup(file, output=tmp_path / "a", text="body", id="key", threshold=0.6)
    command("dedup", file, "-o", tmp_path / "b", "--text-field=body", "--id-field=key", "--threshold=0.6")
    assert same(tmp_path / "a", tmp_path / "b")
    assert summary["read"] == 400
    assert summary["read"] == summary["kept"] + summary["removed"]


def test_pairs_and_sketches_of_files(file: Path, tmp_path: Path) -> None:
    options = ["--text-field=body", "--id-field=key", "--threshold=0.6"]
    found = alike.pairs(str(file), text_field="body", id_field="key", threshold=0.6)
    lines = command("pairs", file, *options).splitlines()
    assert ["a,b,similarity"] + [f"{a},{b},{s:.6f}" for a, b, s in found] == lines
    summary = alike.pairs([file], text_field="body", id_field="key", threshold=0.6, output=tmp_path / "pairs.csv")
    assert summary["read"] == 400
    assert (tmp_path / "pairs.csv").read_text().splitlines() == lines
    assert [f.id for f in alike.sketch(file, text="body", id="key")] == [f"k{i}" for i in range(400)]
    alike.sketch(file, text="body", id="key", output=tmp_path / "sketch.jsonl")
    assert (tmp_path / "sketch.jsonl").read_text() == command("sketch", file, *options[:2])


def test_files_and_rows_may_meet(file: Path, texts: list[str], tmp_path: Path) -> None:
    rows = [{"key": f"r{i}", "body": t} for i, t in enumerate(texts[:50])]
    found = alike.pairs(rows, with_=file, text="body", id="key")
    assert found[0][:2] == ("r0", "k0")
    found = alike.pairs(file, with_=rows, text="body", id="key")
    assert found[0][:2] == ("k0", "r0")
    empty = [row for row in rows if not row["body"].strip()]
    assert alike.dedup(rows, against=[file], text="body", quiet=True) == empty
    summary = alike.dedup(file, against=rows, text="body", id="key", output=tmp_path / "out", quiet=True)
    assert summary["removed"] >= 50 - len(empty)
    removed = (tmp_path / "out" / "removed.csv").read_text().splitlines()
    assert removed[1].split(",")[0] == "k0"
    with pytest.raises(alike.UsageError, match="id_field - is for files alone"):
        alike.pairs(rows, with_=file, text="body", id="-")


def test_a_work_folder_of_rows_holds_temporary_files(tmp_path: Path) -> None:
    work = tmp_path / "not" / "yet"
    kept = alike.dedup(iter(["a", "b", "a"]), work=work)
    assert list(work.iterdir())
    assert list(kept) == ["a", "b"]
    assert not list(work.iterdir())


def test_compare_counts_characters_of_strings_and_bytes_of_files(tmp_path: Path) -> None:
    a, b = "ä: one two three four five six seven", "東京 and one two three four five six\n"
    found = alike.compare(a, b)
    passage = found.passages[0]
    assert a[passage.a.start : passage.a.end] == b[passage.b.start : passage.b.end] == passage.text == "one two three four five six"
    assert found.similarity == found.jaccard == found.intersection / found.union
    (tmp_path / "b").write_text(b, "utf-8")
    other = alike.compare(a, tmp_path / "b", measure="containment")
    assert other.passages[0].a == passage.a
    start = other.passages[0].b.start
    assert (tmp_path / "b").read_bytes()[start:].startswith(b"one two")
    assert other.similarity == found.intersection / found.features_a
    assert other.reverse == found.intersection / found.features_b
    assert alike.compare("", "").passages == []


@pytest.mark.parametrize("name", ["minhash_articles/articles_1000.jsonl.zst", "bbc_news/docs.jsonl.zst"])
def test_real_texts_are_the_same_as_a_frame_and_as_a_file(name: str, tmp_path: Path) -> None:
    """Guard that a frame of real texts, of many scripts, gives what the file gives."""
    polars = pytest.importorskip("polars")
    file = shared(name)
    command("pairs", file, "-o", tmp_path / "pairs.csv", "--threshold", "0.4")
    frame = polars.read_ndjson(file)
    found = alike.pairs(frame, threshold=0.4)
    rows = [f"{a},{b},{s:.6f}" for a, b, s in found.rows()]
    assert rows == (tmp_path / "pairs.csv").read_text().splitlines()[1:]
    assert len(rows) > 0


@pytest.mark.parametrize("language", ["ja", "he", "vi"])
def test_real_texts_of_other_scripts_have_the_signatures_of_the_file(language: str) -> None:
    polars = pytest.importorskip("polars")
    file = shared(f"wiki_multilingual/{language}.jsonl.zst")
    frame = polars.read_ndjson(file).head(200)
    found = alike.sketch(iter(frame["text"]), id="-")
    of_file = itertools.islice(command("sketch", file).splitlines(), 200)
    assert [f.signature for f in found] == [base64.b64decode(json.loads(line)["signature"]) for line in of_file]
