"""What the tests share. They run against the installed package, with whatever libraries are there."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from alike._binary import binary

WORDS = "river night morning street water council bridge baker bread lamp winter harbour school letter".split()  # noqa: SIM905


@pytest.fixture
def texts(all_texts: list[str]) -> list[str]:
    """Return all_texts as a list of the test's own."""
    return all_texts[:]


@pytest.fixture(scope="session")
def all_texts() -> list[str]:
    """Return texts with near-duplicates, copies, other scripts and empty ones among them."""
    rng = random.Random(7)
    made: list[str] = []
    for i in range(400):
        kind = rng.random()
        if i > 20 and kind < 0.2:
            made.append(made[rng.randrange(len(made))])
        elif i > 20 and kind < 0.4:
            words = made[rng.randrange(len(made))].split() or ["one"]
            words[rng.randrange(len(words))] = f"w{i}"
            made.append(" ".join(words))
        elif i > 2 and kind < 0.45:
            made.append("")
        else:
            made.append(" ".join(rng.choice(WORDS) + str(rng.randrange(40)) for _ in range(30)))
    made[10] = 'quotes " and \\ back\\slashes,\r\nlines\u2028and \x00 controls, naïve, 東京都に行きました, 🙂 ' * 3
    made[300] = made[10].replace("naïve", "naive")
    return made


@pytest.fixture(scope="session")
def service() -> Iterator[str]:
    """Run a server and return its address."""
    process = subprocess.Popen([binary(), "serve", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, encoding="utf-8")
    assert process.stderr is not None
    with process, process.stderr:
        yield "http://" + json.loads(process.stderr.readline())["address"]
        process.terminate()


def command(*arguments: str | Path, status: int = 0) -> str:
    """Run the program as a user of the shell does."""
    done = subprocess.run([binary(), *map(str, arguments)], capture_output=True, encoding="utf-8")
    assert done.returncode == status, done.stderr
    return done.stdout


def shared(name: str) -> Path:
    """Return a file of the data beside the checkout, or skip the test."""
    for parent in Path(__file__).resolve().parents:
        path = parent / "shared" / "data" / name
        if path.exists():
            return path
    pytest.skip(f"no ../shared/data/{name} here")
