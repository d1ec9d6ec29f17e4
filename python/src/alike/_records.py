"""dedup and pairs for the records of one table."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import Any

from ._call import NUMBER, Call, Source
from ._errors import UsageError
from ._items import RecordPair, held
from ._join import read_links, send_table
from ._options import arguments
from ._rows import Rows, check_field, choose_label


def of_records(call: Call, **others: Any) -> bool:
    """Tell whether a call compares records. If so, refuse others, which are settings for texts."""
    if not (call.options.get("records") or "field" in call.options or "model" in call.options):
        return False
    for name, value in others.items():
        if value is not None:
            raise UsageError(f"{name.rstrip('_')} says nothing about records: those of two tables are found by join()")
    if call.text is not None:
        raise UsageError("text says nothing about records: field names the columns to compare")
    return True


def sent_records(call: Call, rows: Rows) -> str:
    """Write the records to a file, for dedup by their numbers. Return its path."""
    check_field(rows, call.options.get("keep"))
    path = send_table(call, "input", rows, choose_label(rows, call.id))
    call.number = NUMBER
    return path


def kept_records(call: Call, rows: Rows) -> bytearray:
    """Return a byte for every record: 1 if it is kept, else 0."""
    return call.kept(rows, [sent_records(call, rows)])


def pairs_of_records(call: Call, source: Source, output: str | None) -> Any:
    """Return the pairs, or write them to the file output."""
    source, id = held(source), call.id
    label: Hashable | None = None
    with call.begin(in_memory=isinstance(source, Rows)):
        if isinstance(source, Rows):
            label, id = choose_label(source, id), NUMBER
            paths = [send_table(call, "input", source, label)]
        else:
            paths = source
        file = os.path.join(call.folder, "pairs.csv") if output is None else output
        flags = [] if id is None else [f"--id-field={id}"]
        call.run_plainly("pairs", f"--output={file}", *flags, *arguments(call.options), "--", *paths)
        return None if output is not None else read_links(file, [(source, label)] * 2, RecordPair)
