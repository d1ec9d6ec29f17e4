"""What goes in comes out as the same kind, and says what the plain command says."""

from __future__ import annotations

import collections
import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import command

import alike


def pandas(texts: list[Any]) -> Any:
    return pytest.importorskip("pandas").DataFrame({"text": texts, "n": range(len(texts))}, index=[f"r{i}" for i in range(len(texts))])


def pandas_objects(texts: list[Any]) -> Any:
    p = pytest.importorskip("pandas")
    return p.DataFrame({"text": p.Series(texts, dtype=object)})


def pandas_categories(texts: list[Any]) -> Any:
    return pandas_objects(texts).astype("category")


def pandas_series(texts: list[Any]) -> Any:
    return pytest.importorskip("pandas").Series(texts, name="body")


def polars(texts: list[Any]) -> Any:
    return pytest.importorskip("polars").DataFrame({"body": texts, "n": range(len(texts))})


def polars_series(texts: list[Any]) -> Any:
    return pytest.importorskip("polars").Series("x", texts)


def arrow(texts: list[Any]) -> Any:
    return pytest.importorskip("pyarrow").table({"n": list(range(len(texts))), "text": texts})


def arrow_batch(texts: list[Any]) -> Any:
    return arrow(texts).to_batches()[0]


def arrow_dictionary(texts: list[Any]) -> Any:
    p = pytest.importorskip("pyarrow")
    return p.table({"text": p.array(texts).dictionary_encode()})


def arrow_array(texts: list[Any]) -> Any:
    return pytest.importorskip("pyarrow").chunked_array([texts[:100], texts[100:]])


def arrow_views(texts: list[Any]) -> Any:
    p = pytest.importorskip("pyarrow")
    return p.table({"text": p.array(texts, p.string_view())})


def numpy(texts: list[Any]) -> Any:
    return pytest.importorskip("numpy").array(texts, dtype=object)


def data_set(texts: list[Any]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict({"text": texts, "n": list(range(len(texts)))})


def data_set_view(texts: list[Any]) -> Any:
    backwards = pytest.importorskip("datasets").Dataset.from_dict({"text": texts[::-1]})
    return backwards.select(range(len(texts) - 1, -1, -1))


def data_set_stream(texts: list[Any]) -> Any:
    return data_set(texts).to_iterable_dataset(num_shards=3)


def records(texts: list[Any]) -> Any:
    return [{"n": i, "text": text} for i, text in enumerate(texts)]


def mapping(texts: list[Any]) -> Any:
    return dict(enumerate(texts))


KINDS: list[Callable[[list[Any]], Any]] = [
    list,
    tuple,
    collections.deque,
    iter,
    records,
    mapping,
    pandas,
    pandas_objects,
    pandas_categories,
    pandas_series,
    polars,
    polars_series,
    arrow,
    arrow_batch,
    arrow_dictionary,
    arrow_array,
    arrow_views,
    numpy,
    data_set,
    data_set_view,
    data_set_stream,
]


def texts_of(rows: Any) -> list[Any]:
    """Return the texts of rows of any kind."""
    if hasattr(rows, "columns") and not hasattr(rows, "schema"):
        return list(rows[rows.columns[0]])
    if type(rows).__module__.startswith("polars"):
        return list(rows["body"] if hasattr(rows, "columns") else rows)
    if type(rows).__module__.startswith("pyarrow"):
        return list((rows.column("text") if hasattr(rows, "column") else rows).to_pylist())
    if type(rows).__name__ in ("Dataset", "IterableDataset"):
        return [row["text"] for row in rows]
    if isinstance(rows, dict):
        return list(rows.values())
    return [row["text"] if isinstance(row, dict) else row for row in rows]


@pytest.fixture(scope="module")
def truth(all_texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[int], list[tuple[int, int, float]]]]:
    """Return what the plain command says of the texts: numbers of kept rows, and pairs."""
    folder = tmp_path_factory.mktemp("truth")
    lines = folder / "in.jsonl"
    lines.write_text("".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(all_texts)), "utf-8")
    command("dedup", lines, "-o", folder / "out", "--threshold", "0.6")
    kept = [int(json.loads(line)["id"]) for line in (folder / "out/kept/in.jsonl").read_text("utf-8").splitlines()]
    rows = csv.reader(command("pairs", lines, "--threshold", "0.6").splitlines())
    yield kept, [(int(a), int(b), float(s)) for a, b, s in list(rows)[1:]]


@pytest.mark.parametrize("make", KINDS, ids=lambda f: f.__name__)
def test_dedup_keeps_what_the_command_keeps(make: Any, texts: list[str], truth: Any) -> None:
    rows = make(texts)
    kept = alike.dedup(rows, threshold=0.6)
    if make is iter:
        assert isinstance(kept, Iterator)
    elif make is not collections.deque:
        assert type(kept) is type(rows)
    assert len(truth[0]) < len(texts) * 0.8
    assert texts_of(kept) == [texts[i] for i in truth[0]]


@pytest.mark.parametrize("make", KINDS, ids=lambda f: f.__name__)
def test_the_mask_is_aligned_with_the_rows(make: Any, texts: list[str], truth: Any) -> None:
    mask = alike.dedup_mask(make(texts), threshold=0.6)
    plain = mask.to_pylist() if hasattr(mask, "to_pylist") else list(mask.values() if isinstance(mask, dict) else mask)
    assert [i for i, keeps in enumerate(plain) if keeps] == truth[0]
    assert len(plain) == len(texts)


