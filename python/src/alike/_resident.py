"""A program that stays, and answers one line after the other."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import cast

from ._process import Program, end, log


class Resident:
    """A program that answers each line of its standard input by one line. Threads take turns."""

    def __init__(self, command: Sequence[str], quiet: bool, temporary: str | None = None) -> None:
        """Start the program. temporary: folder for its temporary files; None: one of its own, which goes with it."""
        self._quiet = quiet
        self._one = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="alike-") if temporary is None else None
        folder = temporary or cast("tempfile.TemporaryDirectory[str]", self._folder).name
        self.program = Program(folder, None, quiet)
        self._errors = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        try:
            self._child = self.program.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        except BaseException:
            self._remove()
            raise

    def ask(self, line: bytes) -> bytes:
        """Return the answer to a line. Raise what the program says if it has ended."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with self._one:
            try:
                with contextlib.suppress(OSError):  # the program has ended; its status says why
                    self._child.stdin.write(line + b"\n")
                    self._child.stdin.flush()
                answer = self._child.stdout.readline()
            except BaseException:  # an interrupt: the answer would be taken for that of the next line
                end(self._child)
                raise
        if not answer:
            self._child.wait()
            raise self.program.error(self._child.returncode, self._said())
        return answer

    def _said(self) -> list[str]:
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace").splitlines()

    def close(self) -> None:
        """End the program. Closing again does nothing."""
        if self._errors.closed:
            return
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        self._child.stdout.close()
        end(self._child)
        if not self._quiet:
            for line in self._said():
                log.info("%s", line)
        self._remove()

    def _remove(self) -> None:
        self._errors.close()
        if self._folder is not None:
            self._folder.cleanup()
