"""The functions of the package. They send data to the program, and turn its answer into the kind of data that came in."""

from __future__ import annotations

import base64
import csv
import json
import os
import tempfile
from array import array
from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ._call import Call, Folder, Source, plain, source_of
from ._compare import Comparison, comparison
from ._errors import UsageError
from ._index import Index, kept_beside
from ._items import Fingerprint, FrameT, Pair, SharedPair, Stream, held
from ._options import CompareOptions, DedupOptions, PairsOptions, Path, SketchOptions, arguments, check, documented, path_of
from ._process import Program
from ._progress import Wanted
from ._records import kept_records, of_records, pairs_of_records
from ._rows import Rows, choose_label
from ._show import Results, Summary

if TYPE_CHECKING:
    from typing_extensions import Unpack

Data = TypeVar("Data")
Item = TypeVar("Item")
Key = TypeVar("Key")


@overload
def dedup(
    data: Any,
    *,
    output: Path,
    against: Any = None,
    index: Path | Index | None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> Summary: ...


@overload
def dedup(
    data: Generator[Item, None, None],
    *,
    output: None = None,
    against: Any = None,
    index: Path | Index | None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> Iterator[Item]: ...


@overload
def dedup(
    data: Data,
    *,
    output: None = None,
    against: Any = None,
    index: Path | Index | None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> Data: ...


@documented(DedupOptions)
def dedup(
    data: Any,
    *,
    output: Path | None = None,
    against: Any = None,
    index: Path | Index | None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> Any:
    """Keep one document of every cluster of near-duplicates.

    For rows in memory (a data frame, a table, a data set, texts, records) it returns the kept
    rows, as the kind of object that came in and in the same order. For an iterator it returns
    an iterator, and holds one byte a row in memory.

    For paths (a str, a path, or a list of paths) it fills the folder ``output``, as
    ``alike dedup`` does, and returns the summary.

    text: the column with the texts; default "text", or the only one with strings.
    id: the column that messages name rows by; default "id", or the rows' own labels.
    against: rows or paths; rows similar to one of them are removed.
    index: the folder of an index, which is made if it is missing. Rows similar to one of its documents are removed, and
    rows that are kept are added to it under their ids: name the column with them, id=….
    progress: True, False, or a function that is called with each Progress; default: a line in
    terminals and notebooks.

    Rows without a text are in no result; a SkippedRecords warning tells how many there are.

    records=True compares the records of a table in place of texts. It keeps one record of each
    cluster, even if no two of its records are equal. field names the columns to compare; default:
    all.
    """
    call = Call("dedup", DedupOptions, options, progress)
    call.name(text, id)
    source = source_of(data)
    records = of_records(call, against=against, index=index)
    if records or index is not None:
        source = held(source)
    if isinstance(source, Rows):
        if output is not None:
            raise UsageError("output is for files: rows in memory are returned")
        with call.begin(in_memory=True):
            kept = source.keep(_kept(call, source, against, index))
            return Lasting(kept, call.release()) if type(source) is Stream else kept
    if output is None:
        raise UsageError("a str is a path, and what is kept of files goes to a folder: name it, output=…; give texts as a list")
    with call.begin(in_memory=False):
        paths = {"input": source} if records else call.send(_sides(source, "against", against))
        flags = [f"--output={path_of('output', output)}", *_flags("against", paths), *_index_flags(index)]
        return call.run("dedup", flags, paths["input"]).summary


@overload
def dedup_mask(
    data: Mapping[Key, str],
    *,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> dict[Key, bool]: ...


@overload
def dedup_mask(
    data: Sequence[str] | Sequence[Mapping[str, Any]] | Generator[Any, None, None],
    *,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> list[bool]: ...


@overload
def dedup_mask(
    data: Any,
    *,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> Any: ...


@documented(DedupOptions)
def dedup_mask(
    data: Any,
    *,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> Any:
    """Return a mask: for each row, whether dedup keeps it.

    The mask has the type that its library filters by: a Series of booleans with the frame's index
    (pandas), a Series (Polars), a BooleanArray (pyarrow), else a list; for a mapping a dict.
    """
    call = Call("dedup_mask", DedupOptions, options, progress)
    call.name(text, id)
    source = source_of(data)
    if of_records(call, against=against):
        source = held(source)
    if not isinstance(source, Rows):
        raise UsageError("a mask is for rows in memory: of files, dedup(…, output=…) writes what is kept")
    with call.begin(in_memory=True):
        return source.mask(_kept(call, source, against))


def _kept(call: Call, rows: Rows, against: Any, index: Path | Index | None = None) -> bytearray:
    """Return a byte for every row: 1 if it is kept, else 0."""
    if of_records(call, against=against):
        return kept_records(call, rows)
    if index is not None:
        if against is not None:
            raise UsageError("against and index of rows in memory: leave one of them out")
        return kept_beside(call, rows, _index_flags(index))
    paths = call.send(_sides(rows, "against", against), by_number=True)
    return call.kept(rows, paths["input"], *_flags("against", paths))


def _sides(source: Source, name: str, other: Any) -> dict[str, Source]:
    return {"input": source} if other is None else {"input": source, name: source_of(other)}


def _flags(name: str, paths: dict[str, list[str]]) -> list[str]:
    return [f"--{name}={path}" for path in paths.get(name, [])]


def _index_flags(index: Path | Index | None) -> list[str]:
    return [] if index is None else [f"--index={index.folder if isinstance(index, Index) else path_of('index', index)}"]


class Lasting(Iterator[Item]):
    """An iterator over the files of a temporary folder. It removes the folder at its end, or when it is deleted."""

    def __init__(self, items: Iterator[Item], folder: Folder) -> None:
        self._items, self._folder = items, folder

    def __next__(self) -> Item:
        try:
            return next(self._items)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the iterator, and remove the folder."""
        self._items = iter(())  # drops the old iterator, which closes its file
        self._folder.cleanup()

    def __del__(self) -> None:
        self.close()


@overload
def pairs(
    data: Any,
    *,
    output: Path,
    with_: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[PairsOptions],
) -> Summary: ...


@overload
def pairs(
    data: Generator[Any, None, None],
    *,
    output: None = None,
    with_: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[PairsOptions],
) -> Iterator[Pair]: ...


@overload
def pairs(
    data: Path | Sequence[str] | Sequence[Mapping[str, Any]] | Mapping[Any, str],
    *,
    output: None = None,
    with_: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[PairsOptions],
) -> list[Pair]: ...


@overload
def pairs(
    data: FrameT,
    *,
    output: None = None,
    with_: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[PairsOptions],
) -> FrameT: ...


@overload
def pairs(
    data: Any,
    *,
    output: None = None,
    with_: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[PairsOptions],
) -> Any: ...


@documented(PairsOptions)
def pairs(
    data: Any,
    *,
    output: Path | None = None,
    with_: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[PairsOptions],
) -> Any:
    """List every pair of documents at or above the threshold.

    For rows in memory it returns a table of the same kind with the columns a, b and similarity,
    sorted by a, then b, in the order of the rows; for texts and records a list of Pair, and for
    an iterator an iterator of them. a and b are values of the column ``id`` (default "id", if there
    is one), else the frame's row labels, the keys of a mapping, or row numbers.

    For paths it returns a list of Pair with the documents' ids or, with ``output``, writes the
    file that ``alike pairs -o`` writes, and returns the summary.

    with_: a second collection, rows or paths. Then a is from ``data`` and b from ``with_``.
    Everything else is as for dedup. With records=True a table has the similarity of each column
    too, None where a value is missing; records and paths give a list of RecordPair.
    """
    call = Call("pairs", PairsOptions, options, progress)
    call.name(text, id)
    source = source_of(data)
    in_memory = isinstance(source, Rows)
    if in_memory and output is not None:
        raise UsageError("output is for files: pairs of rows in memory are returned")
    if of_records(call, with_=with_):
        return pairs_of_records(call, source, None if output is None else path_of("output", output))
    with call.begin(in_memory):
        sides = _sides(source, "with", with_)
        label = call.id
        paths = call.send(sides)
        file = os.path.join(call.folder, "pairs.csv") if output is None else path_of("output", output)
        outcome = call.run("pairs", [f"--output={file}", *_flags("with", paths)], paths["input"])
        if output is not None:
            return outcome.summary
        if type(source) is Stream:
            return Lasting(_each_pair(file, sides, label), call.release())
        return _table(source, _all_pairs(file, sides, label))


# A column of row numbers, or of ids from files.
Column = Any


def _pair_rows(file: str) -> Iterator[list[str]]:
    with open(file, encoding="utf-8", errors="surrogateescape", newline="") as lines:
        yield from csv.reader(lines)


def _all_pairs(file: str, sides: dict[str, Source], label: Hashable | None) -> dict[str, Any]:
    """Read a list of pairs, with the caller's labels in place of row numbers."""
    rows = _pair_rows(file)
    header = next(rows)
    left = sides["input"]
    right = sides.get("with", left)
    columns: list[Any] = [array("q") if isinstance(s, Rows) else [] for s in (left, right)] + [array("d"), array("q")]
    kinds = [int if isinstance(s, Rows) else str for s in (left, right)] + [float, int]
    for row in rows:
        for column, kind, cell in zip(columns, kinds, row, strict=False):
            column.append(kind(cell))
    read = dict(zip(header, columns, strict=False))
    for name, side in (("a", left), ("b", right)):
        if isinstance(side, Rows):
            read[name] = side.labels(read[name], choose_label(side, label))
    if type(left) is not type(right):
        read["b"] = plain(read["b"])
    return read


def _table(source: Source, columns: dict[str, Any]) -> Any:
    if isinstance(source, Rows):
        return source.table(columns)
    kind = SharedPair if "shared" in columns else Pair
    return Results(map(kind, *map(plain, columns.values())))


def _each_pair(file: str, sides: dict[str, Source], label: Hashable | None) -> Iterator[Any]:
    """Yield the pairs of a list one by one."""
    left = sides["input"]
    right = sides.get("with", left)

    def known(side: Source, cell: str) -> Any:
        return plain(side.labels([int(cell)], choose_label(side, label)))[0] if isinstance(side, Rows) else cell

    rows = _pair_rows(file)
    shared = "shared" in next(rows)
    for a, b, similarity, *rest in rows:
        pair = known(left, a), known(right, b), float(similarity)
        yield SharedPair(*pair, int(rest[0])) if shared else Pair(*pair)


@overload
def sketch(
    data: Any,
    *,
    output: Path,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[SketchOptions],
) -> Summary: ...


@overload
def sketch(
    data: Generator[Any, None, None],
    *,
    output: None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[SketchOptions],
) -> Iterator[Fingerprint]: ...


@overload
def sketch(
    data: Path | Sequence[str] | Sequence[Mapping[str, Any]] | Mapping[Any, str],
    *,
    output: None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[SketchOptions],
) -> list[Fingerprint]: ...


@overload
def sketch(
    data: FrameT,
    *,
    output: None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[SketchOptions],
) -> FrameT: ...


@overload
def sketch(
    data: Any,
    *,
    output: None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[SketchOptions],
) -> Any: ...


@documented(SketchOptions)
def sketch(
    data: Any,
    *,
    output: Path | None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[SketchOptions],
) -> Any:
    """Return the fingerprint of every document.

    For rows in memory it returns a table of the same kind with the columns id, scheme and
    signature; for texts, records and paths a list of Fingerprint, and for an iterator an iterator
    of them. ids are like those of pairs. Signatures are bytes: components packed at their width,
    least significant bit first. Compare only signatures with equal schemes.

    With ``output``, for paths, it writes the file that ``alike sketch -o`` writes, and returns
    the summary. Everything else is as for dedup.
    """
    call = Call("sketch", SketchOptions, options, progress)
    call.name(text, id)
    source = source_of(data)
    in_memory = isinstance(source, Rows)
    if in_memory and output is not None:
        raise UsageError("output is for files: fingerprints of rows in memory are returned")
    with call.begin(in_memory):
        label = call.id
        paths = call.send({"input": source})
        file = os.path.join(call.folder, "fingerprints.jsonl") if output is None else path_of("output", output)
        outcome = call.run("sketch", [f"--output={file}"], paths["input"])
        if output is not None:
            return outcome.summary
        if type(source) is Stream:
            return Lasting(_each_fingerprint(file, source, label), call.release())
        if not isinstance(source, Rows):
            return Results(Fingerprint(*f) for f in _fingerprints(file))
        found = list(zip(*_fingerprints(file), strict=False)) or [(), (), ()]
        ids = source.labels(list(map(int, found[0])), choose_label(source, label))
        return source.table({"id": ids, "scheme": list(found[1]), "signature": list(found[2])})


def _fingerprints(file: str) -> Iterator[tuple[Any, str, bytes]]:
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            f = json.loads(line)
            yield f["id"], f["scheme"], base64.b64decode(f["signature"])


def _each_fingerprint(file: str, rows: Rows, label: Hashable | None) -> Iterator[Fingerprint]:
    column = choose_label(rows, label)
    for number, scheme, signature in _fingerprints(file):
        yield Fingerprint(plain(rows.labels([int(number)], column))[0], scheme, signature)


def compare(a: Path, b: Path, **options: Unpack[CompareOptions]) -> Comparison:
    """Compare two texts: similarity, estimates, shared passages.

    A str is a text here; a pathlib.Path names a file with one.
    """
    check("compare", options, CompareOptions)
    with tempfile.TemporaryDirectory(prefix="alike-") as folder:
        texts = [t.encode("utf-8", "surrogatepass") if isinstance(t, str) else None for t in (a, b)]
        paths = []
        for name, path, text in zip("ab", (a, b), texts, strict=False):
            if text is not None:
                path = os.path.join(folder, name)
                with open(path, "wb") as file:
                    file.write(text)
            paths.append(path_of(name, path))
        answer = Program(folder).run(["compare", "--json", *arguments(options), "--", *paths]).output
        return comparison(json.loads(answer), *texts)


compare = documented(CompareOptions)(compare)
