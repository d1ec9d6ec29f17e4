"""alike on Apache Spark: from DataFrame to DataFrame.

    from alike import spark
    kept = spark.dedup(frame)                     # the rows without near-duplicates
    marked = spark.dedup(frame, mask=True)        # all rows, with a column "kept"
    tagged = spark.tag(frame)                     # all rows, with what dedup would do with each
    found = spark.pairs(frame, id="url")          # every pair of similar documents: a, b, similarity
    links = spark.join(products, catalogue)  # the records of two tables that belong together
    spark.dedup_files("s3://bucket/corpus", "s3://bucket/clean", work="s3://bucket/tmp")  # files to files, at less cost

Results are those of the command with ``--candidates lsh``. Spark schedules and retries tasks, and moves and
spills data; the program, a child process of Spark's Python workers, does the work. This package must be
installed on all workers. Needs PySpark 3.5 or 4, and not serverless compute.

``python -m alike.spark`` is the command ``alike-spark``.
"""

from __future__ import annotations

if __name__ == "__main__":  # before PySpark is needed: the command says what is missing
    import sys

    from alike._spark_command import main

    sys.exit(main())

import gc
import json
import math
import os
import re
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, partial, reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pyspark import RDD, StorageLevel, TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, MapType, StringType, StructType

from . import _errors
from ._errors import AlikeError, UsageError
from ._options import Path, check, documented
from ._rows import Schema, check_field, check_names
from ._stages import (
    KEPT,
    SAMPLE,
    EngineDedupOptions,
    EngineOptions,
    EngineTableOptions,
    FilesDedupOptions,
    FilesOptions,
    FilesPassagesOptions,
    FilesTableOptions,
    Plan,
    Row,
    Sample,
    Settled,
    Stage,
    check_mask,
    check_tags,
    columns,
    log_report,
    make_plan,
    make_record_plan,
    of_records,
    pack,
    pack_and_run,
    pair_schema,
    pair_tables,
    payloads,
    plan_files,
    positions,
    record_fields,
    run_in_place,
    run_last,
    run_task,
    settle,
    tags,
    warn_of_skipped,
)

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import Column
    from typing_extensions import Unpack

    Batches = Iterator[pyarrow.RecordBatch]

ROW = "alike_row"  # partition << 33 | number in it, as Spark numbers rows
BLOCKS = "stream int, partition int, block binary"
Summary = dict[str, Any]  # the summary of a run, with the keys of summary.json
PIECE = 8 << 20  # bytes of blocks in a batch
SMALL = 1 << 30  # bytes of rows, as Spark estimates them, up to which fewer stages save more than more tasks do

# Of the session of a call, for the passes over blocks. They limit how much Spark gives to Python at once, since a
# block has up to 256 KiB, or more if one row is longer. The queries are so simple that neither compiling them nor
# adaptive planning pays.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Of another session, for the pass over documents. They are many and small, so Spark gives Python more rows at once, and compiles.
PACKING = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}


@documented(EngineDedupOptions)
def dedup(
    df: DataFrame,
    *,
    text: str | None = None,
    id: str | None = None,
    mask: bool = False,
    stable: bool = False,
    work: Path | None = None,
    **options: Unpack[EngineDedupOptions],
) -> DataFrame:
    """Keep one document of every cluster of near-duplicates.

    Return the kept rows; with ``mask`` all rows, with a column "kept" that says whether each is kept. The first
    document is the first row of the first partition.

    text: the column with the texts; default "text", or the only one with strings.
    id: the column with the ids; default "id", if there is one; "-" for none. If rows have the same
        id, all but the first are left out, as the command does.
    stable: df has the same rows, in the same partitions and order, whenever it is computed, as
        rows from files do. Otherwise its rows are copied to the executors' disks once.
    work: a folder or URL (s3, gs, azblob) that all executors see, for documents and blocks, about twice the size of
        the texts. They get a folder of their own there; remove it when the result has been used. This takes much less
        processor time than letting Spark move all. If Spark's master is local, the default is a temporary folder.
    partitions: tasks of the stages that divide rows by hashes; default: the number of partitions of df, with a work and
        up to 1 GiB 1, which has fewer stages.
    records: compare the records of a table, by their columns; field has the same effect. One record of each cluster is kept, even
        if no two of its records are equal. One task decides, in memory (10 million records in 2 GiB).
    field: the columns to compare, "name", "name:weight:tokens" or a list of these; default: all, by the first 5,000 rows.

    Rows without a text, or with one of more than max_record bytes, are left out.
    """
    check_mask(mask, df.columns)
    make, documents, usable = _asked("dedup", EngineDedupOptions, options, df, text, id)
    run = _Run("dedup", [df], stable, work, again=True)
    rows = run.tables[0]
    _, dropped = run.result(make, documents, _drops, lambda _: f"{ROW} long")
    if not mask:
        return rows.join(dropped, ROW, "left_anti").where(usable).drop(ROW)
    marked = rows.join(dropped.withColumn(KEPT, F.lit(False)), ROW, "left")
    return marked.withColumn(KEPT, F.coalesce(KEPT, usable)).drop(ROW)


