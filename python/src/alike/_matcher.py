"""match: the records of a table that are one thing with a record."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._call import source_of
from ._errors import UsageError
from ._options import MatchOptions, Path, arguments, check, documented, path_of
from ._resident import Resident
from ._rows import Rows

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Matcher:
    """A table that is held, and asked about one record after the other. Use it in a ``with``.

    model is the file of ``alike join --save-config``, ``alike.join(…, save_config=…)`` or
    ``alike learn``; table is a path. Threads take turns.
    """

    @documented(MatchOptions)
    def __init__(self, model: Path, table: Path, **options: Unpack[MatchOptions]) -> None:
        """Read the table. The options are the flags of ``alike match``."""
        check("Matcher", options, MatchOptions)
        given = {name: value for name, value in options.items() if value is not None}
        quiet = bool(given.pop("quiet", False))
        self._resident = Resident(["match", *arguments(given), "--", path_of("model", model), path_of("table", table)], quiet)

    def match(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a record: id, new, and matches, the most probable first."""
        line = json.dumps({str(name): _plain(value) for name, value in record.items()}, allow_nan=False).encode()
        answer = self._resident.ask(line)
        found: dict[str, Any] = json.loads(answer)
        return found

    def close(self) -> None:
        """End the program."""
        self._resident.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


@documented(MatchOptions)
def match(model: Path, table: Path, records: Any, **options: Unpack[MatchOptions]) -> list[dict[str, Any]]:
    """Find the records of a table that are one thing with each of some records.

    model is the file of ``alike.join(…, save_config=…)`` or of ``alike learn``; table is a path.
    records is a data frame, or records (dict). It returns an answer for each: a dict with id, new
    and matches, as ``alike match`` prints it. For records that come one by one take a Matcher.
    """
    with Matcher(model, table, **options) as matcher:
        return [matcher.match(record) for record in _records(records)]


def _records(data: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a data frame, or of a sequence or an iterator of them."""
    if isinstance(data, Iterable) and not isinstance(data, (str, os.PathLike, Mapping)) and not hasattr(data, "columns"):
        data = list(data)
    rows = source_of(data)
    if not isinstance(rows, Rows) or rows.names() is None:
        raise UsageError("records are a data frame, or a list of dict: for a file take the command alike match")
    names = [str(name) for name in rows.names() or []]
    for row in rows.tuples(list(rows.names() or [])):
        yield dict(zip(names, row, strict=True))


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: None for NaN and NaT, text for dates and the like."""
    if isinstance(value, float) and not float("-inf") < value < float("inf"):
        return None
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    with contextlib.suppress(TypeError, ValueError):
        if value != value:  # NaT
            return None
    return str(value)
