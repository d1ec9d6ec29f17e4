"""The tasks of a plan, run for an engine: the common part of alike.spark and alike.ray.

An engine passes in documents in parts, as columns of strings. It moves blocks as rows (stream, partition,
block), or lets tasks leave them in a place that all of them see. A task reads the blocks of its partition and
makes others. docs/how/formats.md describes the format. Python reads only the blocks with results.
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
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any, Literal, TypedDict

from ._errors import SkippedRecords, UsageError
from ._options import JoinOptions, Path, PresetOptions, SchemeOptions, SearchOptions, Size, TextOptions, arguments, check
from ._process import SKIPPED, Program, end
from ._resident import Resident
from ._rows import Schema, check_field, choose_label, choose_text

Buffer = Any  # bytes, or another object with the buffer protocol
Row = tuple[int, int, bytes]  # stream, partition, block

# Names of the fields in plans, for columns of any name.
TEXT, ID, FIELD = "text", "id", "field"
KEPT = "kept"  # name of the column of a mask
TAGS = ("cluster", "cluster_size", "duplicate_of", "similarity")
SIDES = ("left", "right")
HEADER = 48  # bytes of a block before its rows
SAMPLE = 5000  # first rows of a table, from which the program chooses columns


class EngineRecordOptions(TypedDict, total=False):
    """Options for the records of a table, in place of texts."""

    records: bool
    field: str | Sequence[str]
    config: Path
    idf: Literal["exact", "sketch", "none"]
    idf_epsilon: float
    idf_delta: float


class EngineOptions(SearchOptions, TextOptions, SchemeOptions, PresetOptions, EngineRecordOptions, total=False):
    """Flags of ``alike plan`` for runs on an engine."""

    memory: Size
    max_record: Size
    partitions: int


class EngineDedupOptions(EngineOptions, total=False):
    """Flags of ``alike plan dedup``."""

    keep: str
    cluster: Literal["components", "star"]


class FilesOptions(EngineOptions, total=False):
    """Flags of ``alike plan`` for runs over files."""

    work: Path
    format: Literal["jsonl", "csv", "tsv", "parquet", "lines", "text"]
    on_error: Literal["skip", "fail"]


class FilesDedupOptions(FilesOptions, EngineDedupOptions, total=False):
    """Flags of ``alike plan dedup`` for runs over files."""

    against: Path | Sequence[Path]
    tag: bool
    tag_prefix: str


class FilesPassagesOptions(TypedDict, total=False):
    """Flags of ``alike plan passages``."""

    unit: Literal["line", "sentence", "paragraph", "substring"]
    min_tokens: int
    min_count: int
    threshold: float
    ngram: int
    code: bool
    found_only: bool
    format: Literal["jsonl", "csv", "tsv", "parquet", "lines", "text"]
    max_record: Size
    on_error: Literal["skip", "fail"]
    memory: Size
    partitions: int
    work: Path


class EngineTableOptions(JoinOptions, total=False):
    """Flags of ``alike plan join`` for joins on an engine."""

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
    """A stage of a plan. Its tasks are independent of each other. Streams are numbers."""

    name: str
    tasks: int
    documents: bool  # whether task I reads the documents of part I
    reads: tuple[int, ...]
    writes: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """A plan: the file that the program wrote, and its stages and streams."""

    text: bytes
    stages: tuple[Stage, ...]  # in the order in which they run
    streams: Mapping[str, int]  # number of each stream, by name


@dataclass(frozen=True)
class Settled:
    """The checked arguments of a call. text, id and field are columns."""

    text: str
    id: str | None
    field: str | None  # the column that a keep rule compares
    longest: int  # bytes of the longest usable text
    plan: dict[str, Any]  # options of the plan


def settle(function: str, known: type, options: Mapping[str, Any], schema: Schema, text: str | None, id: str | None) -> Settled:
    """Check the arguments of a call, and choose columns."""
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
    """Refuse a mask if there is a column with its name."""
    if mask and KEPT in names:
        raise UsageError(f'there is a column "{KEPT}" already: rename it')


def check_tags(prefix: str, names: Sequence[Hashable]) -> list[str]:
    """Return the columns of tags with a prefix. Refuse them if there is one of their names."""
    tags = [prefix + name for name in TAGS]
    for name in tags:
        if name in names:
            raise UsageError(f"there is a column {name!r} already: give the tags a prefix, prefix=…")
    return tags


Values = tuple[str | None, int, str | None, float | None]  # of TAGS


def tags(plan: Plan, rows: Iterable[Row]) -> Iterator[tuple[int, Values]]:
    """Yield the tags of rows: part << 32 | number of the line in the part, and the values."""
    for stream, _, block in rows:
        if stream == plan.streams["tag-rows"]:
            for payload in payloads(block):
                position, cluster, size, of, similarity = json.loads(bytes(payload))
                yield position, (cluster, size, of, similarity)


def size(name: str, value: Size) -> int:
    """Return a number of bytes. The value may be a string such as "64MiB"."""
    match = re.fullmatch(r"(\d+) ?(?:([KMGT])(i?)B|B|)", str(value))
    if match is None or not int(match[1]):
        raise UsageError(f"{name} is {value!r}: take a number of bytes, such as 64MiB")
    power = "KMGT".index(match[2]) + 1 if match[2] else 0
    return int(match[1]) * int((1024 if match[3] else 1000) ** power)


def make_plan(command: str, parts: int, options: Mapping[str, Any], work: Path | None = None, small: bool = False) -> Plan:
    """Plan a run over this number of parts from an engine. By default there are as many partitions.

    work: folder or URL for documents and blocks; None: the engine moves them. small: one partition pays, which with a
    place for blocks has fewer stages.
    """
    own = {"partitions": 1 if small and work is not None else parts, **options, "text_field": TEXT, "id_field": ID, "work": work}
    return _without_publish(_planned(command, f"--engine={parts}", *arguments(own)))


@dataclass(frozen=True)
class Sample:
    """The first rows of a table, as strings."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | None]]
    id: str | None  # the column with the ids; "-": none; None: the program chooses


