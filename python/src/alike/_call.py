"""One call of the program, for rows in memory or paths."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

from ._errors import AlikeError, SkippedRecords, UsageError
from ._frames import rows_of
from ._items import Stream
from ._options import arguments, check
from ._process import ALIKE, Outcome, Program, log
from ._process import SKIPPED as SKIPPED_STATUS
from ._progress import Line, Progress, Wanted, listener
from ._resident import Resident
from ._rows import Columns, Names, Rows, check_field, check_within, choose_label, choose_text

Source = Rows | list[str]
Folder: TypeAlias = "tempfile.TemporaryDirectory[str]"

# Names of columns in files for the program. A caller's file is not likely to have them.
NUMBER, TEXT = "alike_row", "alike_text"

# How commands without --progress name a skipped record, and count all of them if they do not name each.
SKIPPED = "alike: skipped "
COUNTED = re.compile(r"([\d,]+) in all: ")
FLAG = "; --skipped FILE lists all of them"  # behind the counts; of the command only

INMEMORY = "is for files: leave it out for rows in memory"


def source_of(data: Any) -> Source:
    """Return the paths in data, if it is a str, a path or a list of paths, else an adapter for its rows."""
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        if re.search(r"\s", path) and not re.search(r"[*?[]|://", path) and not os.path.exists(path):
            raise AlikeError(f"{path[:100]}: no such file or folder; check the name, or give texts as a list")
        return [path]
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, os.PathLike) for item in data):
        return [os.fspath(item) for item in data]
    return rows_of(data)


class Call:
    """One call: its options and its temporary files."""

    def __init__(self, function: str, known: type, options: Mapping[str, Any], progress: Wanted) -> None:
        check(function, options, known)
        self.options = {name: value for name, value in options.items() if value is not None}
        self.quiet = bool(self.options.pop("quiet", False))
        self.text: Hashable | None = self.options.pop("text_field", None)
        self.id: Hashable | None = self.options.pop("id_field", None)
        self.listen = listener(progress, self.quiet)
        self.folder = ""
        self.labels: dict[str, Callable[[int], Any]] = {}  # for each file, a function from row number to label

    def name(self, text: Hashable | None, id: Hashable | None) -> None:
        """Set text and id from the short names of --text-field and --id-field."""
        for short, long, value in (("text", "text_field", text), ("id", "id_field", id)):
            if value is None:
                continue
            if getattr(self, short) is not None:
                raise UsageError(f"{short} and {long} are the same: leave one of them out")
            setattr(self, short, value)

    @contextmanager
    def begin(self, in_memory: bool) -> Iterator[None]:
        """Make a folder for temporary files. It is removed at the end unless release is called."""
        where = None
        if in_memory:
            for name in ("format", "fresh", "pre", "pre_glob", "pre_timeout"):
                if name in self.options:
                    raise UsageError(f"{name} {INMEMORY}")
            where = self.options.pop("work", None)
            if where is not None:
                os.makedirs(where, exist_ok=True)
        self.temporary: Folder | None = tempfile.TemporaryDirectory(prefix="alike-", dir=where)
        self.folder = os.path.abspath(self.temporary.name)
        try:
            yield
        finally:
            if isinstance(self.listen, Line):
                self.listen.close()
            if self.temporary is not None:
                self.temporary.cleanup()

    def release(self) -> Folder:
        """Give the folder to a result that reads from it."""
        assert self.temporary is not None
        temporary, self.temporary = self.temporary, None
        return temporary

    def send(self, sources: Mapping[str, Source], by_number: bool = False) -> dict[str, list[str]]:
        """Write rows to files. Return the paths of all sources.

        sources has a name for each source ("input", "with", "against"), the input first. by_number says that the
        answer has row numbers only, so that ids of files among the sources do not matter.
        """
        number = NUMBER
        if not by_number and not all(isinstance(s, Rows) for s in sources.values()):
            number = "id" if self.id is None else str(self.id)
            if number == "-" and any(isinstance(s, Rows) for s in sources.values()):
                raise UsageError("id_field - is for files alone: rows in memory are among the sources")
        texts = {side: choose_text(s, self.text, self.id) for side, s in sources.items() if isinstance(s, Rows)}
        names = Names(self._text_name(sources, texts), number)
        paths = {}
        for side, source in sources.items():
            if isinstance(source, Rows):
                # References get no ids, since these could equal ids of the input; no result names references.
                own = replace(names, number=names.number + "_reference") if side == "against" else names
                paths[side] = [self._write(side, source, texts[side], own)]
            else:
                paths[side] = source
        self.text, self.number = names.text, names.number
        return paths

    def _text_name(self, sources: Mapping[str, Source], texts: Mapping[str, Hashable | None]) -> str:
        """Return a name for the text column in all files: the caller's, which messages show, if possible."""
        if len(texts) < len(sources):  # some sources are files, with a name of their own
            return "text" if self.text is None else str(self.text)
        first = next(iter(texts.values()))
        if isinstance(first, str) and re.fullmatch(r"\w+", first) and first != NUMBER:
            return first
        return TEXT if first is not None else "text"

    def _write(self, side: str, rows: Rows, text: Hashable | None, names: Names) -> str:
        field = check_field(rows, self.options.get("keep")) if side == "input" else None
        within = check_within(rows, self.options.get("within"))
        if field is not None and within not in (None, field):
            raise UsageError("keep and within name two columns of rows in memory: leave one of them out, or give files")
        field = field or within
        label = choose_label(rows, self.id)
        if isinstance(rows, Stream):
            rows.label = label
        columns = Columns(text, field if field != names.text else None)
        started, sent = time.monotonic(), 0

        def tick(more: int) -> None:
            nonlocal sent
            sent += more
            if self.listen is not None:
                self.listen(Progress("send", sent, 0, None, time.monotonic() - started))

        path = rows.write(os.path.join(self.folder, side), columns, names, tick)
        self.label(path, rows, label)
        return path

    def label(self, path: str, rows: Rows, column: Hashable | None) -> None:
        """Let messages name the rows of a file by a column of the caller or, if it is None, by their labels."""
        self.labels[path] = lambda number: plain(rows.labels([number], column))[0]

    def run(self, command: str, arguments_before: Sequence[str], inputs: Sequence[str]) -> Outcome:
        """Run the program, and warn about skipped records."""
        fields = {"text_field": self.text, "id_field": self.id if not self.labels else self.number}
        options = arguments({**self.options, **fields})
        program = Program(self.folder, self.listen, self.quiet, self._rename)
        outcome = program.run([command, "--progress=json", *options, *arguments_before, "--", *inputs])
        if not self.quiet:
            _warn(outcome)
        return outcome

    def kept(self, rows: Rows, inputs: Sequence[str], *flags: str) -> bytearray:
        """Run dedup over rows that were written to inputs. Return a byte for every row: 1 if it is kept, else 0."""
        kept = bytearray(len(rows))
        with open(self._keep(inputs, flags), "rb") as numbers:
            next(numbers)
            for number in numbers:
                kept[int(number)] = 1
        return kept

    def kept_by(self, numbers: Mapping[str, int], count: int, inputs: Sequence[str], *flags: str) -> bytearray:
        """Do the same for rows that were written with ids, given the number of the row of each id."""
        kept = bytearray(count)
        with open(self._keep(inputs, flags), encoding="utf-8", newline="") as ids:
            rows = csv.reader(ids)
            next(rows)
            for (id,) in rows:
                kept[numbers[id]] = 1
        return kept

    def _keep(self, inputs: Sequence[str], flags: Sequence[str]) -> str:
        output = os.path.join(self.folder, "output")
        self.run("dedup", ["--ids-only", f"--output={output}", *flags], inputs)
        return os.path.join(output, "kept.csv")

    def run_plainly(self, *command: str, by: Resident | None = None) -> Outcome:
        """Run a command that reports in lines of text, and not as JSON: as a process, or by a program that stays."""
        program = Program(self.folder, None, self.quiet, self._rename)
        outcome = program.run(command) if by is None else _run_by(by, program, command)
        skipped = 0
        for note in outcome.notes:
            if note.startswith(SKIPPED):
                counted = COUNTED.match(note, len(SKIPPED))
                skipped = skipped + 1 if counted is None else int(counted[1].replace(",", ""))
                outcome.skips.append(self._rename(note.removeprefix(SKIPPED)))
            elif not self.quiet:
                log.info("%s", self._rename(note.removeprefix("alike: ")))
        if skipped and not self.quiet:
            outcome.summary["skipped"] = skipped
            _warn(outcome)
        return outcome

    def _rename(self, message: str) -> str:
        """Replace lines of a temporary file in a message by the caller's names of the rows."""
        for path, label in self.labels.items():
            side = os.path.splitext(os.path.basename(path))[0]
            before = "" if side == "input" else side + " "

            def row(match: re.Match[str], label: Callable[[int], Any] = label, before: str = before) -> str:
                return f"{before}row {label(int(match[1]) - 1)}"

            message = re.sub(re.escape(path) + r":(\d+)", row, message).replace(path, f"{before}rows")
        return message.replace(f"{NUMBER}, ", "")  # from lists of columns, since it is no column of the caller


def _run_by(resident: Resident, program: Program, command: Sequence[str]) -> Outcome:
    """Have ``alike index hold`` run a command, with the outcome that program would have."""
    answer = json.loads(resident.ask(json.dumps(command).encode()))
    if answer["status"] not in (0, SKIPPED_STATUS, ALIKE):
        raise program.error(answer["status"], answer["errors"])
    return Outcome(output=answer["output"].encode(), notes=answer["errors"])


def _warn(outcome: Outcome) -> None:
    skipped = outcome.summary.get("skipped", 0) + outcome.summary.get("references_skipped", 0)
    if not skipped:
        return
    lines = [line.removesuffix(FLAG) for line in outcome.skips]
    if outcome.more_skips:
        lines.append(f"and {outcome.more_skips} more")
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("alike."):
        level, frame = level + 1, frame.f_back
    count = f"{skipped:,} record{'s' if skipped > 1 else ''}"
    warnings.warn(f"skipped {count}, in no result: " + "\n".join(lines), SkippedRecords, stacklevel=level)


def plain(values: Any) -> list[Any]:
    """Return values of any kind of column as a list of Python's own objects."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)