@documented(EngineDedupOptions)
def tag(
    df: DataFrame,
    *,
    text: str | None = None,
    id: str | None = None,
    prefix: str = "",
    stable: bool = False,
    work: Path | None = None,
    **options: Unpack[EngineDedupOptions],
) -> DataFrame:
    """Say of every row what dedup would do with it, and remove nothing.

    Return all rows, with four more columns: cluster (the id of its first row; a row that is alone has its own),
    cluster_size, duplicate_of (the id of the row that dedup would keep instead; null for one that it keeps) and
    similarity to that row. Ids are strings; a row without one is named as by pairs. A row that dedup leaves out has the
    cluster_size 0, and nothing else.

    prefix stands before the names of the columns. Everything else is as for dedup.
    """
    names = check_tags(prefix, df.columns)
    if of_records(options, text):
        raise UsageError("records of one table are tagged on one machine, by alike.tag: leave records and field out")
    make, documents, _ = _asked("dedup", EngineDedupOptions, options, df, text, id, {"tag": True})
    run = _Run("dedup", [df], stable, work, again=True)
    schema = ", ".join([f"{ROW} long", *(f"{_quoted(name)} {kind}" for name, kind in zip(names, TAG_TYPES, strict=True))])
    _, found = run.result(make, documents, partial(_tags, names), lambda _: schema)
    tagged = run.tables[0].join(found, ROW, "left").drop(ROW)
    return tagged.withColumn(names[1], F.coalesce(_column(names[1]), F.lit(0)))


TAG_TYPES = ("string", "long", "string", "double")


@documented(EngineOptions)
def pairs(
    df: DataFrame,
    *,
    text: str | None = None,
    id: str | None = None,
    stable: bool = False,
    work: Path | None = None,
    **options: Unpack[EngineOptions],
) -> DataFrame:
    """List every pair of similar documents: ids a and b, where a is the earlier document, and similarity.

    Ids have the type of their column. A row without an id is named by its place, "PARTITION:ROW", with partitions
    from 0 and rows from 1 on; a record by its number. Pairs of records have the similarity of each column too.
    Pairs come in no order. Everything else is as for dedup.
    """
    make, documents, _ = _asked("pairs", EngineOptions, options, df, text, id)
    plan, found = _Run("pairs", [df], stable, work).result(make, documents, pair_tables, _pair_schema)
    id = json.loads(plan.text).get("tables", [{"id_field": id or "id"}])[0]["id_field"]
    return _with_types(found, [LongType() if id == "-" else df.schema[id].dataType] * 2)