def of_records(options: Mapping[str, Any], text: str | None) -> bool:
    """Tell whether a call compares records, not texts."""
    if not (options.get("records") or options.get("field")):
        return False
    if text is not None:
        raise UsageError("text says nothing about records: field names the columns to compare")
    return True


def make_record_plan(
    command: str, tables: Sequence[Sample], parts: Sequence[int], options: Mapping[str, Any], work: Path | None = None
) -> Plan:
    """Plan a run over the records of tables. parts has the number of parts of each; columns are chosen from the samples."""
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
    """Return the columns of a table to pass in. The table need not have the columns of the option with_."""
    made = json.loads(plan.text)
    table, field = made["tables"][side], made["reading"].get("field")
    return [*table["fields"], *([field] if field else []), *([table["id_field"]] if table["id_field"] != "-" else [])]


def warn_of_skipped(summary: Mapping[str, Any], level: int) -> None:
    """Warn if a run over files has skipped records. level: number of callers up to that of the public function."""
    if summary["skipped"]:
        count = f"{summary['skipped']:,} record{'s' if summary['skipped'] > 1 else ''}"
        warnings.warn(f"skipped {count}, in no result", SkippedRecords, stacklevel=level + 1)


def log_report(report: str | bytes) -> None:
    """Log the report of a join, in the words of the program."""
    for line in json.loads(report)["text"].splitlines():
        logging.getLogger("alike").info(line)


def _without_publish(plan: Plan) -> Plan:
    """Leave out the last stage, which writes files: an engine gets its results as rows."""
    return replace(plan, stages=plan.stages[:-1])


def plan_files(command: str, inputs: Sequence[str], output: str, options: Mapping[str, Any]) -> Plan:
    """Plan a run whose tasks read files, and exchange blocks, in places that all of them see."""
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
    """Yield Arrow arrays of strings, all of the same length, in the form in which the program reads documents."""
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
    """Pack the documents of a part, which come as pieces of columns. Yield the blocks; none if the plan has a place for them."""
    with _output(plan, ["pack", "--columns", f"--task={part}"], pieces) as packed:
        yield from _rows(packed)


