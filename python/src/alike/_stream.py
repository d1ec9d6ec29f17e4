"""stream: an iterator without the items that are like one before."""

from __future__ import annotations

import json
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ._errors import SkippedRecords, UsageError
from ._items import check_first
from ._options import StreamOptions, arguments, check, documented
from ._resident import Resident
from ._rows import json_value

if TYPE_CHECKING:
    from typing_extensions import Unpack

Item = TypeVar("Item")


@documented(StreamOptions)
def stream(
    items: Iterable[Item], *, text: Hashable | None = None, time: Hashable | None = None, **options: Unpack[StreamOptions]
) -> Iterator[Item]:
    """Yield the items that are like no item before them, each before the next one is read.

    items are texts (str) or records (dict). Of those that are like each other the first one
    counts, as long as it is in the window: the last million kept items, or what window,
    window_docs and late say.

    text: the key of a record's text; default "text". time: the key of its time, for windows in
    time; default: when it comes. state: a folder for kept items, which outlives the process.

    An item without a text is left out; a SkippedRecords warning at the end tells how many.
    """
    check("stream", options, StreamOptions)
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    quiet = bool(given.pop("quiet", False))
    if isinstance(items, (str, bytes)):
        raise UsageError("a stream is an iterator of texts or records, and this is one text")
    if isinstance(items, Mapping) or hasattr(items, "columns"):  # the items of which would be its keys, or names of columns
        raise UsageError(f"a stream is an iterator of texts or records, and this is a {type(items).__name__}: give its rows or values")
    if time is not None:
        given["time_field"] = "time"
    within = given.get("within")
    if within is not None:
        given["within"] = "within"
    # Every line is answered by a line: nothing is dropped, taken for a repetition of the last run or skipped.
    own = ["--tag", "--on-error=fail", "--format=jsonl", *(["--replay=0"] if "state" in given else [])]
    return _kept(items, ["stream", *own, *arguments(given)], "text" if text is None else text, {"time": time, "within": within}, quiet)


def _kept(items: Iterable[Item], command: list[str], text: Hashable, fields: Mapping[str, Hashable | None], quiet: bool) -> Iterator[Item]:
    program, skipped, first = Resident(command, quiet), 0, True
    try:
        for number, item in enumerate(items):
            if first and item is not None:
                check_first(item)
                first = False
            record: Mapping[Any, Any] = item if isinstance(item, Mapping) else {text: item}
            if not isinstance(record.get(text), str):
                skipped += 1
                continue
            line = f'{{"id":"{number}","text":{json_value(record[text])}'
            for name, field in fields.items():
                if field is not None and field in record:
                    line += f',"{name}":{json_value(record[field])}'
            if "duplicate_of" not in json.loads(program.ask(f"{line}}}".encode())):
                yield item
    finally:
        program.close()
    if skipped and not quiet:
        warnings.warn(f"skipped {skipped:,} item{'s' if skipped > 1 else ''} without a text", SkippedRecords, stacklevel=2)
