"""The progress of a run, shown in a terminal or notebook, or given to a function of the caller."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO, TypeAlias


@dataclass(frozen=True)
class Progress:
    """The progress of a stage of a run."""

    stage: str  # send (rows in memory to the program), read, group, verify, cluster, write, emit
    items: int  # documents, keys or pairs that are done
    bytes: int  # bytes of the input that are done
    total: int | None  # bytes of the input in this stage, if known
    seconds: float  # since the stage began


Listener = Callable[[Progress], None]
Wanted: TypeAlias = "bool | Listener | None"

PATIENCE = 0.5  # seconds before the line appears: most calls take less
PAUSE = 0.1  # seconds between two updates


class Line:
    """A line of a terminal that is overwritten with each update, and cleared at the end."""

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
        """Clear the line."""
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
    """Return the listener that the caller wants, or None.

    By default it is a Line in a notebook, and if standard error is a terminal.
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