def pack_and_run(plan: Plan, stage: Stage, part: int, pieces: Iterable[Buffer]) -> Iterator[Row]:
    """Pack the documents of a part, and run the first stage on them. Yield the blocks of both."""
    with _output(plan, ["pack", "--columns", f"--task={part}"], pieces) as packed:
        yield from _rows(packed)
        packed.seek(0)
        yield from run_task(plan, stage, part, (block for _, _, block in _rows(packed)))


def run_task(plan: Plan, stage: Stage, task: int, blocks: Iterable[Buffer]) -> Iterator[Row]:
    """Run a task with the blocks of its partition, and of its part's documents if it reads them, in any order."""
    with _output(plan, [stage.name, f"--task={task}", "--pipe"], _framed(blocks)) as output:
        yield from _rows(output)


def run_last(plan: Plan, stage: Stage, task: int) -> Iterator[Row]:
    """Run a task of the last stage of a plan that has a place for blocks. Yield the blocks that it makes."""
    with _output(plan, [stage.name, f"--task={task}", "--print"], ()) as output:
        yield from _rows(output)


def run_in_place(plan: Plan, stage: Stage, task: int) -> str:
    """Run a task of a plan that has a place for blocks. Return its output: of publish the summary, of match the report, as JSON."""
    program = _program(plan)
    try:
        answer = json.loads(program.ask(f"{stage.name} {task}".encode()))
    except BaseException:
        _end_program()  # what it does is not known
        raise
    if stage.name == "publish":
        _end_program()
    if answer["status"] not in (0, SKIPPED):  # the latter is of publish, whose summary counts skipped records
        raise program.program.error(answer["status"], answer["errors"])
    return str(answer["output"])


_programs: dict[int, tuple[Plan, Resident]] = {}  # by process, since a child of this one may be a copy of it


def _program(plan: Plan) -> Resident:
    """Return the program that runs the tasks of a plan for this process, and stays until another plan comes."""
    held = _programs.get(os.getpid())
    if held is not None and held[0].text == plan.text:
        return held[1]
    _end_program()
    with tempfile.TemporaryDirectory(prefix="alike-") as folder:
        path = os.path.join(folder, "plan.json")
        with open(path, "wb") as file:
            file.write(plan.text)
        # It has no folder of its own: nothing would remove that, since workers of Spark end without a word.
        program = Resident(["stage", "each", f"--plan={path}", "--quiet"], quiet=True, temporary=tempfile.gettempdir())
        try:
            program.ask(b"")  # it has read the plan then
        except BaseException:
            program.close()
            raise
    _programs[os.getpid()] = plan, program
    return program


def _end_program() -> None:
    _, program = _programs.pop(os.getpid(), (None, None))
    if program is not None:
        program.close()


def _framed(blocks: Iterable[Buffer]) -> Iterator[Buffer]:
    for block in blocks:
        yield struct.pack("<I", memoryview(block).nbytes)
        yield block


@contextmanager
def _output(plan: Plan, arguments: Sequence[str], pieces: Iterable[Buffer]) -> Iterator[IO[bytes]]:
    """Run the program to its end, and open its output. Raise an error if it fails.

    The output goes to a temporary file, so that memory does not grow with it, and so that the child never
    blocks on a full pipe while its input is still being written.
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
            if child.returncode not in (0, SKIPPED):  # the latter is of publish, whose summary counts skipped records
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
        pass  # the child has ended; its exit status says why


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
    end = len(names) - 2 * len(join.get("others", ())) if join else 3  # from here on, columns of the tables
    return pyarrow.schema([(name, pyarrow.float64() if 2 <= i < end else pyarrow.string()) for i, name in enumerate(names)])


def pair_tables(plan: Plan, rows: Iterable[Row]) -> Iterator[Any]:
    """Yield the result of the last task of pairs or of a join as record batches, in its order."""
    from pyarrow import csv

    schema = pair_schema(plan)
    wanted = (plan.streams["pairs-text"], plan.streams["links-text"])
    with tempfile.TemporaryFile() as text:  # a line may continue in the next row
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
