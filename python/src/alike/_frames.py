"""Rows of data frames and tables. A library is used only if the caller has imported it."""

from __future__ import annotations

import itertools
import sys
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ._errors import UsageError
from ._items import Items, Stream, Texts
from ._rows import Columns, Names, Rows, Tick, check_names, is_missing, write_json_lines

# Frames are duck-typed, so that type checks do not need their libraries.
Frame = Any
Array = Any
Slice = Callable[[int, int], tuple[Any, Any]]  # returns texts and fields of the rows from one number up to another

PIECE = 8 << 20  # bytes of text to convert at once; they make a row group
BATCH = 1 << 12  # rows of a data set to read at once
MOST, LEAST = 1 << 16, 1 << 8  # rows of a piece


def rows_of(data: Any) -> Rows:
    """Return the adapter for an input."""
    for module, name, adapter in (
        ("pandas", "DataFrame", PandasFrame),
        ("pandas", "Series", PandasSeries),
        ("polars", "DataFrame", PolarsFrame),
        ("polars", "Series", PolarsSeries),
        ("pyarrow", "Table", ArrowTable),
        ("pyarrow", "RecordBatch", ArrowTable),
        ("pyarrow", "ChunkedArray", ArrowArray),
        ("pyarrow", "Array", ArrowArray),
        ("numpy", "ndarray", NumpyArray),
        ("datasets", "Dataset", HuggingFace),
        ("datasets", "IterableDataset", HuggingFaceStream),
    ):
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and isinstance(data, kind):
            return adapter(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _arrow_stream(data)
    return _plain(data)


def _arrow_stream(data: Any) -> Rows:
    """Return the rows of what speaks Arrow's interface for streams: DuckDB's relations, ibis' tables, readers, cuDF's frames."""
    if not _importable("pyarrow"):
        raise UsageError(f"pyarrow reads an object of type {type(data).__name__}: install it")
    import pyarrow

    return ArrowTable(pyarrow.RecordBatchReader.from_stream(data).read_all())


def _plain(data: Any) -> Rows:
    if isinstance(data, (bytes, bytearray)):
        raise UsageError("bytes are no texts: decode them")
    if type(data).__name__ == "LazyFrame":
        raise UsageError("a LazyFrame has no rows yet: collect() it, or write it to a file and name that")
    if type(data).__name__ in ("DatasetDict", "IterableDatasetDict"):
        raise UsageError(f"this is several data sets: take one of them, such as data[{next(iter(data), 'train')!r}]")
    if isinstance(data, Mapping):
        return Texts(data)
    if isinstance(data, Sequence):
        return Items(data)
    if isinstance(data, Iterator):
        return Stream(data)
    if hasattr(data, "__iter__"):
        return Stream(iter(data))
    raise UsageError(f"there are no rows in an object of type {type(data).__name__}: give paths, a data frame, a table, or texts")


class PandasFrame(Rows):
    """A pandas.DataFrame."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        check_names(list(frame.columns))

    def names(self) -> Sequence[Hashable] | None:
        return list(self.frame.columns)

    def strings(self) -> Sequence[Hashable]:
        return [name for name in self.frame.columns if _is_pandas_text(self.frame[name])]

    def wrong(self, text: Hashable) -> str | None:
        column = self.frame[text]
        return None if column.empty or _is_pandas_text(column) else f"values of type {column.dtype}"

    def write(self, path: str, columns: Columns, names: Names, tick: Tick) -> str:
        texts = self.frame[columns.text]
        field = None if columns.field is None else self.frame[columns.field]
        if _importable("pyarrow"):
            objects = isinstance(texts.dtype, sys.modules["pandas"].CategoricalDtype)

            def part(start: int, end: int) -> tuple[Any, Any]:
                piece = texts.iloc[start:end]
                return piece.astype(object) if objects else piece, None if field is None else field.iloc[start:end]

            written = write_parquet(path, len(texts), part, columns, names, tick)
            if written is not None:
                return written
        rows = itertools.zip_longest(texts, () if field is None else field)
        write_json_lines(path + ".jsonl", names, columns.field, rows, tick)
        return path + ".jsonl"

    def tuples(self, columns: Sequence[Hashable]) -> Iterable[Sequence[Any]]:
        return zip(*(self.frame[name] for name in columns), strict=True)

    def __len__(self) -> int:
        return len(self.frame)

    def labels(self, numbers: Sequence[int], column: Hashable | None) -> Any:
        of = self.frame.index if column is None else self.frame[column].array
        return of.take(list(numbers)) if len(numbers) else of[:0]

    def keep(self, kept: bytearray) -> Any:
        return self.frame[self.mask(kept)]

    def mask(self, kept: bytearray) -> Any:
        pandas = sys.modules["pandas"]
        return pandas.Series(_booleans(kept), index=self.frame.index, name="kept", dtype=bool)

    def table(self, columns: dict[str, Any]) -> Any:
        numpy, pandas = sys.modules["numpy"], sys.modules["pandas"]
        return pandas.DataFrame({name: numpy.array(c, c.typecode) if isinstance(c, array) else c for name, c in columns.items()})

    def tagged(self, columns: dict[str, list[Any]]) -> Any:
        pandas = sys.modules["pandas"]
        # The nullable types keep whole numbers whole where some are missing.
        return self.frame.assign(**{name: pandas.Series(pandas.array(c), index=self.frame.index) for name, c in columns.items()})


class PandasSeries(PandasFrame):
    """A pandas.Series of texts."""

    def __init__(self, series: Frame) -> None:
        self.series = series
        super().__init__(series.to_frame("text"))

    def keep(self, kept: bytearray) -> Any:
        return self.series[self.mask(kept)]


def _is_pandas_text(column: Frame) -> bool:
    """Tell whether a column holds strings, or nothing but missing values."""
    types = sys.modules["pandas"].api.types
    if isinstance(column.dtype, sys.modules["pandas"].CategoricalDtype):
        column = column.cat.categories
    if column.dtype == object:
        return isinstance(next((value for value in column if not is_missing(value)), ""), str)
    return bool(types.is_string_dtype(column.dtype)) or (len(column) > 0 and bool(column.isna().all()))


def _booleans(kept: bytearray) -> Any:
    """Return the mask as an array, without copying it."""
    return sys.modules["numpy"].frombuffer(kept, dtype=bool)


def _importable(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def write_parquet(path: str, count: int, part: Slice, columns: Columns, names: Names, tick: Tick) -> str | None:
    """Write rows piece by piece. Return None if Arrow cannot hold them: mixed types, lone surrogates."""
    import pyarrow

    at, rows = 0, LEAST
    writer: ParquetFile | None = None
    try:
        while at < count:
            end = min(at + rows, count)
            texts, field = part(at, end)
            text = pyarrow.array(texts, pyarrow.large_string(), from_pandas=True)
            arrays = [text] if field is None else [text, pyarrow.array(field, from_pandas=True)]
            writer = writer or ParquetFile(path, arrays, columns, names)
            writer.write(arrays, tick)
            rows = _piece(text.nbytes, end - at)
            at = end
    except (pyarrow.ArrowException, UnicodeError):
        if count and writer is not None:
            tick(-writer.number)
        return None
    finally:
        if writer is not None:
            writer.close()
    return None if writer is None else writer.path


def _piece(size: int, rows: int) -> int:
    """Return the number of rows of a piece, if this number of rows has size bytes."""
    return max(LEAST, min(MOST, rows * PIECE // max(size, 1)))


class ParquetFile:
    """A Parquet file for the program, with plain pages, which are the cheapest to write and to read."""

    def __init__(self, path: str, arrays: Sequence[Array], columns: Columns, names: Names) -> None:
        import pyarrow
        from pyarrow import parquet

        fields = [pyarrow.field(names.number, pyarrow.int64()), pyarrow.field(names.text, arrays[0].type)]
        if len(arrays) > 1:
            fields.append(pyarrow.field(str(columns.field), arrays[1].type))
        self.schema = pyarrow.schema(fields)
        self.path = path + ".parquet"
        self.number = 0
        self.writer = parquet.ParquetWriter(self.path, self.schema, compression="none", use_dictionary=False, write_statistics=False)

    def write(self, arrays: Sequence[Array], tick: Tick) -> None:
        import pyarrow

        end = self.number + len(arrays[0])
        numbers = pyarrow.array(range(self.number, end), pyarrow.int64())
        # Each piece makes a row group, so that no rows wait in memory.
        self.writer.write_table(pyarrow.Table.from_arrays([numbers, *arrays], schema=self.schema))
        tick(end - self.number)
        self.number = end

    def close(self) -> None:
        self.writer.close()


class ArrowTable(Rows):
    """A pyarrow.Table or RecordBatch."""

    def __init__(self, table: Frame) -> None:
        check_names(table.schema.names)
        self.given = table.schema
        self.rows = _without_views(table)

    def names(self) -> Sequence[Hashable] | None:
        return list(self.rows.schema.names)

    def strings(self) -> Sequence[Hashable]:
        return [f.name for f in self.rows.schema if _is_arrow_text(f.type)]

    def wrong(self, text: Hashable) -> str | None:
        kind = self.rows.schema.field(text).type
        return None if _is_arrow_text(kind) or str(kind) == "null" else f"values of type {kind}"

    def write(self, path: str, columns: Columns, names: Names, tick: Tick) -> str:
        wanted = [columns.text] if columns.field is None else [columns.text, columns.field]
        return _write_batches(path, len(self), self._batches(wanted), columns, names, tick)

    def _batches(self, wanted: Sequence[Hashable | None]) -> Iterator[Any]:
        import pyarrow

        rows = self.rows.select(wanted)
        table = rows if isinstance(rows, pyarrow.Table) else pyarrow.Table.from_batches([rows])
        yield from table.to_batches(_piece(table.nbytes, table.num_rows))

    def tuples(self, columns: Sequence[Hashable]) -> Iterable[Sequence[Any]]:
        for batch in self._batches(columns):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def labels(self, numbers: Sequence[int], column: Hashable | None) -> Any:
        import pyarrow

        taken = pyarrow.array(numbers, pyarrow.int64())
        return taken if column is None else self.rows.column(column).take(taken)

    def keep(self, kept: bytearray) -> Any:
        rows = self.rows.filter(self.mask(kept))
        return rows if self.rows.schema is self.given else rows.cast(self.given)

    def mask(self, kept: bytearray) -> Any:
        import pyarrow

        return pyarrow.array(memoryview(kept).cast("?").tolist(), pyarrow.bool_())

    def table(self, columns: dict[str, Any]) -> Any:
        return _arrow_table(columns)

    def tagged(self, columns: dict[str, list[Any]]) -> Any:
        rows = self.rows
        for name, values in _typed(columns).items():
            rows = rows.append_column(name, values)
        return rows


def _typed(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """Return columns of tags as arrays of Arrow. One of labels has the type of the labels, also if all of it is missing."""
    import pyarrow

    cluster, size, duplicate_of, similarity = (pyarrow.array(c) for c in columns.values())
    arrays = (cluster, size.cast(pyarrow.int64()), duplicate_of.cast(cluster.type), similarity.cast(pyarrow.float64()))
    return dict(zip(columns, arrays, strict=True))


def _without_views(table: Frame) -> Any:
    """Return a table without string views, because Arrow cannot select rows of them."""
    import pyarrow

    if not any(str(field.type) == "string_view" for field in table.schema):
        return table
    own = [field.with_type(pyarrow.large_string()) if str(field.type) == "string_view" else field for field in table.schema]
    return table.cast(pyarrow.schema(own, table.schema.metadata))


def _arrow_table(columns: dict[str, Any]) -> Any:
    import pyarrow

    kinds = {"q": pyarrow.int64(), "d": pyarrow.float64()}
    return pyarrow.table({name: pyarrow.array(c, kinds[c.typecode]) if isinstance(c, array) else c for name, c in columns.items()})


def _is_arrow_text(kind: Any) -> bool:
    inner = str(getattr(kind, "value_type", kind)) if str(kind).startswith("dictionary") else str(kind)
    return inner in ("string", "large_string", "string_view")


def _write_batches(path: str, count: int, batches: Iterator[Any], columns: Columns, names: Names, tick: Tick) -> str:
    import pyarrow

    writer: ParquetFile | None = None
    try:
        for batch in batches:
            arrays = [batch.column(0).cast(pyarrow.large_string()), *batch.columns[1:]]
            writer = writer or ParquetFile(path, arrays, columns, names)
            writer.write(arrays, tick)
        if writer is None:
            writer = ParquetFile(path, [pyarrow.array([], pyarrow.large_string())], columns, names)
    finally:
        if writer is not None:
            writer.close()
    return writer.path


class ArrowArray(ArrowTable):
    """A pyarrow.Array or ChunkedArray of texts."""

    def __init__(self, texts: Frame) -> None:
        import pyarrow

        super().__init__(pyarrow.table({"text": texts}))
        self.array = texts

    def keep(self, kept: bytearray) -> Any:
        import pyarrow

        if str(self.array.type) != "string_view":
            return self.array.filter(self.mask(kept))
        chunks = super().keep(kept).column("text")
        return chunks if isinstance(self.array, pyarrow.ChunkedArray) else chunks.combine_chunks()


class NumpyArray(Items):
    """A numpy.ndarray of texts."""

    def __init__(self, array: Frame) -> None:
        if array.ndim != 1:
            raise UsageError(f"an array has {array.ndim} dimensions: give one of texts, or a data frame")
        super().__init__(array.tolist())
        self.array = array

    def keep(self, kept: bytearray) -> Any:
        return self.array[self.mask(kept)]

    def mask(self, kept: bytearray) -> Any:
        return _booleans(kept)


class HuggingFace(ArrowTable):
    """A datasets.Dataset. Its rows stay where they are, on disk."""

    def __init__(self, data: Frame) -> None:
        self.data = data

    def names(self) -> Sequence[Hashable] | None:
        return list(self.data.column_names)

    def strings(self) -> Sequence[Hashable]:
        return [f.name for f in self.data.features.arrow_schema if _is_arrow_text(f.type)]

    def wrong(self, text: Hashable) -> str | None:
        kind = self.data.features.arrow_schema.field(text).type
        return None if _is_arrow_text(kind) or str(kind) == "null" else f"values of type {kind}"

    def _batches(self, wanted: Sequence[Hashable | None]) -> Iterator[Any]:
        columns = self.data.select_columns([str(name) for name in wanted]).with_format("arrow")
        for table in columns.iter(batch_size=BATCH):
            yield from table.select(wanted).to_batches()

    def __len__(self) -> int:
        return len(self.data)

    def labels(self, numbers: Sequence[int], column: Hashable | None) -> Any:
        if column is None:
            return list(numbers)
        return self.data.select_columns([column]).with_format(None).select(list(numbers))[column][:]

    def keep(self, kept: bytearray) -> Any:
        return self.data.select(list(itertools.compress(range(len(kept)), kept)))

    def mask(self, kept: bytearray) -> Any:
        return [bool(k) for k in kept]

    def table(self, columns: dict[str, Any]) -> Any:
        return _data_set(columns)

    def tagged(self, columns: dict[str, list[Any]]) -> Any:
        data = self.data
        for name, values in _typed(columns).items():
            data = data.add_column(name, values)
        return data


def _data_set(columns: dict[str, Any]) -> Any:
    return sys.modules["datasets"].Dataset(_arrow_table(columns))


class HuggingFaceStream(Stream):
    """A datasets.IterableDataset. The kept rows are one too; it reads the source again."""

    def __init__(self, data: Frame) -> None:
        self.data = data
        super().__init__(iter(data))

    def _spooled(self, path: str) -> Iterator[Any]:
        for item in self.stream:
            if self.label is not None:
                self.ids.append(item.get(self.label))
            yield item

    def keep(self, kept: bytearray) -> Any:
        return self.data.filter(_Kept(kept), with_indices=True)

    def table(self, columns: dict[str, Any]) -> Any:
        return _data_set(columns)


class _Kept:
    """A filter for kept rows that can be pickled."""

    def __init__(self, kept: bytearray) -> None:
        self.kept = kept

    def __call__(self, _: Any, number: int) -> bool:
        return bool(self.kept[number])


class PolarsFrame(Rows):
    """A polars.DataFrame."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def names(self) -> Sequence[Hashable] | None:
        return list(self.frame.columns)

    def strings(self) -> Sequence[Hashable]:
        return [name for name, kind in self.frame.schema.items() if _is_polars_text(kind)]

    def wrong(self, text: Hashable) -> str | None:
        kind = self.frame.schema[text]
        return None if _is_polars_text(kind) or str(kind) == "Null" else f"values of type {kind}"

    def write(self, path: str, columns: Columns, names: Names, tick: Tick) -> str:
        polars = sys.modules["polars"]
        wanted = [polars.col(columns.text).cast(polars.String).alias(names.text)]
        if columns.field is not None:
            wanted.append(polars.col(columns.field))
        self.frame.lazy().select(wanted).with_row_index(names.number).sink_parquet(
            path + ".parquet",
            compression="uncompressed",
            statistics=False,
            row_group_size=_piece(self.frame[columns.text].estimated_size(), len(self.frame)),
        )
        tick(len(self.frame))
        return path + ".parquet"

    def tuples(self, columns: Sequence[Hashable]) -> Iterable[Sequence[Any]]:
        yield from self.frame.select(columns).iter_rows()

    def __len__(self) -> int:
        return len(self.frame)

    def labels(self, numbers: Sequence[int], column: Hashable | None) -> Any:
        taken = sys.modules["polars"].Series("", list(numbers), dtype=sys.modules["polars"].Int64)
        return taken if column is None else self.frame[column].gather(taken)

    def keep(self, kept: bytearray) -> Any:
        return self.frame.filter(self.mask(kept))

    def mask(self, kept: bytearray) -> Any:
        polars = sys.modules["polars"]
        return polars.Series("kept", memoryview(kept).cast("?").tolist(), dtype=polars.Boolean)

    def table(self, columns: dict[str, Any]) -> Any:
        polars = sys.modules["polars"]
        kinds = {name: {"q": polars.Int64, "d": polars.Float64}[c.typecode] for name, c in columns.items() if isinstance(c, array)}
        return polars.DataFrame(columns, schema_overrides=kinds)

    def tagged(self, columns: dict[str, list[Any]]) -> Any:
        polars = sys.modules["polars"]
        cluster, size, duplicate_of, similarity = (polars.Series(name, c) for name, c in columns.items())
        return self.frame.with_columns(cluster, size.cast(polars.Int64), duplicate_of.cast(cluster.dtype), similarity.cast(polars.Float64))


class PolarsSeries(PolarsFrame):
    """A polars.Series of texts."""

    def __init__(self, series: Frame) -> None:
        self.series = series
        super().__init__(series.alias("text").to_frame())

    def keep(self, kept: bytearray) -> Any:
        return self.series.filter(self.mask(kept))


def _is_polars_text(kind: Any) -> bool:
    return str(kind).partition("(")[0] in ("String", "Categorical", "Enum")
