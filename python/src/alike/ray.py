"""alike on Ray: from Dataset to Dataset.

    from alike import ray
    kept = ray.dedup(dataset)                     # the rows without near-duplicates
    marked = ray.dedup(dataset, mask=True)        # all rows, with a column "kept"
    tagged = ray.tag(dataset)                     # all rows, with what dedup would do with each
    found = ray.pairs(dataset, id="url")          # every pair of similar documents: a, b, similarity
    links = ray.join(products, catalogue)  # the records of two tables that belong together

Results are those of the command with ``--candidates lsh``. Ray schedules and retries tasks, and moves and
spills data; the program, a child process of Ray's workers, does the work. This package must be installed
on all nodes. Needs Ray 2 with Ray Data.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.compute as pc
import ray
import ray.data

from ._errors import AlikeError, UsageError
from ._options import check, documented
from ._rows import Schema
from ._stages import (
    KEPT,
    SAMPLE,
    EngineDedupOptions,
    EngineOptions,
    EngineTableOptions,
    Plan,
    Row,
    Sample,
    Settled,
    Stage,
    Values,
    check_mask,
    check_tags,
    columns,
    make_plan,
    make_record_plan,
    of_records,
    pack_and_run,
    pair_schema,
    pair_tables,
    positions,
    record_fields,
    run_task,
    settle,
    tags,
)

if TYPE_CHECKING:
    from ray.data import Dataset
    from typing_extensions import Unpack

RETRIES = 3  # of a failed task, besides retries after the loss of a node

Part = tuple[int, int]  # stream, partition: a task returns an object for each


@documented(EngineDedupOptions)
def dedup(
    data: Dataset, *, text: str | None = None, id: str | None = None, mask: bool = False, **options: Unpack[EngineDedupOptions]
) -> Dataset:
    """Keep one document of every cluster of near-duplicates.

    Return the kept rows, in their order; with ``mask`` all rows, with a column "kept" that says whether each is
    kept. The first document is the first row.

    text: the column with the texts; default "text", or the only one with strings.
    id: the column with the ids; default "id", if there is one; "-" for none. If rows have the same
        id, all but the first are left out, as the command does.
    partitions: tasks of the stages that divide rows by hashes; default: the number of blocks of data.

    Rows without a text, or with one of more than max_record bytes, are left out.
    """
    columns = _Columns(data)
    check_mask(mask, columns.names())
    _refuse_records(options, text)
    asked = settle("dedup", EngineDedupOptions, options, columns, text, id)
    blocks = data.to_arrow_refs()
    plan = make_plan("dedup", max(len(blocks), 1), asked.plan)
    results = _run(plan, [(partial(_text_columns, asked), block) for block in blocks])
    keep = ray.remote(_keep)
    return ray.data.from_arrow_refs([keep.remote(plan, asked, mask, block, drops) for block, drops in zip(blocks, results, strict=True)])


@documented(EngineDedupOptions)
def tag(
    data: Dataset, *, text: str | None = None, id: str | None = None, prefix: str = "", **options: Unpack[EngineDedupOptions]
) -> Dataset:
    """Say of every row what dedup would do with it, and remove nothing.

    Return all rows, in their order, with four more columns: cluster (the id of its first row; a row that is alone has its
    own), cluster_size, duplicate_of (the id of the row that dedup would keep instead; None for one that it keeps) and
    similarity to that row. Ids are strings; a row without one is named as by pairs. A row that dedup leaves out has the
    cluster_size 0, and nothing else.

    prefix stands before the names of the columns. Everything else is as for dedup.
    """
    columns = _Columns(data)
    names = check_tags(prefix, columns.names())
    _refuse_records(options, text)
    asked = settle("dedup", EngineDedupOptions, options, columns, text, id)
    blocks = data.to_arrow_refs()
    plan = make_plan("dedup", max(len(blocks), 1), {**asked.plan, "tag": True})
    results = _run(plan, [(partial(_text_columns, asked), block) for block in blocks])
    tagged = ray.remote(_tagged)
    return ray.data.from_arrow_refs([tagged.remote(plan, names, block, made) for block, made in zip(blocks, results, strict=True)])


@documented(EngineOptions)
def pairs(data: Dataset, *, text: str | None = None, id: str | None = None, **options: Unpack[EngineOptions]) -> Dataset:
    """List every pair of similar documents: ids a and b, where a is the earlier document, and similarity.

    Ids are strings. A row without an id is named by its place, "BLOCK:ROW", with blocks from 0 and
    rows from 1 on. Everything else is as for dedup.
    """
    _refuse_records(options, text)
    asked = settle("pairs", EngineOptions, options, _Columns(data), text, id)
    blocks = data.to_arrow_refs()
    plan = make_plan("pairs", max(len(blocks), 1), asked.plan)
    return _found(plan, _run(plan, [(partial(_text_columns, asked), block) for block in blocks]))


@documented(EngineTableOptions)
def join(
    left: Dataset, right: Dataset, *, left_id: str | None = None, right_id: str | None = None, **options: Unpack[EngineTableOptions]
) -> Dataset:
    """Find the records of two tables that belong together: left_id, right_id, similarity, and the similarity of each column.

    The links are those of ``alike join`` with the same options, in the order of the left table. With match="all",
    candidates="lsh" and a threshold, many tasks share the work, because each pair is decided by itself. Otherwise
    decisions depend on all candidates: many tasks read the tables, and one decides, in memory (10 million records in
    2 GiB). A column's similarity is None where a value is missing. Ids are strings.

    left_id, right_id: the columns with the ids, which are not compared; default "id", else the first one; "-" numbers
        the rows from 1 on.
    field: the columns to compare, "name", "left=right:weight:tokens" or a list of these; default: all that correspond, by
        the first 5,000 rows. Values are compared as Arrow casts them to strings; lists, maps and structs are left out.
    partitions: tasks of the stages that divide rows by hashes; default: the number of blocks of both tables.
    """
    check("join", options, EngineTableOptions)
    samples = [_sample(data, id) for data, id in ((left, left_id), (right, right_id))]
    blocks = [data.to_arrow_refs() for data in (left, right)]
    plan = make_record_plan("join", samples, [max(len(of), 1) for of in blocks], options)
    tables = json.loads(plan.text)["tables"]
    if not all(blocks):
        return ray.data.from_arrow(pair_schema(plan).empty_table())
    fields = [record_fields(plan, side) for side in range(len(tables))]
    return _found(plan, _run(plan, [(partial(_fields, names), block) for names, of in zip(fields, blocks, strict=True) for block in of]))


def _refuse_records(options: Mapping[str, Any], text: str | None) -> None:
    if of_records(options, text):
        raise UsageError("records of one table are compared by alike.spark, or on one machine by alike.dedup: leave records and field out")


def _sample(data: Dataset, id: str | None) -> Sample:
    """Return the first rows of a table, from which columns are chosen."""
    kinds = _Columns(data).kinds
    simple = [name for name, kind in kinds.items() if not pyarrow.types.is_nested(kind)]
    if id not in (None, "-", *simple):
        raise UsageError(f"there is no column {id!r} with ids: the columns are {', '.join(map(repr, kinds))}")
    if not simple:
        raise UsageError("a table has no columns to compare")
    rows: list[tuple[str | None, ...]] = []
    for batch in data.limit(SAMPLE).iter_batches(batch_format="pyarrow", batch_size=None):
        values = [_strings(batch.column(name).combine_chunks()).to_pylist() for name in simple]
        rows += zip(*values, strict=True)
    return Sample(simple, rows, id)


def _found(plan: Plan, results: Sequence[Any]) -> Dataset:
    """Return the pairs that the tasks of the last stage found."""
    table = ray.remote(_pairs)
    return ray.data.from_arrow_refs([table.remote(plan, result) for result in results])


class _Columns(Schema):
    """The columns of a Dataset."""

    def __init__(self, data: Dataset) -> None:
        schema = data.schema()
        self.kinds: dict[str, Any] = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))

    def names(self) -> Sequence[Hashable]:
        return list(self.kinds)

    def strings(self) -> Sequence[Hashable]:
        return [name for name, kind in self.kinds.items() if _is_text(kind)]

    def wrong(self, text: Hashable) -> str | None:
        kind = self.kinds[str(text)]
        return None if _is_text(kind) else f"values of type {kind}"


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view", "object", "str")


Documents = Callable[[pyarrow.Table], Iterator[Any]]  # turns a block of rows into pieces of columns


def _run(plan: Plan, parts: Sequence[tuple[Documents, Any]]) -> list[Any]:
    """Run all stages over blocks of rows. Return references to the results of the tasks of the last stage.

    An object holds the alike blocks of one task, stream and partition.
    """
    if not parts:
        return []
    documents = plan.streams["documents"]
    readers = {stream: stage.tasks for stage in plan.stages for stream in stage.reads}
    made: dict[Part, list[Any]] = defaultdict(list)
    first, *others, last = plan.stages

    def start(function: Any, task: int, stage: Stage, *given: Any) -> None:
        makes = [(stream, partition) for stream in stage.writes for partition in range(readers.get(stream, 0))]
        if stage is first:  # it packs the documents of the task too
            makes.append((documents, task))
        returned = _remote(function, len(makes)).remote(plan, stage, task, makes, *given)
        for part, reference in zip(makes, [returned] if len(makes) == 1 else returned, strict=True):
            made[part].append(reference)

    def given(stage: Stage, task: int) -> list[Any]:
        wanted = (*stage.reads, documents) if stage.documents else stage.reads
        return [reference for stream in wanted for reference in made[stream, task]]

    for task, (documents_of, block) in enumerate(parts):
        start(_first, task, first, documents_of, block)
    for stage in others:
        for task in range(stage.tasks):
            start(_later, task, stage, *given(stage, task))
    results = [_remote(_last, 2).remote(plan, last, task, *given(last, task)) for task in range(last.tasks)]
    try:
        ray.get([done for _, done in results])
    except ray.exceptions.RayTaskError as e:
        if isinstance(e.cause, AlikeError):
            raise e.cause from e
        raise
    return [result for result, _ in results]


def _remote(function: Any, returns: int) -> Any:
    return ray.remote(max_retries=RETRIES, retry_exceptions=True, num_returns=returns)(function)


# The functions below run on the nodes.


def _first(plan: Plan, stage: Stage, task: int, parts: Sequence[Part], documents: Documents, block: pyarrow.Table) -> Any:
    return _sorted(pack_and_run(plan, stage, task, documents(block)), parts)


def _later(plan: Plan, stage: Stage, task: int, parts: Sequence[Part], *given: list[bytes]) -> Any:
    return _sorted(run_task(plan, stage, task, (block for blocks in given for block in blocks)), parts)


def _sorted(rows: Iterator[Row], parts: Sequence[Part]) -> Any:
    """Return the blocks of a task, an object for each part. Blocks of streams that no stage reads are left out."""
    made: dict[Part, list[bytes]] = {part: [] for part in parts}
    for stream, partition, block in rows:
        if (stream, partition) in made:
            made[stream, partition].append(block)
    return list(made.values()) if len(made) > 1 else made[parts[0]]


def _last(plan: Plan, stage: Stage, task: int, *given: list[bytes]) -> tuple[list[Row], None]:
    return list(run_task(plan, stage, task, (block for blocks in given for block in blocks))), None


def _usable(asked: Settled, text: Any) -> bool:
    return isinstance(text, str) and len(text.encode("utf-8", "surrogatepass")) <= asked.longest


def _text_columns(asked: Settled, block: pyarrow.Table) -> Iterator[Any]:
    """Yield the documents of a block. A row without a usable text gets an empty text and no name."""
    for batch in _arrow(block).to_batches(max_chunksize=1 << 10):
        texts = _strings(batch.column(asked.text))
        good = pc.fill_null(pc.less_equal(pc.binary_length(texts), asked.longest), False)
        none = pyarrow.nulls(len(batch), pyarrow.string())
        documents = [pc.if_else(good, texts, "")]
        if asked.field is not None:
            documents.append(_strings(batch.column(asked.field)))
        documents.append(none if asked.id is None else pc.if_else(good, _strings(batch.column(asked.id)), none))
        yield from columns(documents)


def _fields(names: Sequence[str], block: pyarrow.Table) -> Iterator[Any]:
    """Yield the records of a block."""
    for batch in _arrow(block).to_batches(max_chunksize=1 << 10):
        there, none = batch.schema.names, pyarrow.nulls(len(batch), pyarrow.string())
        yield from columns([_strings(batch.column(name)) if name in there else none for name in names])


def _strings(values: pyarrow.Array) -> pyarrow.Array:
    """Return values as strings."""
    try:
        return values.cast(pyarrow.string())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):  # Arrow cannot cast this type
        return pyarrow.array([None if value is None else str(value) for value in values.to_pylist()], pyarrow.string())


def _arrow(block: Any) -> pyarrow.Table:
    return block if isinstance(block, pyarrow.Table) else pyarrow.Table.from_pandas(block, preserve_index=False)


def _keep(plan: Plan, asked: Settled, mask: bool, block: pyarrow.Table, made: list[Row]) -> pyarrow.Table:
    """Return the kept rows of a block, or all of them with a mask."""
    table = _arrow(block)
    kept = bytearray(_usable(asked, text) for text in table.column(asked.text).to_pylist())
    for stream, _, drops in made:
        if stream == plan.streams["drops"]:
            for position in positions(drops):
                kept[position & 0xFFFFFFFF] = 0
    column = pyarrow.array(memoryview(kept).cast("?").tolist(), pyarrow.bool_())
    return table.append_column(KEPT, column) if mask else table.filter(column)


def _tagged(plan: Plan, names: list[str], block: pyarrow.Table, made: list[Row]) -> pyarrow.Table:
    """Return the rows of a block with their tags."""
    table = _arrow(block)
    values: list[Values] = [(None, 0, None, None)] * len(table)
    for position, tag in tags(plan, made):
        values[position & 0xFFFFFFFF] = tag
    kinds = (pyarrow.string(), pyarrow.int64(), pyarrow.string(), pyarrow.float64())
    for i, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        table = table.append_column(name, pyarrow.array([value[i] for value in values], kind))
    return table


def _pairs(plan: Plan, made: list[Row]) -> pyarrow.Table:
    return pyarrow.Table.from_batches(pair_tables(plan, made), pair_schema(plan))