@documented(EngineTableOptions)
def join(
    left: DataFrame,
    right: DataFrame,
    *,
    left_id: str | None = None,
    right_id: str | None = None,
    stable: bool = False,
    work: Path | None = None,
    **options: Unpack[EngineTableOptions],
) -> DataFrame:
    """Find the records of two tables that belong together: left_id, right_id, similarity, and the similarity of each column.

    The links are those of ``alike join`` with the same options. With match="all", candidates="lsh" and a threshold,
    many tasks share the work, because each pair is decided by itself. Otherwise decisions depend on all candidates:
    many tasks read the tables, and one decides, in memory (10 million records in 2 GiB). A column's similarity is None
    where a value is missing. Links come in no order.

    left_id, right_id: the columns with the ids, which are not compared; default "id", else the first one; "-" numbers
        the rows from 1 on.
    field: the columns to compare, "name", "left=right:weight:tokens" or a list of these; default: all that correspond, by
        the first 5,000 rows. Values are compared as Spark casts them to strings; arrays, maps and structs are left out.
    stable: for both tables, as for dedup.
    with_: columns of either table to copy to the links, as strings, empty where a table or record has no value.

    The logger "alike" logs the report as information. Everything else is as for dedup.
    """
    check("join", options, EngineTableOptions)
    samples = [_sample(df, id) for df, id in ((left, left_id), (right, right_id))]
    plan, found = _Run("join", [left, right], stable, work).result(
        lambda parts, work: make_record_plan("join", samples, parts, options, work), _record_columns(left, right), pair_tables, _pair_schema
    )
    ids = [table["id_field"] for table in json.loads(plan.text)["tables"]]
    return _with_types(found, [LongType() if id == "-" else df.schema[id].dataType for df, id in zip((left, right), ids, strict=True)])


