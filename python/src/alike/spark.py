"""alike on Apache Spark: from DataFrame to DataFrame.

    from alike import spark
    kept = spark.dedup(frame)                     # the rows without near-duplicates
    marked = spark.dedup(frame, mask=True)        # all rows, with a column "kept"
    found = spark.pairs(frame, id="url")          # every pair of similar documents: a, b, similarity
    spark.dedup_files("s3://bucket/corpus", "s3://bucket/clean", work="s3://bucket/tmp")  # files to files, at less cost

Results are those of the command with ``--candidates lsh``. Spark moves, spills, schedules and
tries again; the work is done by the program, which runs as a child of Spark's Python workers.
This package must be installed on all of them. Needs PySpark 4.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pyspark import StorageLevel, TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from . import _errors
from ._errors import AlikeError, UsageError
from ._options import Path, check, documented
from ._rows import Schema
from ._stages import (
    FIELD,
    ID,
    KEPT,
    TEXT,
    EngineDedupOptions,
    EngineOptions,
    FilesDedupOptions,
    FilesOptions,
    Plan,
    Row,
    Settled,
    Stage,
    check_mask,
    make_plan,
    pack_and_run,
    pair_tables,
    plan_files,
    positions,
    run_on_files,
    run_task,
    settle,
)

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import Column, DataFrame
    from typing_extensions import Unpack

    Batches = Iterator[pyarrow.RecordBatch]

ROW = "alike_row"  # partition << 33 | number in it, as Spark numbers rows
BLOCKS = "stream int, partition int, block binary"
Summary = dict[str, Any]  # of a run, with the keys of summary.json
PIECE = 8 << 20  # bytes of blocks in a batch

# For the passes over blocks. What Spark hands to Python at once is limited, as a block has up to
# 256 KiB, or more if one row is longer. Their queries are small and known: neither compiling
# them nor planning them anew as they run pays.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
NARROW = "spark.sql.execution.arrow.maxRecordsPerBatch"
LINES = "4096"  # lines of documents at once


@documented(EngineDedupOptions)
def dedup(
    df: DataFrame,
    *,
    text: str | None = None,
    id: str | None = None,
    mask: bool = False,
    stable: bool = False,
    **options: Unpack[EngineDedupOptions],
) -> DataFrame:
    """Keep one document of every cluster of near-duplicates.

    Return the rows that are kept; with ``mask`` all rows, and whether each is kept in a column
    "kept". The first document is the first row of the first partition.

    text: the column with the texts; else "text", or the only one with strings.
    id: the column with the ids; else "id", if it is there; "-" for none. Of rows with the same
        id all but the first are left out, as the command does.
    stable: df has the same rows, in the same partitions and order, whenever it is computed, as
        files that are read have. Else its rows are copied to the executors' disks once.
    partitions: tasks of the stages that go by hashes; else as many as df has partitions.

    Rows without a text, or with one of more than max_record bytes, are left out.
    """
    check_mask(mask, df.columns)
    run = _Run("dedup", df, settle("dedup", EngineDedupOptions, options, _Columns(df), text, id), stable)
    dropped = run.result(f"{ROW} long", _drops)
    numbered = run.numbered
    if not mask:
        kept = numbered if dropped is None else numbered.join(dropped, ROW, "left_anti")
        return kept.where(run.usable).drop(ROW)
    if dropped is None:
        return numbered.withColumn(KEPT, run.usable).drop(ROW)
    marked = numbered.join(dropped.withColumn(KEPT, F.lit(False)), ROW, "left")
    return marked.withColumn(KEPT, F.coalesce(KEPT, run.usable)).drop(ROW)


@documented(EngineOptions)
def pairs(
    df: DataFrame, *, text: str | None = None, id: str | None = None, stable: bool = False, **options: Unpack[EngineOptions]
) -> DataFrame:
    """List every pair of similar documents: ids a and b, a being the earlier one, and similarity.

    Ids have the type of their column. A row without one is named by its place, "PARTITION:ROW",
    with partitions from 0 and rows from 1 on. Pairs come in no order. Everything else is as for dedup.
    """
    asked = settle("pairs", EngineOptions, options, _Columns(df), text, id)
    run = _Run("pairs", df, asked, stable)
    found = run.result("a string, b string, similarity double", pair_tables)
    if found is None:
        found = df.sparkSession.createDataFrame([], "a string, b string, similarity double")
    kind = df.schema[asked.id].dataType
    return found if isinstance(kind, StringType) else found.select(*(F.col(c).try_cast(kind).alias(c) for c in "ab"), "similarity")


@documented(FilesDedupOptions)
def dedup_files(
    inputs: Path | Sequence[Path], output: Path, *, text: str | None = None, id: str | None = None, **options: Unpack[FilesDedupOptions]
) -> Summary:
    """Keep one document of every cluster of near-duplicates in files, and fill the folder output as ``alike dedup`` does.

    Return the summary. The program reads and writes files itself, where Spark's tasks run: inputs, output
    and work are folders or URLs (s3, gs, azblob) that all of them see. No text goes through Spark, so that this takes
    a fraction of what dedup does.

    work: a place for what tasks leave each other, about as large as the input; else beside output. What they have left in
        a folder is removed in the end.
    text, id: the columns with the texts and ids; else "text" and "id".
    partitions: tasks of the stages that go by hashes; else by the size of the input and by memory, which is that of
        a task. Files are not cut: have some for each processor.
    """
    check("dedup_files", options, FilesDedupOptions)
    return _on_files("dedup", inputs, output, {**options, "text_field": text, "id_field": id})


@documented(FilesOptions)
def pairs_files(
    inputs: Path | Sequence[Path], output: Path, *, text: str | None = None, id: str | None = None, **options: Unpack[FilesOptions]
) -> Summary:
    """List every pair of similar documents in files, and write the file output as ``alike pairs`` does.

    Everything else is as for dedup_files.
    """
    check("pairs_files", options, FilesOptions)
    return _on_files("pairs", inputs, output, {**options, "text_field": text, "id_field": id})


class _Columns(Schema):
    """The columns of a DataFrame."""

    def __init__(self, df: DataFrame) -> None:
        self.schema = df.schema
        twice = next((name for name in df.columns if df.columns.count(name) > 1), None)
        if twice is not None:
            raise UsageError(f"there are several columns {twice!r}: give them different names")

    def names(self) -> Sequence[Hashable]:
        return list(self.schema.names)

    def strings(self) -> Sequence[Hashable]:
        return [field.name for field in self.schema.fields if isinstance(field.dataType, StringType)]

    def wrong(self, text: Hashable) -> str | None:
        kind = self.schema[str(text)].dataType
        return None if isinstance(kind, StringType) else f"values of type {kind.simpleString()}"


def _on_files(command: str, inputs: Path | Sequence[Path], output: Path, options: dict[str, Any]) -> Summary:
    """Run all stages over files."""
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    plan = plan_files(command, [_seen_anywhere(path) for path in paths], _seen_anywhere(output), options)
    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    try:
        with _settings(session), _errors_of_tasks():
            for stage in plan.stages:
                tasks = session.range(0, stage.tasks, 1, stage.tasks)
                said = tasks.mapInArrow(_on_file(plan, stage), "said string").collect()
        summary: Summary = json.loads(said[0].said)
        return summary
    finally:
        made = json.loads(plan.text)
        if "://" not in made["work"]:
            shutil.rmtree(os.path.join(made["work"], made["digest"]), ignore_errors=True)
            with suppress(OSError):  # what else is in it stays
                os.rmdir(made["work"])


def _seen_anywhere(path: Path) -> str:
    """Return a path that does not depend on the folder in which a process runs."""
    where = os.fspath(path)
    return where if "://" in where else os.path.abspath(where)


class _Run:
    """A run over a DataFrame."""

    def __init__(self, command: str, df: DataFrame, asked: Settled, stable: bool) -> None:
        self.command, self.asked, self.session = command, asked, df.sparkSession
        self.numbered = df.withColumn(ROW, F.monotonically_increasing_id())
        if not stable:
            self.numbered = self.numbered.persist(StorageLevel.DISK_ONLY)
        text = _column(asked.text)
        self.usable = text.isNotNull() & (F.octet_length(text) <= asked.longest)

    def result(self, schema: str, read: Callable[[Plan, Iterable[Row]], Batches]) -> DataFrame | None:
        """Run all stages, and return what read makes of the last one's blocks. None: there are no rows."""
        with _settings(self.session), _errors_of_tasks():
            parts = self._parts()
            return self._stages(make_plan(self.command, parts, self.asked.plan), schema, read) if parts else None

    def _parts(self) -> int:
        """Return the number of partitions. Empty ones at the end may be left out."""
        try:
            return int(self.numbered.rdd.getNumPartitions())
        except (PySparkException, AttributeError):  # Spark Connect has no RDDs
            last = self.numbered.agg(F.max(ROW)).first()
            return 0 if last is None or last[0] is None else int(last[0] >> 33) + 1

    def _stages(self, plan: Plan, schema: str, read: Callable[[Plan, Iterable[Row]], Batches]) -> DataFrame:
        made: dict[str, DataFrame] = {}
        first, *others, last = plan.stages
        try:
            # The first stage reads documents alone: it packs them too, where they are.
            with _settings(self.session, {NARROW: LINES}):
                made[first.name] = _materialized(self._lines().mapInArrow(_first(plan, first), BLOCKS))
            written = dict.fromkeys((plan.streams["documents"], *first.writes), first.name)
            for stage in others:
                given = self._given(plan, stage, made, written)
                made[stage.name] = _materialized(given.mapInArrow(_later(plan, stage, lambda _, rows: _blocks(rows)), BLOCKS))
                written.update(dict.fromkeys(stage.writes, stage.name))
            given = self._given(plan, last, made, written)
            return _materialized(given.mapInArrow(_later(plan, last, read), schema))
        finally:
            for frame in made.values():
                frame.unpersist()

    def _lines(self) -> DataFrame:
        """Return the documents as lines of JSON. A row without a usable text has an empty one, and no name."""
        asked = self.asked
        fields = [F.when(self.usable, _column(asked.text)).otherwise("").alias(TEXT)]
        if asked.id is not None:
            fields.append(F.when(self.usable, _column(asked.id).cast("string")).alias(ID))
        if asked.field is not None:
            fields.append(_column(asked.field).alias(FIELD))
        return self.numbered.select(ROW, F.concat(F.to_json(F.struct(*fields)), F.lit("\n")).alias("line"))

    def _given(self, plan: Plan, stage: Stage, made: dict[str, DataFrame], written: dict[int, str]) -> DataFrame:
        """Return the blocks that the tasks of a stage read: those of task I in partition I."""
        wanted = [*stage.reads, plan.streams["documents"]] if stage.documents else list(stage.reads)
        by_source: dict[str, list[int]] = {}
        for stream in wanted:
            by_source.setdefault(written[stream], []).append(stream)
        # A task by documents runs even if nothing is for it: an empty row wakes it.
        given = self.session.range(stage.tasks if stage.documents else 0, numPartitions=1).selectExpr(
            "0 as stream", "cast(id as int) as partition", "cast(null as binary) as block"
        )
        for source, streams in by_source.items():
            given = given.unionAll(made[source].where(F.col("stream").isin(streams)))
        spread = getattr(given, "repartitionById", given.repartition)  # PySpark before 4.1 may put several tasks into one partition
        return spread(stage.tasks, F.col("partition")).sortWithinPartitions("partition")


