"""Rows in memory: how they reach the program, and how results get the type of the input.

There is an adapter for each kind of object. It lists the columns, writes the wanted ones to a file, and
makes results of its own kind. The program knows rows by their numbers.
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, BinaryIO

from ._errors import UsageError

Tick = Callable[[int], None]  # is called with the number of rows that were written

FLUSH = 1 << 20  # characters to write at once


@dataclass(frozen=True)
class Names:
    """Names of the columns in a file for the program."""

    text: str
    number: str


@dataclass(frozen=True)
class Columns:
    """The wanted columns of rows; None if rows are texts."""

    text: Hashable | None
    field: str | None = None  # column that a keep rule compares, or within whose values rows are compared


class Schema(ABC):
    """The columns of an input."""

    @abstractmethod
    def names(self) -> Sequence[Hashable] | None:
        """Return the names of the columns; None if rows are texts."""

    @abstractmethod
    def strings(self) -> Sequence[Hashable]:
        """Return the names of the columns that hold strings."""

    def wrong(self, text: Hashable) -> str | None:
        """Describe the content of a column that cannot hold texts; None if it can."""
        return None


class Rows(Schema):
    """Rows in memory. Methods are called in the order in which they stand here."""

    frames = True  # results are tables, not lists

    @abstractmethod
    def write(self, path: str, columns: Columns, names: Names, tick: Tick) -> str:
        """Write the numbers and the wanted columns of all rows.

        path has no suffix. Return the path with the suffix of the format that was chosen.
        """

    @abstractmethod
    def tuples(self, columns: Sequence[Hashable]) -> Iterable[Sequence[Any]]:
        """Return the values of some columns of every row."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows that were written."""

    @abstractmethod
    def labels(self, numbers: Sequence[int], column: Hashable | None) -> Any:
        """Return the caller's names of rows: values of a column or, if it is None, their labels."""

    @abstractmethod
    def keep(self, kept: bytearray) -> Any:
        """Return the rows whose byte in kept is 1."""

    def mask(self, kept: bytearray) -> Any:
        """Return a boolean for each row, in the type that its library filters by."""
        return [bool(k) for k in kept]

    @abstractmethod
    def table(self, columns: dict[str, Any]) -> Any:
        """Return a result as a table of the same kind. Columns of numbers are arrays, which may be empty."""

    @abstractmethod
    def tagged(self, columns: dict[str, list[Any]]) -> Any:
        """Return all rows with more columns, each of which has a value, or None, for every row."""


def choose_text(rows: Schema, text: Hashable | None, number: Hashable | None) -> Hashable | None:
    """Return the name of the column with the texts: the given one, else "text", else the only one with strings except the ids."""
    names = rows.names()
    if names is None:
        return None
    if text is None and "text" in names:
        text = "text"
    if text is None:
        strings = [name for name in rows.strings() if name != (number or "id")]
        if len(strings) != 1:
            which = f"several hold strings ({_listed(strings)})" if strings else f"none holds strings ({_listed(names)})"
            raise UsageError(f'there is no column "text", and {which}: name the one with the texts, text=…')
        text = strings[0]
    if text not in names:
        raise UsageError(f"there is no column {text!r}: the columns are {_listed(names)}")
    wrong = rows.wrong(text)
    if wrong:
        raise UsageError(f"column {text!r} holds {wrong}, not strings: name the one with the texts, text=…")
    return text


def choose_label(rows: Schema, column: Hashable | None) -> Hashable | None:
    """Return the column that names rows, "id" by default; None if their own labels do."""
    names = rows.names() or ()
    if column == "-":
        return None
    if column is not None and column not in names:
        raise UsageError(f"there is no column {column!r} with ids: the columns are {_listed(names)}")
    return column if column is not None else "id" if "id" in names else None


def check_within(rows: Schema, within: object) -> str | None:
    """Return the column within whose values rows are compared, None if there is none."""
    names = rows.names() or ()
    if within is not None and within not in names:
        raise UsageError(f"within is {within!r}, but there is no such column: the columns are {_listed(names)}")
    return None if within is None else str(within)


def check_field(rows: Schema, keep: object) -> str | None:
    """Return the column that a keep rule compares, None if there is none."""
    match = re.fullmatch("(?:max|min):(.+)", keep) if isinstance(keep, str) else None
    if match is None:
        return None
    names = rows.names() or ()
    if match[1] not in names:
        raise UsageError(f"keep is {keep!r}, but there is no column {match[1]!r}: the columns are {_listed(names)}")
    return match[1]


def _listed(names: Iterable[Hashable]) -> str:
    return ", ".join(map(repr, names)) or "none"


def write_json_lines(path: str, names: Names, field: str | None, rows: Iterable[tuple[Any, Any]], tick: Tick) -> int:
    """Write (text, value of the field) of each row as JSON Lines. Return the number of rows."""
    start = f'{{"{names.number}":'
    middle = f',"{names.text}":'
    number = done = size = 0
    lines: list[str] = []
    with open(path, "wb") as to:
        for text, value in rows:
            end = "}\n" if field is None else f",{json.dumps(field)}:{json_value(value)}}}\n"
            line = f"{start}{number}{middle}{json_text(text)}{end}"
            lines.append(line)
            number += 1
            size += len(line)
            if size >= FLUSH:
                _put(to, lines)
                tick(number - done)
                done, size = number, 0
        _put(to, lines)
        tick(number - done)
    return number


def write_records(path: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write records as JSON Lines."""
    keys = [json.dumps(name) + ":" for name in names]
    with open(path, "wb") as to:
        lines: list[str] = []
        size = 0
        for row in rows:
            line = "{" + ",".join(key + json_text(value) for key, value in zip(keys, row, strict=True)) + "}\n"
            lines.append(line)
            size += len(line)
            if size >= FLUSH:
                _put(to, lines)
                size = 0
        _put(to, lines)


def _put(to: BinaryIO, lines: list[str]) -> None:
    # A lone surrogate becomes bytes that are not valid UTF-8; the program treats them as separators.
    to.write("".join(lines).encode("utf-8", "surrogatepass"))
    lines.clear()


def json_text(text: Any) -> str:
    """Return a text as JSON."""
    if isinstance(text, str):
        # The encoder that escapes non-ASCII characters is twice as fast, unless they are most of the text.
        line = encode_basestring_ascii(text)
        return line if len(line) < len(text) * 5 // 4 + 8 else encode_basestring(text)
    return json_value(text)


def json_value(value: Any) -> str:
    """Return a value as JSON; {} if its type has no use to the program."""
    if is_missing(value):
        return "null"
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if hasattr(value, "item"):  # a NumPy number
        return json_value(value.item())
    if hasattr(value, "isoformat"):  # a date
        return encode_basestring_ascii(value.isoformat())
    return "{}"  # the program skips the record, because {} is no text


def check_names(names: Sequence[Hashable]) -> None:
    """Refuse columns of one name: which of them is meant is not known."""
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise UsageError(f"there are several columns {twice!r}: give them different names")


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN or missing in the sense of pandas."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in ("NAType", "NaTType")


def read_json_texts(path: str, names: Names) -> Iterator[Any]:
    """Yield the texts that write_json_lines wrote."""
    with open(path, "rb") as lines:
        for line in lines:
            yield json.loads(line.decode("utf-8", "surrogatepass"))[names.text]
