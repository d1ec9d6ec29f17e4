"""How far a run is, for a terminal, a notebook or a function of the caller's."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO, TypeAlias


@dataclass(frozen=True)
class Progress:
    """How far a stage of a run is."""

    stage: str  # send (rows in memory to the program), read, group, verify, cluster, write, emit
    items: int  # documents, keys or pairs done in the stage
    bytes: int  # of the input, gone through in the stage
    total: int | None  # bytes that the stage goes through, if that is known
    seconds: float  # that the stage has taken


Listener = Callable[[Progress], None]
Wanted: TypeAlias = "bool | Listener | None"

PATIENCE = 0.5  # seconds before a line is shown: most calls are over by then
PAUSE = 0.1  # seconds between two lines


class Line:
    """One line, written over and over, that goes when the run is over."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.due = time.monotonic() + PATIENCE
        self.width = 0

    def __call__(self, p: Progress) -> None:
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + PAUSE
        self._put(describe(p))

    def close(self) -> None:
        """Leave the line empty."""
        if self.width > 0:
            self._put("")
            self.out.write("\r")
            self.out.flush()

    def _put(self, text: str) -> None:
        self.out.write("\r" + text.ljust(self.width))
        self.out.flush()
        self.width = len(text)


def describe(p: Progress) -> str:
    """Put progress into words."""
    parts = [f"{p.items:,}"]
    if p.total:
        parts.append(f"{min(100 * p.bytes // p.total, 100)} %")
    if p.bytes and p.seconds > 0:
        parts.append(f"{p.bytes / 1e6 / p.seconds:.0f} MB/s")
    parts.append(f"{p.seconds:.1f} s")
    return f"alike {p.stage}: " + ", ".join(parts)


def listener(wanted: Wanted, quiet: bool) -> Listener | None:
    """Return what to tell of progress, None for nobody.

    By default there is a line in a notebook, and where standard error is a terminal.
    """
    if callable(wanted):
        return wanted
    if wanted is False or quiet or sys.stderr is None:
        return None
    if wanted or _in_notebook() or sys.stderr.isatty():
        return Line(sys.stderr)
    return None


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
