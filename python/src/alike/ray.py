"""alike on Ray: from Dataset to Dataset.

    from alike import ray
    kept = ray.dedup(dataset)                     # the rows without near-duplicates
    marked = ray.dedup(dataset, mask=True)        # all rows, with a column "kept"
    found = ray.pairs(dataset, id="url")          # every pair of similar documents: a, b, similarity

Results are those of the command with ``--candidates lsh``. Ray moves, spills, schedules and
tries again; the work is done by the program, which runs as a child of Ray's workers. This
package must be installed on all nodes. Needs Ray 2 with Ray Data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow
import ray
import ray.data

from ._errors import AlikeError
from ._options import documented
from ._rows import Schema, json_text, json_value
from ._stages import (
    FIELD,
    ID,
    KEPT,
    TEXT,
    EngineDedupOptions,
    EngineOptions,
    Plan,
    Row,
    Settled,
    Stage,
    check_mask,
    make_plan,
    pack_and_run,
    pair_schema,
    pair_tables,
    positions,
    run_task,
    settle,
)

if TYPE_CHECKING:
    from ray.data import Dataset
    from typing_extensions import Unpack

RETRIES = 3  # of a task that has failed, beside those of lost nodes

Part = tuple[int, int]  # stream, partition: an object for each that a task can write


@documented(EngineDedupOptions)
def dedup(
    data: Dataset, *, text: str | None = None, id: str | None = None, mask: bool = False, **options: Unpack[EngineDedupOptions]
) -> Dataset:
    """Keep one document of every cluster of near-duplicates.

    Return the rows that are kept, in their order; with ``mask`` all rows, and whether each is
    kept in a column "kept". The first document is the first row.

    text: the column with the texts; else "text", or the only one with strings.
    id: the column with the ids; else "id", if it is there; "-" for none. Of rows with the same
        id all but the first are left out, as the command does.
    partitions: tasks of the stages that go by hashes; else as many as data has blocks.

    Rows without a text, or with one of more than max_record bytes, are left out.
    """
    columns = _Columns(data)
    check_mask(mask, columns.names())
    asked = settle("dedup", EngineDedupOptions, options, columns, text, id)
    blocks = data.to_arrow_refs()
    plan, results = _run("dedup", blocks, asked)
    keep = ray.remote(_keep)
    return ray.data.from_arrow_refs([keep.remote(plan, asked, mask, block, drops) for block, drops in zip(blocks, results, strict=True)])


@documented(EngineOptions)
def pairs(data: Dataset, *, text: str | None = None, id: str | None = None, **options: Unpack[EngineOptions]) -> Dataset:
    """List every pair of similar documents: ids a and b, a being the earlier one, and similarity.

    Ids are strings. A row without one is named by its place, "BLOCK:ROW", with blocks from 0 and
    rows from 1 on. Everything else is as for dedup.
    """
    asked = settle("pairs", EngineOptions, options, _Columns(data), text, id)
    plan, results = _run("pairs", data.to_arrow_refs(), asked)
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


def _run(command: str, blocks: Sequence[Any], asked: Settled) -> tuple[Plan, list[Any]]:
    """Run all stages over blocks of rows. Return references to what each task of the last one has made.

    An object holds the blocks that a task makes of a stream for a partition.
    """
    plan = make_plan(command, max(len(blocks), 1), asked.plan)
    if not blocks:
        return plan, []
    documents = plan.streams["documents"]
    readers = {stream: stage.tasks for stage in plan.stages for stream in stage.reads}
    made: dict[Part, list[Any]] = defaultdict(list)
    first, *others, last = plan.stages

    def start(function: Any, task: int, stage: Stage, *given: Any) -> None:
        parts = [(stream, partition) for stream in stage.writes for partition in range(readers.get(stream, 0))]
        if stage is first:  # which packs the documents of the task too
            parts.append((documents, task))
        returned = _remote(function, len(parts)).remote(plan, stage, task, parts, *given)
        for part, reference in zip(parts, [returned] if len(parts) == 1 else returned, strict=True):
            made[part].append(reference)

    def given(stage: Stage, task: int) -> list[Any]:
        wanted = (*stage.reads, documents) if stage.documents else stage.reads
        return [reference for stream in wanted for reference in made[stream, task]]

    for task, block in enumerate(blocks):
        start(_first, task, first, asked, block)
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
    return plan, [result for result, _ in results]


def _remote(function: Any, returns: int) -> Any:
    return ray.remote(max_retries=RETRIES, retry_exceptions=True, num_returns=returns)(function)


# What follows runs on the nodes.


def _first(plan: Plan, stage: Stage, task: int, parts: Sequence[Part], asked: Settled, block: pyarrow.Table) -> Any:
    return _sorted(pack_and_run(plan, stage, task, _lines(asked, block)), parts)


def _later(plan: Plan, stage: Stage, task: int, parts: Sequence[Part], *given: list[bytes]) -> Any:
    return _sorted(run_task(plan, stage, task, (block for blocks in given for block in blocks)), parts)


def _sorted(rows: Iterator[Row], parts: Sequence[Part]) -> Any:
    """Return what a task has made, an object for each part; of streams that nobody reads, nothing."""
    made: dict[Part, list[bytes]] = {part: [] for part in parts}
    for stream, partition, block in rows:
        if (stream, partition) in made:
            made[stream, partition].append(block)
    return list(made.values()) if len(made) > 1 else made[parts[0]]


def _last(plan: Plan, stage: Stage, task: int, *given: list[bytes]) -> tuple[list[Row], None]:
    return list(run_task(plan, stage, task, (block for blocks in given for block in blocks))), None


def _usable(asked: Settled, text: Any) -> bool:
    return isinstance(text, str) and len(text.encode("utf-8", "surrogatepass")) <= asked.longest


def _lines(asked: Settled, block: pyarrow.Table) -> Iterator[bytes]:
    """Yield documents as lines of JSON. A row without a usable text has an empty one, and no name."""
    for batch in _arrow(block).to_batches(max_chunksize=1 << 10):
        texts = batch.column(asked.text).to_pylist()
        ids = [None] * len(texts) if asked.id is None else batch.column(asked.id).to_pylist()
        fields = [None] * len(texts) if asked.field is None else batch.column(asked.field).to_pylist()
        for text, id, field in zip(texts, ids, fields, strict=True):
            good = _usable(asked, text)
            name = str(id) if good and id is not None else None
            line = f'{{"{TEXT}":{json_text(text if good else "")},"{ID}":{json_value(name)},"{FIELD}":{json_value(field)}}}\n'
            yield line.encode("utf-8", "surrogatepass")


def _arrow(block: Any) -> pyarrow.Table:
    return block if isinstance(block, pyarrow.Table) else pyarrow.Table.from_pandas(block, preserve_index=False)


def _keep(plan: Plan, asked: Settled, mask: bool, block: pyarrow.Table, made: list[Row]) -> pyarrow.Table:
    """Return the rows of a block that are kept, or all with a mask."""
    table = _arrow(block)
    kept = bytearray(_usable(asked, text) for text in table.column(asked.text).to_pylist())
    for stream, _, drops in made:
        if stream == plan.streams["drops"]:
            for position in positions(drops):
                kept[position & 0xFFFFFFFF] = 0
    column = pyarrow.array(memoryview(kept).cast("?").tolist(), pyarrow.bool_())
    return table.append_column(KEPT, column) if mask else table.filter(column)


def _pairs(plan: Plan, made: list[Row]) -> pyarrow.Table:
    return pyarrow.Table.from_batches(pair_tables(plan, made), pair_schema())
