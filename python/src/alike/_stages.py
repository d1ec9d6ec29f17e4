"""The tasks of a plan, for engines that shuffle blocks: what alike.spark and alike.ray share.

An engine hands documents over in parts, as columns of strings, and keeps rows (stream, partition,
block), or has tasks leave blocks in a place that all of them see. A task reads the blocks that are for
it and makes others. docs/cluster.md has the format. Python looks into no block but those of results.
"""

from __future__ import annotations

import csv
import json
import logging
import os
import re
import struct
import subprocess
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any, Literal, TypedDict

from ._errors import UsageError
from ._options import JoinOptions, Path, SchemeOptions, SearchOptions, Size, TextOptions, arguments, check
from ._process import Program, end
from ._rows import Schema, check_field, choose_label, choose_text

Buffer = Any  # bytes, or what can be written as if it were
Row = tuple[int, int, bytes]  # stream, partition, block

# Names of the fields in plans, whatever columns are called.
TEXT, ID, FIELD = "text", "id", "field"
KEPT = "kept"  # column of a mask
SIDES = ("left", "right")
HEADER = 48  # bytes of a block before its rows
SAMPLE = 5000  # first rows of a table by which the program chooses columns


class EngineRecordOptions(TypedDict, total=False):
    """What is asked of the records of a table, in place of texts."""

    records: bool
    field: str | Sequence[str]
    config: Path
    idf: Literal["exact", "sketch", "none"]
    idf_epsilon: float
    idf_delta: float


class EngineOptions(SearchOptions, TextOptions, SchemeOptions, EngineRecordOptions, total=False):
    """Flags of ``alike plan`` that an engine's runs have."""

    memory: Size
    max_record: Size
    partitions: int


class EngineDedupOptions(EngineOptions, total=False):
    """Flags of ``alike plan dedup``."""

    keep: str


class FilesOptions(EngineOptions, total=False):
    """Flags of ``alike plan`` for runs over files."""

    work: Path
    format: Literal["jsonl", "csv", "tsv", "parquet", "lines", "text"]
    on_error: Literal["skip", "fail"]


class FilesDedupOptions(FilesOptions, EngineDedupOptions, total=False):
    """Flags of ``alike plan dedup`` for runs over files."""


class EngineTableOptions(JoinOptions, total=False):
    """Flags of ``alike plan join`` that an engine's joins have."""

    partitions: int
    with_: str | Sequence[str]


class FilesTableOptions(EngineTableOptions, total=False):
    """Flags of ``alike plan join`` for joins of files."""

    work: Path
    format: Literal["jsonl", "csv", "tsv", "parquet"]
    max_record: Size
    on_error: Literal["skip", "fail"]


@dataclass(frozen=True)
class Stage:
    """Tasks that know nothing of each other. Streams are numbers."""

    name: str
    tasks: int
    documents: bool  # task I reads the documents of part I
    reads: tuple[int, ...]
    writes: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """A plan, as the program has written it, and what it says."""

    text: bytes
    stages: tuple[Stage, ...]  # in the order in which they run
    streams: Mapping[str, int]  # their numbers by name


@dataclass(frozen=True)
class Settled:
    """What a call asks for."""

    text: str  # columns
    id: str | None
    field: str | None  # that a keep rule looks at
    longest: int  # bytes of a text
    plan: dict[str, Any]  # options of the plan


def settle(function: str, known: type, options: Mapping[str, Any], schema: Schema, text: str | None, id: str | None) -> Settled:
    """Check what a call asks for."""
    check(function, options, known)
    plan = {name: value for name, value in options.items() if value is not None}
    longest = size("max_record", plan.pop("max_record", "64MiB"))
    column, label = choose_text(schema, text, id), choose_label(schema, id)
    field = check_field(schema, plan.get("keep"))
    if field is not None:
        plan["keep"] = plan["keep"][:4] + FIELD
    if function == "pairs" and label is None:
        raise UsageError('pairs are told by ids, and there is no column "id": name the one with them, id=…')
    return Settled(str(column), None if label is None else str(label), field, longest, plan)


def check_mask(mask: bool, names: Sequence[Hashable]) -> None:
    """Refuse a mask over rows that have a column of its name."""
    if mask and KEPT in names:
        raise UsageError(f'there is a column "{KEPT}" already: rename it')


def size(name: str, value: Size) -> int:
    """Return a number of bytes, which may be given as "64MiB"."""
    match = re.fullmatch(r"(\d+) ?(?:([KMGT])(i?)B|B|)", str(value))
    if match is None or not int(match[1]):
        raise UsageError(f"{name} is {value!r}: take a number of bytes, such as 64MiB")
    power = "KMGT".index(match[2]) + 1 if match[2] else 0
    return int(match[1]) * int((1024 if match[3] else 1000) ** power)


