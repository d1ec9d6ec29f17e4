"""join: the records of two tables that belong together."""

from __future__ import annotations

import csv
import os
from array import array
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from ._call import NUMBER, Call, Source, plain, source_of
from ._errors import UsageError
from ._items import FrameT, Link, RecordPair, held
from ._options import Path, TableOptions, arguments, documented, path_of
from ._rows import Rows, choose_label, write_records
from ._show import Results
from ._stages import SIDES

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def join(
    left: Any,
    right: Any,
    *,
    output: Path,
    left_id: Hashable | None = None,
    right_id: Hashable | None = None,
    **options: Unpack[TableOptions],
) -> None: ...


@overload
def join(
    left: Path | Sequence[Mapping[str, Any]],
    right: Any,
    *,
    output: None = None,
    left_id: Hashable | None = None,
    right_id: Hashable | None = None,
    **options: Unpack[TableOptions],
) -> list[Link]: ...


@overload
def join(
    left: FrameT,
    right: Any,
    *,
    output: None = None,
    left_id: Hashable | None = None,
    right_id: Hashable | None = None,
    **options: Unpack[TableOptions],
) -> FrameT: ...


@overload
def join(
    left: Any,
    right: Any,
    *,
    output: None = None,
    left_id: Hashable | None = None,
    right_id: Hashable | None = None,
    **options: Unpack[TableOptions],
) -> Any: ...


@documented(TableOptions)
def join(
    left: Any,
    right: Any,
    *,
    output: Path | None = None,
    left_id: Hashable | None = None,
    right_id: Hashable | None = None,
    **options: Unpack[TableOptions],
) -> Any:
    """Find the records of two tables that belong together, even if no value in them is equal.

    Tables are data frames, lists of records (dict) or paths. It returns the links: a table of
    the kind of ``left`` with the columns left_id, right_id, similarity, and the similarity of
    each compared column, None where a value is missing; for records and paths a list of
    Link. With ``output``, for two paths, it writes the file that ``alike join -o`` writes, and
    returns None.

    left_id, right_id: the columns with the ids, which are not compared; default "id", or the
    rows' own labels; for files as the command chooses.
    field: the columns to compare, "name", "left=right:weight:tokens" or a list of these; default:
    all that correspond.

    The logger "alike" logs the choices as information.
    """
    call = Call("join", TableOptions, options, progress=False)
    sources = {side: held(source_of(data)) for side, data in zip(SIDES, (left, right), strict=True)}
    in_memory = any(isinstance(source, Rows) for source in sources.values())
    if in_memory and output is not None:
        raise UsageError("output is for files: links of rows in memory are returned")
    for name in ("with_", "against_links"):
        if name in call.options and (in_memory or (name == "with_" and output is None)):
            raise UsageError(f"{name.rstrip('_')} is for files{'' if in_memory else ' that are written: name an output'}")
    with call.begin(in_memory=all(isinstance(source, Rows) for source in sources.values())):
        flags, paths = [], []
        labels: dict[str, Hashable | None] = {}
        for side, id in zip(SIDES, (left_id, right_id), strict=True):
            source = sources[side]
            if isinstance(source, Rows):
                labels[side] = choose_label(source, id)
                paths.append(send_table(call, side, source, labels[side]))
                id = NUMBER
            else:
                if len(source) != 1:
                    raise UsageError(f"{side} is {len(source)} paths: name one table, which may be a folder of files")
                paths.append(source[0])
            if id is not None:
                flags.append(f"--{side}-id={id}")
        file = os.path.join(call.folder, "links.csv") if output is None else path_of("output", output)
        call.run_plainly("join", f"--output={file}", *flags, *arguments(call.options), "--", *paths)
        if output is not None:
            return None
        return read_links(file, [(sources[side], labels.get(side)) for side in SIDES], Link)


def send_table(call: Call, side: str, rows: Rows, label: Hashable | None) -> str:
    """Write records with their numbers, and without the label column."""
    names = rows.names()
    if names is None:
        raise UsageError(f"{side} has texts, where a table has columns: give records (dict), or find pairs of texts with pairs()")
    columns = [name for name in names if name != label]
    path, header = os.path.join(call.folder, side), [NUMBER, *map(str, columns)]
    if len(rows):
        path += ".jsonl"
        write_records(path, header, ((number, *row) for number, row in enumerate(rows.tuples(columns))))
    else:  # an empty JSON Lines file would have no columns
        path += ".csv"
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            csv.writer(file).writerow(header)
    call.label(path, rows, label)
    return path


def read_links(file: str, sides: Sequence[tuple[Source, Hashable | None]], kind: type[Link] | type[RecordPair]) -> Any:
    """Read links. sides has for each side its source and the column that names its rows, None for their labels."""
    with open(file, encoding="utf-8", errors="surrogateescape", newline="") as lines:
        header, *rows = csv.reader(lines)
    ids: list[Any] = []
    for number, (source, label) in enumerate(sides):
        column = [row[number] for row in rows]
        ids.append(source.labels(array("q", map(int, column)), label) if isinstance(source, Rows) else column)
    numbers = [[float(row[i]) if row[i] else None for row in rows] for i in range(2, len(header))]
    left, right = (source for source, _ in sides)
    if isinstance(left, Rows) and left.frames:
        other = ids[1] if type(left) is type(right) else plain(ids[1])
        return left.table({kind._fields[0]: ids[0], kind._fields[1]: other, **dict(zip(header[2:], numbers, strict=True))})
    fields = [dict(zip(header[3:], values, strict=True)) for values in zip(*numbers[1:], strict=True)] or [{} for _ in rows]
    similarities = [similarity or 0.0 for similarity in numbers[0]]
    return Results(map(kind, plain(ids[0]), plain(ids[1]), similarities, fields))
