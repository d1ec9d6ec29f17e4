"""Runs the program as a child process, and turns its messages into progress, warnings and errors."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._binary import binary
from ._errors import AlikeError, UsageError
from ._progress import Line, Listener, Progress
from ._show import Summary

log = logging.getLogger("alike")

# Exit statuses: wrong usage; done, but some records were skipped; check found something alike; done, but nothing was
# removed, since the data do not tell.
USAGE, SKIPPED, ALIKE, UNDECIDED = 2, 3, 4, 5
GRACE = 10  # seconds for an interrupted program to clean up
NAMED_SKIPS = 20  # skipped records that a warning lists with their reasons


@dataclass
class Outcome:
    """What a run returns besides its files."""

    summary: Summary = field(default_factory=Summary)
    skips: list[str] = field(default_factory=list)  # the first messages about skipped records
    more_skips: int = 0  # number of further such messages
    output: bytes = b""  # standard output
    notes: list[str] = field(default_factory=list)  # other lines of standard error


@dataclass
class Program:
    """The program, with the settings that its runs have in common."""

    temporary: str  # folder for its temporary files
    listen: Listener | None = None
    quiet: bool = False
    rename: Callable[[str], str] = str  # replaces names in a message by the caller's

    def start(self, arguments: Sequence[str], **streams: Any) -> subprocess.Popen[bytes]:
        """Start the program, with the streams that Popen takes."""
        environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), self.temporary)}
        try:
            return subprocess.Popen([binary(), *arguments], env=environment, **streams)
        except OSError as e:
            raise AlikeError(f"the program cannot be run: {e}") from e

    def run(self, arguments: Sequence[str]) -> Outcome:
        """Run the program to its end. Raise AlikeError if it fails.

        The child never outlives this call: if there is an exception (of a listener, or KeyboardInterrupt), it is
        ended first.
        """
        outcome, errors = Outcome(), list[str]()
        with tempfile.TemporaryFile(dir=self.temporary) as output:
            child = self.start(arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE)
            assert child.stderr is not None
            with child.stderr:
                try:
                    for line in child.stderr:
                        self._hear(line.decode("utf-8", "replace").rstrip("\n"), outcome, errors)
                    child.wait()
                except BaseException:
                    end(child)
                    raise
                finally:
                    if isinstance(self.listen, Line):
                        self.listen.close()
            output.seek(0)
            outcome.output = output.read()
        if child.returncode not in (0, SKIPPED, ALIKE, UNDECIDED):  # the summary says which
            raise self.error(child.returncode, errors)
        outcome.notes = errors
        return outcome

    def _hear(self, line: str, outcome: Outcome, errors: list[str]) -> None:
        try:
            e = json.loads(line)
        except ValueError:
            errors.append(line)
            return
        kind = e["event"]
        if kind == "progress":
            if self.listen is not None:
                self.listen(Progress(e["stage"], e["items"], e["bytes"], e.get("total"), e["seconds"]))
        elif kind == "summary":
            outcome.summary = Summary(e["summary"])
        elif kind == "notice":
            if not self.quiet:
                log.warning("%s", self.rename(e["message"]))
        elif len(outcome.skips) < NAMED_SKIPS:
            outcome.skips.append(self.rename(e["message"]))
        else:
            outcome.more_skips += 1

    def error(self, status: int, lines: list[str]) -> AlikeError:
        """Return the exception for an exit status, with the lines of standard error."""
        if status == USAGE:  # the last line points to the command's help
            lines = [line for line in lines if not re.match(r"alike: see alike .*--help$", line)]
        message = self.rename("\n".join(line.removeprefix("alike: ") for line in lines))
        if status < 0:
            message = "\n".join(filter(None, [message, f"the program was ended by signal {-status}"]))
        return (UsageError if status == USAGE else AlikeError)(message or f"the program has ended with status {status}")


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child process and wait for it. It may clean up for GRACE seconds."""
    try:
        if child.stderr is not None:
            child.stderr.close()  # else it could block on a pipe that nobody reads
        child.terminate()
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        child.kill()  # no effect if it has ended
        child.wait()