def make_plan(command: str, parts: int, options: Mapping[str, Any], work: Path | None = None) -> Plan:
    """Plan a run over parts that an engine hands over, with as many partitions unless options say otherwise.

    work: where tasks leave documents and blocks for each other; else the engine moves them.
    """
    own = {"partitions": parts, **options, "text_field": TEXT, "id_field": ID, "work": work}
    return _without_publish(_planned(command, f"--engine={parts}", *arguments(own)))


@dataclass(frozen=True)
class Sample:
    """The first rows of a table, as strings."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | None]]
    id: str | None  # the column with the ids; "-" for none


def of_records(options: Mapping[str, Any], text: str | None) -> bool:
    """Tell whether records are asked about, and not texts."""
    if not (options.get("records") or options.get("field")):
        return False
    if text is not None:
        raise UsageError("text says nothing about records: field names the columns to compare")
    return True


def make_record_plan(
    command: str, tables: Sequence[Sample], parts: Sequence[int], options: Mapping[str, Any], work: Path | None = None
) -> Plan:
    """Plan a run over the records of tables in so many parts each. The columns that are compared are chosen by the samples."""
    own = {"partitions": sum(parts), **options, "work": work}
    ids = ["--left-id", "--right-id"] if command == "join" else ["--id-field"]
    flags = [f"{flag}={table.id}" for flag, table in zip(ids, tables, strict=True) if table.id is not None]
    if command != "join":
        flags.append("--records")
        own.pop("records", None)
    with tempfile.TemporaryDirectory(prefix="alike-") as folder:
        paths = [os.path.join(folder, side + ".csv") for side in SIDES[: len(tables)]]
        for path, table in zip(paths, tables, strict=True):
            with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                csv.writer(file).writerows([table.columns, *table.rows])
        plan = _planned(command, f"--engine={','.join(map(str, parts))}", *flags, *arguments(own), "--", *paths)
    return _without_publish(plan)


def record_fields(plan: Plan, side: int) -> list[str]:
    """Return the columns of a table to hand over. It need not have those that a join has of either table."""
    made = json.loads(plan.text)
    table, field = made["tables"][side], made["reading"].get("field")
    return [*table["fields"], *([field] if field else []), *([table["id_field"]] if table["id_field"] != "-" else [])]


def log_report(report: str | bytes) -> None:
    """Log what a join has found out, as the program says it."""
    for line in json.loads(report)["text"].splitlines():
        logging.getLogger("alike").info(line)


def _without_publish(plan: Plan) -> Plan:
    """Leave out the last stage, which writes files: the engine has results as rows."""
    return replace(plan, stages=plan.stages[:-1])


def plan_files(command: str, inputs: Sequence[str], output: str, options: Mapping[str, Any]) -> Plan:
    """Plan a run whose tasks read files, and leave each other blocks, in places that all of them see."""
    return _planned(command, f"--results={output}", *arguments(options), "--", *inputs)


def _planned(command: str, *flags: str) -> Plan:
    with tempfile.TemporaryDirectory(prefix="alike-") as folder:
        program = Program(folder)
        path = os.path.join(folder, "plan.json")
        program.run(["plan", command, "--quiet", f"--output={path}", *flags])
        with open(path, "rb") as file:
            text = file.read()
        listed = json.loads(program.run(["stage", "list", "--json", f"--plan={path}"]).output)
    streams: dict[str, int] = listed["streams"]

    def numbers(names: Sequence[str]) -> tuple[int, ...]:
        return tuple(streams[name] for name in names)

    stages = [
        Stage(s["stage"], s["tasks"], s.get("documents", False), numbers(s.get("reads", ())), numbers(s.get("writes", ())))
        for s in listed["stages"]
    ]
    return Plan(text, tuple(stages), streams)


def columns(arrays: Sequence[Any]) -> Iterator[Buffer]:
    """Yield Arrow's columns of strings, all as long, as the program reads documents."""
    import pyarrow

    rows = len(arrays[0])
    if not rows:
        return
    yield struct.pack("<I", rows)
    for array in arrays:
        _, places, values = array.buffers()
        offsets = memoryview(places)[4 * array.offset : 4 * (array.offset + rows + 1)].cast("B").cast("i")
        yield offsets
        yield array.is_valid().cast(pyarrow.uint8()).buffers()[1][:rows]
        yield b"" if values is None else memoryview(values)[offsets[0] : offsets[-1]]


def pack(plan: Plan, part: int, pieces: Iterable[Buffer]) -> Iterator[Row]:
    """Make blocks of a part's documents, which are pieces of columns. Where the plan has a place for blocks they stay there."""
    with _output(plan, ["pack", "--columns", f"--task={part}"], pieces) as packed:
        yield from _rows(packed)