@documented(FilesDedupOptions)
def dedup_files(
    inputs: Path | Sequence[Path], output: Path, *, text: str | None = None, id: str | None = None, **options: Unpack[FilesDedupOptions]
) -> Summary:
    """Keep one document of every cluster of near-duplicates in files, and fill the folder output as ``alike dedup`` does.

    Return the summary. The program reads and writes files itself, where Spark's tasks run, so inputs, output
    and work are folders or URLs (s3, gs, azblob) that all of these see. No text goes through Spark: this takes
    a fraction of the processor time of dedup.

    work: a place for the blocks that tasks exchange, about as large as the input; default: beside output. Blocks in a
        folder are removed at the end.
    text, id: the columns with the texts and ids; default "text" and "id".
    partitions: tasks of the stages that divide rows by hashes; default: by the size of the input and by memory, the
        memory of a task. Files are not divided: have some for each processor.
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


@documented(FilesPassagesOptions)
def passages_files(
    inputs: Path | Sequence[Path], output: Path, *, text: str | None = None, id: str | None = None, **options: Unpack[FilesPassagesOptions]
) -> Summary:
    """Cut passages that stand in an earlier document out of files, and fill the folder output as ``alike passages`` does.

    Everything else is as for dedup_files.
    """
    check("passages_files", options, FilesPassagesOptions)
    return _on_files("passages", inputs, output, {**options, "text_field": text, "id_field": id})


@documented(FilesTableOptions)
def join_files(
    left: Path, right: Path, output: Path, *, left_id: str | None = None, right_id: str | None = None, **options: Unpack[FilesTableOptions]
) -> Summary:
    """Find the records of two tables that belong together, and write the file output, CSV, as ``alike join`` does.

    A table is a file, or a folder or prefix of files. left_id, right_id and field are as for join; everything else
    is as for dedup_files.
    """
    check("join_files", options, FilesTableOptions)
    return _on_files("join", [left, right], output, {**options, "left_id": left_id, "right_id": right_id})


def _asked(
    command: str, known: type, options: Mapping[str, Any], df: DataFrame, text: str | None, id: str | None, also: Mapping[str, Any] = {}
) -> tuple[Callable[[Sequence[int], Path | None], Plan], Callable[[Plan, int], list[Column]], Column]:
    """Check the arguments of a call. Return functions for the plan and for the columns to pass in, and the usable rows.

    also: more options of a plan of texts.
    """
    if of_records(options, text):
        check(command, options, known)
        check_field(_Columns(df), options.get("keep"))
        sample = _sample(df, id)
        return lambda parts, work: make_record_plan(command, [sample], parts, options, work), _record_columns(df), F.lit(True)
    asked = settle(command, known, options, _Columns(df), text, id)
    small = _size(df) <= SMALL
    return (
        lambda parts, work: make_plan(command, parts[0], {**asked.plan, **also}, work, small),
        lambda *_: _text_columns(asked),
        _usable(asked),
    )


def _record_columns(*frames: DataFrame) -> Callable[[Plan, int], list[Column]]:
    """Return a function from a plan and the number of a table to the columns to pass in."""

    def columns(plan: Plan, side: int) -> list[Column]:
        there = frames[side].columns
        return [(_column(name) if name in there else F.lit(None)).cast("string") for name in record_fields(plan, side)]

    return columns


class _Columns(Schema):
    """The columns of a DataFrame."""

    def __init__(self, df: DataFrame) -> None:
        self.schema = df.schema
        check_names(df.columns)

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
    session = _own(SparkSession.getActiveSession() or SparkSession.builder.getOrCreate(), SETTINGS)
    try:
        with _errors_of_tasks():
            for stage in plan.stages:
                tasks = session.range(0, stage.tasks, 1, stage.tasks)
                with _described(session, command, stage.name):
                    said = tasks.mapInArrow(_on_file(plan, stage), "said string").collect()
        summary: Summary = json.loads(said[0].said)
        warn_of_skipped(summary, 3)
        return summary
    finally:
        made = json.loads(plan.text)
        if "://" not in made["work"]:
            shutil.rmtree(os.path.join(made["work"], made["digest"]), ignore_errors=True)
            with suppress(OSError):  # it is not removed if other files are in it
                os.rmdir(made["work"])


def _seen_anywhere(path: Path) -> str:
    """Return a path that does not depend on the working folder of a process."""
    where = os.fspath(path)
    return where if "://" in where else os.path.abspath(where)


def _sample(df: DataFrame, id: str | None) -> Sample:
    """Return the first rows of a table, from which columns are chosen."""
    names = _Columns(df).names()
    simple = [str(name) for name in names if not isinstance(df.schema[str(name)].dataType, (ArrayType, MapType, StructType))]
    if id not in (None, "-", *simple):
        raise UsageError(f"there is no column {id!r} with ids: the columns are {', '.join(map(repr, names))}")
    if not simple:
        raise UsageError("a table has no columns to compare")
    rows = df.select(*(_column(name).cast("string") for name in simple)).limit(SAMPLE).collect()
    return Sample(simple, [tuple(row) for row in rows], id)


def _usable(asked: Settled) -> Column:
    """Return the condition that a row has a text, and that it is not too long."""
    text = _column(asked.text)
    return text.isNotNull() & (F.octet_length(text) <= asked.longest)


def _text_columns(asked: Settled) -> list[Column]:
    """Return the columns of documents. A row without a usable text gets an empty text and no name."""
    usable = _usable(asked)
    fields = [F.when(usable, _column(asked.text)).otherwise("")]
    if asked.field is not None:
        fields.append(_column(asked.field).cast("string"))
    name = F.lit(None) if asked.id is None else F.when(usable, _column(asked.id))
    return [*fields, name.cast("string")]


def _pair_schema(plan: Plan) -> str:
    return ", ".join(f"{_quoted(field.name)} {field.type}" for field in pair_schema(plan))


def _with_types(found: DataFrame, kinds: Sequence[Any]) -> DataFrame:
    """Cast the ids, the first two columns, to their types."""
    ids = [
        F.col(name) if isinstance(kind, StringType) else F.expr(f"try_cast({_quoted(name)} as {kind.simpleString()})").alias(name)
        for name, kind in zip(found.columns, kinds, strict=False)
    ]
    return found.select(*ids, *(_column(name) for name in found.columns[2:]))


Reader = Callable[[Plan, Iterable[Row]], "Batches"]


class _Run:
    """A run over DataFrames.

    tables are the DataFrames with numbered rows. again: the caller reads them again after the run. The passes are
    queries of sessions of the run's own, so that no setting of the caller's changes, whatever else runs in it.
    """

    def __init__(self, command: str, frames: Sequence[DataFrame], stable: bool, work: Path | None, again: bool = False) -> None:
        self.command = command
        self.caller = frames[0].sparkSession
        self.session = _own(self.caller, SETTINGS)
        self.packing = _own(self.caller, SETTINGS | PACKING)
        self.tables = [df.withColumn(ROW, F.monotonically_increasing_id()) for df in frames]
        self.work, self.own_work = work, False
        if work is None and _one_machine(self.caller):
            self.work, self.own_work = tempfile.gettempdir(), True
        if not stable and (again or self.work is None):
            self.tables = [_kept(table) for table in self.tables]

    def result(
        self,
        plan: Callable[[Sequence[int], Path | None], Plan],
        documents: Callable[[Plan, int], list[Column]],
        read: Reader,
        schema: Callable[[Plan], str],
    ) -> tuple[Plan, DataFrame]:
        """Make the plan, run all its stages, and apply read to the blocks of the last one.

        plan makes the plan from the numbers of parts and the place for blocks. documents returns the columns of a
        table to pass in, as strings.
        """
        with _errors_of_tasks():
            parts = [_parts(_within(self.packing, table)) for table in self.tables]
            work = None if self.work is None else _below(self.work)
            made = plan([max(n, 1) for n in parts], work)
            if not all(parts):
                return made, self.caller.createDataFrame([], schema(made))
            if work is None:
                return made, _within(self.caller, self._by_blocks(made, parts, documents, read, schema(made)))
            try:
                return made, _within(self.caller, self._in_place(made, parts, documents, read, schema(made)))
            finally:
                if self.own_work:
                    shutil.rmtree(work, ignore_errors=True)

    def _packed(
        self, parts: Sequence[int], documents: Callable[[Plan, int], list[Column]], plan: Plan, run: Any, schema: str
    ) -> list[DataFrame]:
        """Return a frame for each table that packs it. run makes the function for it, from its first part and number of parts."""
        packed, first = [], 0
        for side, (table, n) in enumerate(zip(self.tables, parts, strict=True)):
            rows = table.select(ROW, *(column.alias(f"c{i}") for i, column in enumerate(documents(plan, side))))
            packed.append(_within(self.packing, rows).mapInArrow(run(first, n), schema))
            first += n
        return packed

    def _in_place(
        self, plan: Plan, parts: Sequence[int], documents: Callable[[Plan, int], list[Column]], read: Reader, schema: str
    ) -> DataFrame:
        """Run the stages of a plan that has a place for blocks."""
        for table in self._packed(parts, documents, plan, lambda first, n: _pack(plan, first, n), "said string"):
            with self._described("pack"):
                table.collect()
        *others, last = plan.stages
        for stage in others:
            with self._described(stage.name):
                said = self._tasks(stage).mapInArrow(_on_file(plan, stage), "said string").collect()
            if stage.name == "match":
                log_report(said[0].said)
        with self._described(last.name):
            return _materialized(self._tasks(last).mapInArrow(_last(plan, last, read), schema))

    def _described(self, stage: str) -> AbstractContextManager[None]:
        return _described(self.session, self.command, stage)

    def _tasks(self, stage: Stage) -> DataFrame:
        return self.session.range(0, stage.tasks, 1, stage.tasks)

    def _by_blocks(
        self, plan: Plan, parts: Sequence[int], documents: Callable[[Plan, int], list[Column]], read: Reader, schema: str
    ) -> DataFrame:
        """Run the stages of a plan whose blocks Spark moves, as rows."""
        kept: list[DataFrame] = []
        made: dict[str, DataFrame] = {}
        first, *others, last = plan.stages
        try:
            # The first stage reads documents only, so one pass packs them and runs it.
            for table in self._packed(parts, documents, plan, lambda at, n: _first(plan, first, at, n), BLOCKS):
                with self._described(f"pack, {first.name}"):
                    kept.append(_materialized(table))
            made[first.name] = _within(self.session, reduce(DataFrame.unionAll, kept))
            written = dict.fromkeys((plan.streams["documents"], *first.writes), first.name)
            for stage in others:
                given = self._given(plan, stage, made, written)
                with self._described(stage.name):
                    made[stage.name] = _materialized(given.mapInArrow(_later(plan, stage, lambda _, rows: _blocks(rows)), BLOCKS))
                kept.append(made[stage.name])
                if stage.name == "match":
                    for row in made[stage.name].where(F.col("stream") == plan.streams["told"]).collect():
                        log_report(bytes(next(payloads(row.block))))
                written.update(dict.fromkeys(stage.writes, stage.name))
            given = self._given(plan, last, made, written)
            with self._described(last.name):
                return _materialized(given.mapInArrow(_later(plan, last, read), schema))
        finally:
            for frame in kept:
                frame.unpersist()

    def _given(self, plan: Plan, stage: Stage, made: dict[str, DataFrame], written: dict[int, str]) -> DataFrame:
        """Return the blocks that the tasks of a stage read. The blocks of task I are in partition I."""
        wanted = [*stage.reads, plan.streams["documents"]] if stage.documents else list(stage.reads)
        by_source: dict[str, list[int]] = {}
        for stream in wanted:
            by_source.setdefault(written[stream], []).append(stream)
        # A task by documents must run even without any block, so each gets an empty row.
        given = self.session.range(stage.tasks if stage.documents else 0, numPartitions=1).selectExpr(
            "0 as stream", "cast(id as int) as partition", "cast(null as binary) as block"
        )
        for source, streams in by_source.items():
            given = given.unionAll(made[source].where(F.col("stream").isin(streams)))
        spread = getattr(given, "repartitionById", given.repartition)  # PySpark before 4.1 may put several tasks into one partition
        return spread(stage.tasks, F.col("partition")).sortWithinPartitions("partition")


def _parts(rows: DataFrame) -> int:
    """Return the number of partitions of numbered rows. Empty ones at the end may be left out."""
    try:
        return int(rows.rdd.getNumPartitions())
    except (PySparkException, AttributeError):  # Spark Connect has no RDDs
        last = rows.agg(F.max(ROW)).first()
        return 0 if last is None or last[0] is None else int(last[0] >> 33) + 1


def _size(df: DataFrame) -> float:
    """Return how many bytes Spark believes the rows to have, far more if it does not know. Spark Connect does not say."""
    if _connected(df.sparkSession):
        return math.inf
    return float(str(df._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))


def _one_machine(session: SparkSession) -> bool:
    """Tell whether all tasks run on this machine."""
    return re.fullmatch(r"local(\[.*\])?", session.conf.get("spark.master", "") or "") is not None


def _below(work: Path) -> str:
    """Return a new folder below work, for this run only."""
    return f"{_seen_anywhere(work).rstrip('/')}/alike-{uuid.uuid4().hex}"


def _column(name: str) -> Column:
    """Return a column by its name, which may contain dots."""
    return F.col(_quoted(name))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _kept(frame: DataFrame) -> DataFrame:
    """Have Spark keep a frame on the executors' disks, once it is computed. Spark computes a lost part of it again."""
    try:
        return frame.persist(StorageLevel.DISK_ONLY)
    except PySparkException as e:
        if "SERVERLESS" not in str(e):
            raise
        raise AlikeError(
            "serverless compute keeps no rows between queries, which alike.spark needs: take a cluster with access to Spark itself "
            f"(of Databricks one of access mode dedicated), or files and the command alike. Spark says: {e}"
        ) from e