def _column(name: str) -> Column:
    """Return a column by its whole name: a dot is part of it."""
    return F.col("`" + name.replace("`", "``") + "`")


def _materialized(frame: DataFrame) -> DataFrame:
    """Run what makes a frame, and keep it on the executors' disks: a lost part of it is made again."""
    frame = frame.persist(StorageLevel.DISK_ONLY)
    try:
        frame.count()
    except BaseException:
        frame.unpersist()
        raise
    return frame


@contextmanager
def _settings(session: SparkSession, settings: dict[str, str] | None = None) -> Iterator[None]:
    """Change settings of a session for as long as the context lasts."""
    settings = SETTINGS if settings is None else settings
    before = {name: session.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            session.conf.unset(name) if value is None else session.conf.set(name, value)


@contextmanager
def _errors_of_tasks() -> Iterator[None]:
    """Raise what a task has raised in the end, in place of what Spark says about it."""
    try:
        yield
    except PySparkException as e:
        said = re.search(r"^(?:alike\._errors\.)(AlikeError|UsageError): (.+)", str(e), re.M)
        if said is None:
            raise
        raise getattr(_errors, said[1])(said[2]) from e


# What follows runs on the executors.


def _first(plan: Plan, stage: Stage) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        context = TaskContext.get()
        assert context is not None
        part = context.partitionId()
        if part < stage.tasks:  # those behind it have no rows
            yield from _blocks(pack_and_run(plan, stage, part, _pieces(batches, part)))

    return run


def _pieces(batches: Batches, part: int) -> Iterator[Any]:
    """Yield the lines of a partition as they lie in memory."""
    number = part << 33
    for batch in batches:
        if not batch.num_rows:
            continue
        rows, lines = batch.column(0), batch.column(1)
        if rows[0].as_py() != number or rows[-1].as_py() != number + batch.num_rows - 1:
            raise AlikeError("Spark has numbered rows in another way than was expected: partitions have changed on the way")
        number += batch.num_rows
        offsets = memoryview(lines.buffers()[1]).cast("i")[lines.offset : lines.offset + len(lines) + 1]
        yield memoryview(lines.buffers()[2])[offsets[0] : offsets[-1]]


def _on_file(plan: Plan, stage: Stage) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        import pyarrow

        for batch in batches:
            said = [run_on_files(plan, stage, task) for task in batch.column(0).to_pylist()]
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array(said, pyarrow.string())], ["said"])

    return run


