"""tag: every row stays, and says what dedup would do with it."""

from __future__ import annotations

import csv
import os
from collections.abc import Generator, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from ._call import Call, plain, source_of
from ._errors import UsageError
from ._items import FrameT, Tag, held
from ._options import DedupOptions, Path, documented, path_of
from ._progress import Wanted
from ._records import of_records, sent_records
from ._rows import Rows, choose_label
from ._show import Summary
from ._stages import TAGS, check_tags

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def tag(
    data: Any,
    *,
    output: Path,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    prefix: str = "",
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> Summary: ...


@overload
def tag(
    data: FrameT,
    *,
    output: None = None,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    prefix: str = "",
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> FrameT: ...


@overload
def tag(
    data: Sequence[str] | Mapping[Any, str] | Generator[str, None, None],
    *,
    output: None = None,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    prefix: str = "",
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> list[Tag]: ...


@overload
def tag(
    data: Sequence[Mapping[str, Any]],
    *,
    output: None = None,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    prefix: str = "",
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> list[dict[str, Any]]: ...


@overload
def tag(
    data: Any,
    *,
    output: None = None,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    prefix: str = "",
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> Any: ...


@documented(DedupOptions)
def tag(
    data: Any,
    *,
    output: Path | None = None,
    against: Any = None,
    text: Hashable | None = None,
    id: Hashable | None = None,
    prefix: str = "",
    progress: Wanted = None,
    **options: Unpack[DedupOptions],
) -> Any:
    """Say of every row what dedup would do with it, and remove nothing.

    For rows in memory it returns them all, as the kind of object that came in, with four more
    columns: cluster (the label of its first row; a row that is alone has its own), cluster_size,
    duplicate_of (the label of the row that dedup would keep instead; missing for one that it
    keeps) and similarity to that row. Labels are those of pairs. Texts come back as a list of Tag,
    records as new dicts. A row without a text has the cluster_size 0, and nothing else.

    For paths it fills the folder ``output``, as ``alike dedup --tag`` does, and returns the
    summary. against is for paths too.

    prefix stands before the names of the columns. Everything else is as for dedup.
    """
    call = Call("tag", DedupOptions, options, progress)
    call.name(text, id)
    source = source_of(data)
    if not isinstance(source, Rows):
        if output is None:
            raise UsageError("a str is a path, and tagged files go to a folder: name it, output=…; give texts as a list")
        with call.begin(in_memory=False):
            references = [] if against is None else source_of(against)
            if isinstance(references, Rows):
                raise UsageError("against is of rows in memory, and the data are files: write the rows to a file")
            flags = [
                f"--output={path_of('output', output)}",
                "--tag",
                f"--tag-prefix={prefix}",
                *(f"--against={path}" for path in references),
            ]
            return call.run("dedup", flags, source).summary
    if output is not None:
        raise UsageError("output is for files: rows in memory are returned")
    if against is not None:
        raise UsageError("against is for files here: of rows in memory, dedup(…, against=…) keeps those that are like no reference")
    rows = held(source)
    check_tags(prefix, rows.names() or ())
    with call.begin(in_memory=True):
        label = choose_label(rows, call.id)
        inputs = [sent_records(call, rows)] if of_records(call) else call.send({"input": rows}, by_number=True)["input"]
        folder = os.path.join(call.folder, "output")
        call.run("dedup", ["--ids-only", "--tag", f"--output={folder}"], inputs)
        tags = _read(os.path.join(folder, "kept.csv"), rows, label)
        return rows.tagged({prefix + name: column for name, column in zip(TAGS, tags, strict=True)})


def _read(file: str, rows: Rows, label: Hashable | None) -> tuple[list[Any], list[int], list[Any], list[float | None]]:
    """Return the four columns of the tags, with labels in place of row numbers."""
    count = len(rows)
    numbers: list[int | None] = [None] * count
    kept: list[int | None] = [None] * count
    sizes = [0] * count
    similarities: list[float | None] = [None] * count
    with open(file, encoding="utf-8", newline="") as lines:
        table = csv.reader(lines)
        next(table)
        for row, cluster, size, duplicate_of, similarity in table:
            number = int(row)
            numbers[number], sizes[number] = int(cluster), int(size)
            if duplicate_of:
                kept[number], similarities[number] = int(duplicate_of), float(similarity)
    return _labels(rows, numbers, label), sizes, _labels(rows, kept, label), similarities


def _labels(rows: Rows, numbers: Sequence[int | None], label: Hashable | None) -> list[Any]:
    """Return the labels of rows, and None for None."""
    known = iter(plain(rows.labels([number for number in numbers if number is not None], label)))
    return [None if number is None else next(known) for number in numbers]