def _materialized(frame: DataFrame) -> DataFrame:
    """Compute a frame, and keep it on the executors' disks."""
    frame = _kept(frame)
    try:
        frame.count()
    except BaseException:
        frame.unpersist()
        raise
    return frame


def _connected(session: SparkSession) -> bool:
    """Tell whether a session is one of Spark Connect, which has no objects of Java."""
    return not hasattr(session, "_jsparkSession")


def _own(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Return a session with all that is set in this one, and with these settings.

    One of Spark Connect is returned as it is: what another one has cached is not found there.
    """
    if _connected(session):
        return session
    with MAKING:
        to_frame = RDD.toDF  # a new session takes this over
        own = SparkSession(session.sparkContext, session._jsparkSession.cloneSession())
        RDD.toDF = to_frame
    for name, value in settings.items():
        own.conf.set(name, value)
    return own


MAKING = threading.Lock()  # held while a session is made


def _within(session: SparkSession, frame: DataFrame) -> DataFrame:
    """Return a frame as a query of another session, with the settings of that one. What is cached is so in both."""
    if _connected(session):
        return frame
    java = frame._jdf
    dataset = reduce(getattr, java.getClass().getName().split("."), session.sparkContext._jvm)  # another one in Spark 3 than in 4
    return DataFrame(dataset.ofRows(session._jsparkSession, java.queryExecution().analyzed()), session)


@contextmanager
def _described(session: SparkSession, command: str, stage: str) -> Iterator[None]:
    """Have Spark's UI say what the jobs within the context are for. Spark Connect has no such descriptions."""
    if _connected(session):
        yield
        return
    context = session.sparkContext
    before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(f"alike {command}: {stage}")
    try:
        yield
    finally:
        context.setLocalProperty("spark.job.description", before)


@contextmanager
def _errors_of_tasks() -> Iterator[None]:
    """Raise the error that a task raised, in place of Spark's error about it."""
    try:
        yield
    except PySparkException as e:
        said = re.search(r"^(?:alike\._errors\.)(AlikeError|UsageError): (.+)", str(e), re.M)
        if said is None:
            raise
        raise getattr(_errors, said[1])(said[2]) from e


# The functions below run on the executors.


@cache  # once in a process
def _loaded() -> None:
    """Exclude the objects that a worker has loaded from garbage collection.

    PySpark collects garbage after each task. With all these objects that takes some 55 ms of processor time, more than
    the rest of a small task, and a run has dozens of tasks.
    """
    gc.freeze()


def _first(plan: Plan, stage: Stage, first: int, parts: int) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        part = _part()
        if part < parts:  # later partitions have no rows
            yield from _blocks(pack_and_run(plan, stage, first + part, _pieces(batches, part)))

    return run


def _pack(plan: Plan, first: int, parts: int) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        part = _part()
        if part < parts:
            for _ in pack(plan, first + part, _pieces(batches, part)):
                pass
        yield from ()

    return run


def _part() -> int:
    """Return the number of the partition of this task."""
    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def _pieces(batches: Batches, part: int) -> Iterator[Any]:
    """Yield the documents of a partition as pieces of columns, without copies."""
    number = part << 33
    for batch in batches:
        if not batch.num_rows:
            continue
        rows, *documents = batch.columns
        if rows[0].as_py() != number or rows[-1].as_py() != number + batch.num_rows - 1:
            raise AlikeError("Spark has numbered rows in another way than was expected: partitions have changed on the way")
        number += batch.num_rows
        yield from columns(documents)


def _on_file(plan: Plan, stage: Stage) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        import pyarrow

        _loaded()
        for batch in batches:
            said = [run_in_place(plan, stage, task) for task in batch.column(0).to_pylist()]
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array(said, pyarrow.string())], ["said"])

    return run


def _last(plan: Plan, stage: Stage, read: Reader) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from read(plan, run_last(plan, stage, task))

    return run


def _later(plan: Plan, stage: Stage, read: Reader) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        _loaded()
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
    """Yield the numbers of the rows to leave out, as Spark numbers rows."""
    import pyarrow

    for stream, _, block in rows:
        if stream == plan.streams["drops"]:
            numbers = [position >> 32 << 33 | position & 0xFFFFFFFF for position in positions(block)]
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array(numbers, pyarrow.int64())], [ROW])


def _tags(names: list[str], plan: Plan, rows: Iterable[Row]) -> Batches:
    """Yield the numbers of rows, as Spark numbers them, and their tags."""
    import pyarrow

    found = [(position >> 32 << 33 | position & 0xFFFFFFFF, *tag) for position, tag in tags(plan, rows)]
    if found:
        kinds = (pyarrow.int64(), pyarrow.string(), pyarrow.int64(), pyarrow.string(), pyarrow.float64())
        arrays = [pyarrow.array(values, kind) for values, kind in zip(zip(*found, strict=True), kinds, strict=True)]
        yield pyarrow.RecordBatch.from_arrays(arrays, [ROW, *names])
