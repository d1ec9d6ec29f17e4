"""Runs the program as a child and turns what it says into progress, warnings and errors."""

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

log = logging.getLogger("alike")

USAGE, SKIPPED = 2, 3  # exit statuses that are neither success nor failure
GRACE = 10  # seconds that an interrupted program has to clean up
NAMED_SKIPS = 20  # of which a warning gives the reasons


@dataclass
class Outcome:
    """What a run has left besides its files."""

    summary: dict[str, Any] = field(default_factory=dict)
    skips: list[str] = field(default_factory=list)  # the first messages
    more_skips: int = 0  # messages left out
    output: bytes = b""  # standard output
    notes: list[str] = field(default_factory=list)  # what else was said on standard error


@dataclass
class Program:
    """The program, and what its runs have in common."""

    temporary: str  # folder for its temporary files
    listen: Listener | None = None
    quiet: bool = False
    rename: Callable[[str], str] = str  # puts a message into the caller's terms

    def start(self, arguments: Sequence[str], **streams: Any) -> subprocess.Popen[bytes]:
        """Start the program, with the streams that Popen takes."""
        environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), self.temporary)}
        try:
            return subprocess.Popen([binary(), *arguments], env=environment, **streams)
        except OSError as e:
            raise AlikeError(f"the program cannot be run: {e}") from e

    def run(self, arguments: Sequence[str]) -> Outcome:
        """Run the program to its end. Raise AlikeError if it fails.

        However this call ends, the child has ended too: an exception (that of a listener, or
        KeyboardInterrupt) ends it first.
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
        if child.returncode not in (0, SKIPPED):
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
            outcome.summary = e["summary"]
        elif kind == "notice":
            if not self.quiet:
                log.warning("%s", self.rename(e["message"]))
        elif len(outcome.skips) < NAMED_SKIPS:
            outcome.skips.append(self.rename(e["message"]))
        else:
            outcome.more_skips += 1

    def error(self, status: int, lines: list[str]) -> AlikeError:
        """Return the exception for a status, with what was said on standard error."""
        if status == USAGE:  # the last line points to the command's help
            lines = [line for line in lines if not re.match(r"alike: see alike .*--help$", line)]
        message = self.rename("\n".join(line.removeprefix("alike: ") for line in lines))
        if status < 0:
            message = "\n".join(filter(None, [message, f"the program was ended by signal {-status}"]))
        return (UsageError if status == USAGE else AlikeError)(message or f"the program has ended with status {status}")


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child, first in a way that lets it clean up, and reap it."""
    try:
        if child.stderr is not None:
            child.stderr.close()  # nobody reads it any more: it must not wait for that
        child.terminate()
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        child.kill()  # does nothing to one that has ended
        child.wait()