@pytest.mark.parametrize("make", KINDS, ids=lambda f: f.__name__)
def test_pairs_have_the_labels_of_the_rows(make: Any, texts: list[str], truth: Any) -> None:
    found = alike.pairs(make(texts), threshold=0.6)
    if make is iter:
        assert isinstance(found, Iterator)
        found = list(found)
    if isinstance(found, list):
        rows = [tuple(pair) for pair in found]
        assert all(isinstance(pair, alike.Pair) for pair in found)
    else:
        assert type(found).__module__.split(".")[0] == type(make(texts)).__module__.split(".")[0]
        columns = [found[name] for name in ("a", "b", "similarity")]
        rows = list(zip(*(c.to_pylist() if hasattr(c, "to_pylist") else list(c) for c in columns), strict=True))
    if make is pandas:
        rows = [(int(a[1:]), int(b[1:]), s) for a, b, s in rows]
    assert rows == truth[1]
    assert len(rows) > 100


@pytest.mark.parametrize("make", KINDS, ids=lambda f: f.__name__)
def test_sketch_gives_a_signature_of_every_row(make: Any, texts: list[str], tmp_path: Path) -> None:
    found = alike.sketch(make(texts[:20]), scheme="oph k=32 bits=8")
    if isinstance(found, list | Iterator):
        signatures = [f.signature for f in found]
    else:
        column = found["signature"]
        signatures = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    lines = tmp_path / "in.jsonl"
    lines.write_text("".join(json.dumps({"text": t}) + "\n" for t in texts[:20]), "utf-8")
    hexes = [json.loads(line)["signature"] for line in command("sketch", lines, "--scheme", "oph k=32 bits=8", "--hex").splitlines()]
    assert [bytes(s).hex() for s in signatures] == hexes


@pytest.mark.parametrize("make", [list, tuple, iter, records, mapping, pandas_objects, pandas_series], ids=lambda f: f.__name__)
def test_no_rows_are_no_rows(make: Any) -> None:
    assert texts_of(alike.dedup(make([]))) == []
    assert len(list(alike.pairs(make([])))) == (3 if make in (pandas_objects, pandas_series) else 0)  # columns


def test_an_empty_frame_with_a_text_column_is_kept_empty() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"text": []})  # of no type yet
    assert alike.dedup(frame).shape == (0, 1)
    found = alike.pairs(frame)
    assert [str(kind) for kind in found.dtypes] == ["int64", "int64", "float64"]
    other = pytest.importorskip("pandas").DataFrame({"text": ["a b"]})
    assert list(alike.join(frame, other)) == ["left_id", "right_id", "similarity", "text"]
    table = pytest.importorskip("pyarrow").table({"text": pytest.importorskip("pyarrow").array([], "string")})
    assert alike.dedup(table).num_rows == 0
    assert [str(kind) for kind in alike.pairs(table).schema.types] == ["int64", "int64", "double"]
    assert alike.sketch(table).num_rows == 0
    frame = pytest.importorskip("polars").DataFrame({"text": []}, schema={"text": pytest.importorskip("polars").String})
    assert alike.dedup(frame).height == 0
    assert alike.pairs(frame).height == 0


def test_a_frame_keeps_its_columns_index_and_types() -> None:
    p = pytest.importorskip("pandas")
    frame = p.DataFrame(
        {"body": ["one two three four five six"] * 2 + ["seven"], "when": p.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"])},
        index=p.MultiIndex.from_tuples([("a", 1), ("a", 1), ("b", 2)]),
    )
    kept = alike.dedup(frame)
    p.testing.assert_frame_equal(kept, frame.iloc[[0, 2]])
    found = alike.pairs(frame)
    assert list(found["a"]) == list(found["b"]) == [("a", 1)]
    later = alike.dedup(frame, keep="max:when")
    assert list(later["when"].dt.year) == [2021, 2022]


def test_a_list_and_a_frame_may_be_the_second_side(texts: list[str]) -> None:
    left = pandas(texts[:200])
    right = arrow(texts[200:])
    plain = {(a, b) for a, b, _ in alike.pairs(texts[:200], with_=texts[200:], threshold=0.6)}
    assert len(plain) > 20
    found = alike.pairs(left, with_=right, threshold=0.6)
    assert {(int(a[1:]), b) for a, b in zip(found["a"], found["b"], strict=True)} == plain
    kept = alike.dedup(left, against=texts[200:], threshold=0.6)
    assert list(kept.index) == list(alike.dedup({f"r{i}": t for i, t in enumerate(texts[:200])}, against=iter(texts[200:]), threshold=0.6))


def test_what_speaks_arrow_is_a_table() -> None:
    """DuckDB, ibis, readers and cuDF hand their rows on by Arrow's interface for streams."""
    pyarrow = pytest.importorskip("pyarrow")

    class Relation:
        def __init__(self, table: Any) -> None:
            self.table = table

        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            return self.table.__arrow_c_stream__(schema)

    table = pyarrow.table({"id": ["x", "y", "z"], "text": ["one two three four five six", "One two three four five six", "else"]})
    kept = alike.dedup(Relation(table))
    assert kept.equals(table.take([0, 2]))
    assert alike.dedup(table.to_reader()).equals(kept)
    assert alike.pairs(Relation(table)).to_pylist() == [{"a": "x", "b": "y", "similarity": 1.0}]
