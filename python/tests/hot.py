"""A corpus that is hard, and what the command makes of it: for the tests of engines."""

from __future__ import annotations

import csv
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from conftest import command

SCHEMA = "n long, text string, id string, score long"


def hot_corpus(copies: int, template: int, near: int) -> list[dict[str, Any]]:
    """Return exact copies, texts made of a template, near-copies of one text and others.

    Ids are missing, empty or there twice.
    """
    rng = random.Random(7)
    words = [f"w{i}" for i in range(5000)]
    same, base, frame = rng.choices(words, k=80), rng.choices(words, k=120), rng.choices(words, k=100)
    texts = [same] * copies
    for _ in range(template):
        text = list(frame)
        text[::17] = [f"v{rng.randrange(1000)}" for _ in text[::17]]
        texts.append(text)
    for _ in range(near):
        text = list(base)
        for _ in range(rng.randrange(4)):
            text[rng.randrange(len(text))] = f"u{rng.randrange(1000)}"
        texts.append(text)
    texts += [rng.choices(words, k=30) for _ in range(near // 4)] + [[]] * 5
    rng.shuffle(texts)
    ids = {3: None, 5: "", 11: "d4"}
    return [{"n": n, "text": " ".join(t), "id": ids.get(n % 97, f"d{n}"), "score": rng.randrange(50)} for n, t in enumerate(texts)]


def write(rows: list[dict[str, Any]], folder: Path) -> Path:
    """Write rows as the command reads them."""
    file = folder / "hot.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def kept(file: Path, *flags: str) -> list[int]:
    """Return the numbers of the rows that the command keeps."""
    out = Path(tempfile.mkdtemp(dir=file.parent)) / "out"
    command("dedup", file, "-o", out, "--candidates=lsh", "--quiet", *flags, status=3)  # some names are there twice
    return [json.loads(line)["n"] for path in (out / "kept").iterdir() for line in path.read_text().splitlines()]


def tags(file: Path, starts: list[int], *flags: str) -> list[tuple[Any, ...]]:
    """Return the tags of all rows, where rows without an id are named by part and row: n, and the values of the tags."""
    out = Path(tempfile.mkdtemp(dir=file.parent)) / "out"
    command("dedup", file, "-o", out, "--tag", "--candidates=lsh", "--quiet", *flags, status=3)  # some names are there twice
    rows: list[tuple[Any, ...]] = [(n, None, 0, None, None) for n in range(file.read_text().count("\n"))]
    for path in (out / "kept").iterdir():
        for row in map(json.loads, path.read_text().splitlines()):
            of = row["duplicate_of"] and _named(row["duplicate_of"], starts)
            rows[row["n"]] = (row["n"], _named(row["cluster"], starts), row["cluster_size"], of, row["similarity"])
    return rows


def _named(name: str, starts: list[int]) -> str:
    """Return the name of a row of the file as that of the row in a part, if it was made of its place."""
    before, _, line = name.rpartition(":")
    if not before:
        return name
    row = int(line) - 1
    part = max(i for i, start in enumerate(starts) if start <= row)
    return f"{part}:{row - starts[part] + 1}"


def pairs(file: Path, starts: list[int], *flags: str) -> list[tuple[str, str, float]]:
    """Return the pairs that the command finds, where rows without an id are named by part and row."""
    rows = csv.reader(command("pairs", file, "--candidates=lsh", "--quiet", *flags, status=3).splitlines()[1:])
    return sorted((_named(a, starts), _named(b, starts), float(similarity)) for a, b, similarity in rows)
