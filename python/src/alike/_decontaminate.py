"""decontaminate: the rows in which no item of an evaluation set stands."""

from __future__ import annotations

import csv
import json
import os
from array import array
from typing import TYPE_CHECKING, Any, Literal, overload

from ._api import Data, Item, Lasting
from ._call import Call, Source, source_of
from ._errors import UsageError
from ._items import Found, FrameT, Stream
from ._options import DecontaminateOptions, ItemsOptions, Path, documented, path_of
from ._progress import Wanted
from ._rows import Rows, choose_label, choose_text, write_records
from ._show import Summary

if TYPE_CHECKING:
    from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence

    from typing_extensions import Unpack


@overload
def decontaminate(
    data: Any,
    *,
    against: Any,
    output: Path,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DecontaminateOptions],
) -> Summary: ...


@overload
def decontaminate(
    data: FrameT,
    *,
    against: Any,
    output: None = None,
    found_only: Literal[True],
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[ItemsOptions],
) -> FrameT: ...


@overload
def decontaminate(
    data: Sequence[str] | Sequence[Mapping[str, Any]] | Mapping[Any, str],
    *,
    against: Any,
    output: None = None,
    found_only: Literal[True],
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[ItemsOptions],
) -> list[Found]: ...


@overload
def decontaminate(
    data: Any,
    *,
    against: Any,
    output: None = None,
    found_only: Literal[True],
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[ItemsOptions],
) -> Any: ...


@overload
def decontaminate(
    data: Generator[Item, None, None],
    *,
    against: Any,
    output: None = None,
    found_only: Literal[False] = False,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[ItemsOptions],
) -> Iterator[Item]: ...


@overload
def decontaminate(
    data: Data,
    *,
    against: Any,
    output: None = None,
    found_only: Literal[False] = False,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[ItemsOptions],
) -> Data: ...


@documented(DecontaminateOptions)
def decontaminate(
    data: Any,
    *,
    against: Any,
    output: Path | None = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    progress: Wanted = None,
    **options: Unpack[DecontaminateOptions],
) -> Any:
    """Keep the documents in which no item of the evaluation sets stands.

    For rows in memory it returns the kept rows, as the kind of object that came in and in the same order; with
    found_only=True a table of the same kind, or a list of Found, that says where which item stands: document (the
    label of the row), item, set, score, start and end (bytes of UTF-8), part.

    For paths it fills the folder ``output``, as ``alike decontaminate`` does, and returns the summary.

    against: the evaluation sets, rows or paths. cut is for files. text, id and progress are as for dedup.
    """
    call = Call("decontaminate", DecontaminateOptions, options, progress)
    call.name(text, id)
    source = source_of(data)
    if not isinstance(source, Rows):
        if output is None:
            raise UsageError("a str is a path, and what is kept of files goes to a folder: name it, output=…; give texts as a list")
        with call.begin(in_memory=False):
            flags = ["--json", f"--output={path_of('output', output)}", *(f"--against={path}" for path in _sets(call, against))]
            return Summary(json.loads(call.run("decontaminate", flags, source).output))
    if output is not None:
        raise UsageError("output is for files: rows in memory are returned")
    if call.options.pop("cut", False):
        raise UsageError("cut is for files: write the rows to one, such as JSON Lines, and give its path as a str")
    only = call.options.pop("found_only", False)
    if only and type(source) is Stream:
        raise UsageError("found_only is for rows that stay: make a list of the iterator")
    with call.begin(in_memory=True):
        label = call.id
        paths = call.send({"input": source, "against": _sets(call, against)})
        folder, skipped = (os.path.join(call.folder, name) for name in ("output", "skipped"))
        flags = ["--found-only", f"--output={folder}", f"--skipped={skipped}", *(f"--against={path}" for path in paths["against"])]
        call.run("decontaminate", flags, paths["input"])
        found = os.path.join(folder, "found.csv")
        if only:
            return source.table(_places(found, source, label))
        kept = bytearray(b"\1") * len(source)
        for number in (*(int(row[0]) for row in _found(found)), *_skipped(skipped, paths["input"][0])):
            kept[number] = 0
        rows = source.keep(kept)
        return Lasting(rows, call.release()) if type(source) is Stream else rows


def _sets(call: Call, against: Any) -> list[str]:
    """Return the paths of the evaluation sets. Rows in memory are written to a file."""
    sets: Source = source_of(against)
    if not isinstance(sets, Rows):
        return sets
    names = sets.names()
    text = "text" if call.text is None else str(call.text)
    path = os.path.join(call.folder, "against.jsonl")
    if names is None:
        write_records(path, [text], sets.tuples([]))
    else:
        asked = [call.options.get(name) or name for name in ("question", "answer", "passage")]
        wanted = [name for name in ("id", *asked) if name in names]
        if asked[0] not in names:
            wanted.append(str(choose_text(sets, call.text, call.id)))
        own = [text if name not in ("id", *asked) else name for name in wanted]
        write_records(path, own, sets.tuples(wanted))
    return [path]


def _found(file: str) -> Iterator[list[str]]:
    with open(file, encoding="utf-8", errors="surrogateescape", newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        yield from rows


def _skipped(file: str, path: str) -> Iterator[int]:
    """Yield the numbers of the rows in path that could not be used."""
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            place = json.loads(line)["place"]
            if place.startswith(path + ":"):
                yield int(place[len(path) + 1 :]) - 1


def _places(file: str, source: Rows, label: Hashable | None) -> dict[str, Any]:
    columns: list[Any] = [array("q"), [], [], array("d"), array("q"), array("q"), []]
    for row in _found(file):
        for column, kind, cell in zip(columns, (int, str, str, float, int, int, str), row, strict=True):
            column.append(kind(cell))
    columns[0] = source.labels(columns[0], choose_label(source, label))
    return dict(zip(("document", "item", "set", "score", "start", "end", "part"), columns, strict=True))