def pack_and_run(plan: Plan, stage: Stage, part: int, pieces: Iterable[Buffer]) -> Iterator[Row]:
    """Make blocks of a part's documents, and run the first stage on them. Yield what both make."""
    with _output(plan, ["pack", "--columns", f"--task={part}"], pieces) as packed:
        yield from _rows(packed)
        packed.seek(0)
        yield from run_task(plan, stage, part, (block for _, _, block in _rows(packed)))


def run_task(plan: Plan, stage: Stage, task: int, blocks: Iterable[Buffer]) -> Iterator[Row]:
    """Run a task with the blocks that are for it, and its part's documents if it reads them, in any order."""
    with _output(plan, [stage.name, f"--task={task}", "--pipe"], _framed(blocks)) as output:
        yield from _rows(output)


def run_last(plan: Plan, stage: Stage, task: int) -> Iterator[Row]:
    """Run a task of the last stage of a plan whose blocks lie in its place for them. Yield what it makes."""
    with _output(plan, [stage.name, f"--task={task}", "--print"], ()) as output:
        yield from _rows(output)


def run_in_place(plan: Plan, stage: Stage, task: int) -> str:
    """Run a task whose blocks lie in the plan's place for them. Return what it says: publish the summary, match its report, as JSON."""
    last = {"publish": ["--json", "--again"], "match": ["--json"]}.get(stage.name, [])
    with _output(plan, [stage.name, f"--task={task}", *last], ()) as output:
        return output.read().decode()


def _framed(blocks: Iterable[Buffer]) -> Iterator[Buffer]:
    for block in blocks:
        yield struct.pack("<I", memoryview(block).nbytes)
        yield block


@contextmanager
def _output(plan: Plan, arguments: Sequence[str], pieces: Iterable[Buffer]) -> Iterator[IO[bytes]]:
    """Run the program to its end, and open what it has made: nothing of it counts if it fails.

    Output waits in a temporary file, so memory does not grow with it, and the child never
    waits for a reader who is still writing.
    """
    with tempfile.TemporaryDirectory(prefix="alike-") as folder:
        path = os.path.join(folder, "plan.json")
        with open(path, "wb") as file:
            file.write(plan.text)
        with open(os.path.join(folder, "out"), "w+b") as output, open(os.path.join(folder, "err"), "w+b") as errors:
            program = Program(folder)
            command = ["stage", *arguments, f"--plan={path}", "--quiet"]
            child = program.start(command, stdin=subprocess.PIPE, stdout=output, stderr=errors)
            try:
                _feed(child, pieces)
                child.wait()
            finally:
                end(child)
            if child.returncode != 0:
                errors.seek(0)
                raise program.error(child.returncode, errors.read().decode("utf-8", "replace").splitlines())
            output.seek(0)
            yield output


def _feed(child: subprocess.Popen[bytes], pieces: Iterable[Buffer]) -> None:
    assert child.stdin is not None
    try:
        with child.stdin as to:
            for piece in pieces:
                to.write(piece)
    except BrokenPipeError:
        pass  # the child has ended: its status says why


def _rows(output: IO[bytes]) -> Iterator[Row]:
    while head := output.read(12):
        stream, partition, length = struct.unpack("<III", head)
        yield stream, partition, output.read(length)


def positions(block: Buffer) -> memoryview:
    """Return the rows of a block of the stream drops: part << 32 | number of the line in the part."""
    return memoryview(block)[HEADER:].cast("Q")


def pair_schema(plan: Plan) -> Any:
    """Return the schema of lists of pairs, or of links: two ids, then similarities."""
    import pyarrow

    join = json.loads(plan.text).get("join")
    names = join["header"] if join else ("a", "b", "similarity")
    end = len(names) - 2 * len(join.get("others", ())) if join else 3  # behind it are columns of the tables
    return pyarrow.schema([(name, pyarrow.float64() if 2 <= i < end else pyarrow.string()) for i, name in enumerate(names)])


def pair_tables(plan: Plan, rows: Iterable[Row]) -> Iterator[Any]:
    """Yield what the last task of pairs or of a join has made as record batches, in its order."""
    from pyarrow import csv

    schema = pair_schema(plan)
    wanted = (plan.streams["pairs-text"], plan.streams["links-text"])
    with tempfile.TemporaryFile() as text:  # lines may go on in the next row
        for stream, _, block in rows:
            if stream in wanted:
                text.writelines(payloads(block))
        if text.tell():
            text.seek(0)
            yield from csv.open_csv(
                text,
                csv.ReadOptions(column_names=schema.names, use_threads=False, block_size=1 << 20),
                csv.ParseOptions(newlines_in_values=True),
                csv.ConvertOptions(column_types=schema),
            )


def payloads(block: Buffer) -> Iterator[memoryview]:
    """Yield the payloads of a block whose rows have no words."""
    view, at = memoryview(block), HEADER
    while at < len(view):
        (length,) = struct.unpack_from("<I", view, at)
        yield view[at + 4 : at + 4 + length]
        at += 4 + length
