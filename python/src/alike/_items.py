"""Rows in Python's own types: sequences, iterators and mappings, of texts or of records."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from ._errors import UsageError
from ._rows import Columns, Names, Rows, Tick, read_json_texts, write_json_lines
from ._show import Results


class Frame(Protocol):
    """A data frame of pandas, Polars or cuDF, or a table of pyarrow: what comes in as one comes back as one."""

    @property
    def columns(self) -> Any: ...
    @property
    def drop(self) -> Any: ...
    @property
    def equals(self) -> Any: ...


FrameT = TypeVar("FrameT", bound=Frame)


class Pair(NamedTuple):
    """Two similar documents."""

    a: Any
    b: Any
    similarity: float


class SharedPair(NamedTuple):
    """Two similar documents, with the number of components that their signatures share."""

    a: Any
    b: Any
    similarity: float
    shared: int


class Fingerprint(NamedTuple):
    """The signature of a document."""

    id: Any
    scheme: str
    signature: bytes


class Found(NamedTuple):
    """An item of an evaluation set, and where it stands in a text: in bytes of UTF-8."""

    document: Any
    item: str
    set: str
    score: float
    start: int
    end: int
    part: str


class Tag(NamedTuple):
    """What dedup would do with a text."""

    cluster: Any
    cluster_size: int
    duplicate_of: Any
    similarity: float | None


class Link(NamedTuple):
    """Two records that belong together."""

    left_id: Any
    right_id: Any
    similarity: float
    fields: dict[str, float | None]  # similarity of each column, None where a value is missing


class RecordPair(NamedTuple):
    """Two records of one table that belong together."""

    a: Any
    b: Any
    similarity: float
    fields: dict[str, float | None]  # as in Link


class Entity(NamedTuple):
    """The entity of a record of one of several tables."""

    table: str
    id: str
    entity: str
    probability: float


class Match(NamedTuple):
    """A document of an index that is similar to a query."""

    query: Any
    id: str
    similarity: float
    columns: dict[str, str]  # the columns that the index stores


ROWS: dict[tuple[str, ...], Any] = {tuple(kind._fields): kind for kind in (Pair, SharedPair, Fingerprint, Found)}


def _first(items: Iterable[Any]) -> Any:
    """Return the first item that is not None, to see whether items are texts or records."""
    return next((item for item in items if item is not None), "")


def check_first(item: Any) -> None:
    """Refuse what no item is. Of those behind the first one such an item counts as one without a text."""
    if not isinstance(item, (str, Mapping)):
        raise UsageError(f"an item is of type {type(item).__name__}: give texts (str) or records (dict)")


class Items(Rows):
    """A sequence of texts or records."""

    frames = False

    def __init__(self, items: Sequence[Any]) -> None:
        self.items: Sequence[Any] = items
        self.count = len(items)
        self._look(_first(items))

    def _look(self, item: Any) -> None:
        check_first(item)
        self.record: Mapping[Any, Any] | None = item if isinstance(item, Mapping) else None

    def names(self) -> Sequence[Hashable] | None:
        return None if self.record is None else list(self.record)

    def strings(self) -> Sequence[Hashable]:
        return [name for name, value in (self.record or {}).items() if isinstance(value, str)]

    def write(self, path: str, columns: Columns, names: Names, tick: Tick) -> str:
        self.count = write_json_lines(path + ".jsonl", names, columns.field, self._values(self.items, columns), tick)
        return path + ".jsonl"

    def _values(self, items: Iterable[Any], columns: Columns) -> Iterator[tuple[Any, Any]]:
        if columns.text is None:
            return ((item, None) for item in items)
        return ((item.get(columns.text), item.get(columns.field)) for item in map(_record, items))

    def tuples(self, columns: Sequence[Hashable]) -> Iterable[Sequence[Any]]:
        if self.record is None:
            return ((item,) for item in self.items)
        return ([record.get(name) for name in columns] for record in map(_record, self.items))

    def __len__(self) -> int:
        return self.count

    def labels(self, numbers: Sequence[int], column: Hashable | None) -> Any:
        if column is None:
            return list(numbers)
        return [_record(self.items[i]).get(column) for i in numbers]

    def keep(self, kept: bytearray) -> Any:
        rows = itertools.compress(self.items, kept)
        return tuple(rows) if isinstance(self.items, tuple) else list(rows)

    def table(self, columns: dict[str, Any]) -> Any:
        kind = ROWS[tuple(columns)]
        return Results(map(kind, *columns.values()))

    def tagged(self, columns: dict[str, list[Any]]) -> Any:
        rows = zip(*columns.values(), strict=True)
        if self.record is None:
            return Results(Tag(*row) for row in rows)
        return [{**_record(item), **dict(zip(columns, row, strict=True))} for item, row in zip(self.items, rows, strict=True)]


def _record(item: Any) -> Mapping[Any, Any]:
    if isinstance(item, Mapping):
        return item
    if item is None:
        return {}
    raise UsageError(f"an item is of type {type(item).__name__}, where others are records (dict)")


class Texts(Items):
    """A mapping of ids to texts."""

    def __init__(self, items: Mapping[Any, Any]) -> None:
        self.mapping = items
        self.keys = list(items)
        super().__init__(list(items.values()))
        if self.record is not None:
            raise UsageError("a mapping takes ids to texts: put a record, or several, into a list")

    def labels(self, numbers: Sequence[int], column: Hashable | None) -> Any:
        return [self.keys[i] for i in numbers]

    def keep(self, kept: bytearray) -> Any:
        return {key: self.mapping[key] for key in itertools.compress(self.keys, kept)}

    def tagged(self, columns: dict[str, list[Any]]) -> Any:
        return dict(zip(self.keys, super().tagged(columns), strict=True))

    def mask(self, kept: bytearray) -> Any:
        return {key: bool(k) for key, k in zip(self.keys, kept, strict=False)}


def held(source: Any) -> Any:
    """Return rows that can be read more than once. It reads an iterator into memory."""
    if isinstance(source, Stream):
        return Items(list(source.stream))
    return source


class Stream(Items):
    """An iterator of texts or records, which is read once.

    Its items are not held in memory but in files of the run's folder, from which results are read one by one.
    """

    def __init__(self, items: Iterator[Any]) -> None:
        head = []
        for item in items:
            head.append(item)
            if item is not None:
                break
        self._look(_first(head))
        self.stream = itertools.chain(head, items)
        self.count = 0
        self.label: Hashable | None = None  # the column that labels() will be called with
        self.ids: list[Any] = []

    def write(self, path: str, columns: Columns, names: Names, tick: Tick) -> str:
        self.columns, self.file_names, self.path = columns, names, path
        if columns.text is None:
            items: Iterator[Any] = map(_text, self.stream)
        else:
            items = self._spooled(path + ".pickle")
        self.count = write_json_lines(path + ".jsonl", names, columns.field, self._values(items, columns), tick)
        return path + ".jsonl"

    def _spooled(self, path: str) -> Iterator[Any]:
        with open(path, "wb") as to:
            for item in self.stream:
                if self.label is not None:
                    self.ids.append(_record(item).get(self.label))
                pickle.dump(item, to, pickle.HIGHEST_PROTOCOL)
                yield item

    def labels(self, numbers: Sequence[int], column: Hashable | None) -> Any:
        return list(numbers) if column is None else [self.ids[i] for i in numbers]

    def keep(self, kept: bytearray) -> Iterator[Any]:
        return itertools.compress(self._again(), kept)

    def _again(self) -> Iterator[Any]:
        if self.columns.text is None:
            yield from read_json_texts(self.path + ".jsonl", self.file_names)
            return
        with open(self.path + ".pickle", "rb") as items:
            for _ in range(self.count):
                yield pickle.load(items)


def _text(item: Any) -> str | None:
    return item if isinstance(item, str) else None
