"""Finds the program."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from ._errors import AlikeError

DISTRIBUTION = "alike-dedup"
NAME = "alike.exe" if sys.platform == "win32" else "alike"


def binary() -> str:
    """Return the path of the program: ``$ALIKE_BINARY`` if it is set, else the installed one."""
    named = os.environ.get("ALIKE_BINARY")
    return named if named else _installed()


@functools.cache
def _installed() -> str:
    for path in _places():
        if path.is_file():
            return str(path)
    remedy = f"install {DISTRIBUTION} again, or name the program in ALIKE_BINARY"
    raise AlikeError(f"the program {NAME} is not where the package was installed: {remedy}")


def _places() -> Iterator[Path]:
    """Yield the paths where an installer may have put the program, the most likely one first."""
    try:
        files = metadata.files(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:  # the installer's own list
        if file.name == NAME:
            yield Path(os.fspath(file.locate()))
    folder = "Scripts" if sys.platform == "win32" else "bin"
    package = Path(__file__).resolve().parent
    yield package.parent / folder / NAME  # pip install --target
    yield Path(sysconfig.get_path("scripts")) / NAME
    yield Path(sysconfig.get_path("scripts", f"{os.name}_user")) / NAME