def _later(plan: Plan, stage: Stage, read: Callable[[Plan, Iterable[Row]], Batches]) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        rows = (row for batch in batches for row in zip(batch.column(1).to_pylist(), batch.column(2), strict=True))
        for task, given in groupby(rows, lambda row: row[0]):
            blocks = (block.as_buffer() for _, block in given if block.is_valid)
            yield from read(plan, run_task(plan, stage, task, blocks))

    return run


def _blocks(rows: Iterable[Row]) -> Batches:
    """Yield blocks as batches of limited size."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row[2])
        if size >= PIECE:
            yield _batch(batch)
            batch, size = [], 0
    if batch:
        yield _batch(batch)


def _batch(rows: list[Row]) -> pyarrow.RecordBatch:
    import pyarrow

    streams, partitions, blocks = zip(*rows, strict=True)
    arrays = [pyarrow.array(streams, pyarrow.int32()), pyarrow.array(partitions, pyarrow.int32()), pyarrow.array(blocks, pyarrow.binary())]
    return pyarrow.RecordBatch.from_arrays(arrays, ["stream", "partition", "block"])


def _drops(plan: Plan, rows: Iterable[Row]) -> Batches:
    """Yield the rows to leave out, as Spark numbers them."""
    import pyarrow

    for stream, _, block in rows:
        if stream == plan.streams["drops"]:
            numbers = [position >> 32 << 33 | position & 0xFFFFFFFF for position in positions(block)]
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array(numbers, pyarrow.int64())], [ROW])
