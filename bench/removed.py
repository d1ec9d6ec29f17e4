#!/usr/bin/env python3
"""What dedup loses of texts that ran into others, by where each part of a text is from.

usage: removed.py ALIKE FOLDER N SEED [FLAGS…]

Makes N texts of articles, of words of Reuters in new orders: half of the copies are cut, three in ten lack words, a quarter
begins with a passage of another article, and up to 8 % of the letters are wrong. Runs `ALIKE dedup` with the flags (default
--recipe auto) and counts the texts that are removed, by how much of them stands in the kept text and in all that is kept,
and articles of which less than half is left.
"""
import collections
import csv
import json
import math
import random
import resource
import shutil
import string
import subprocess
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def words():
    lines = subprocess.run(["zstd", "-dc", SHARED / "data/reuters21578/docs.jsonl.zst"], capture_output=True, check=True).stdout.decode()
    return [w for line in lines.split("\n") if line for w in json.loads(line)["text"].split()]


class Maker:
    def __init__(self, seed):
        self.rng, self.words = random.Random(seed), words()
        self.after = collections.defaultdict(list)
        for i in range(len(self.words) - 2):
            self.after[self.words[i]].append(i + 1)

    def article(self, length):
        draw, text = self.rng.random, []
        at = int(draw() * (len(self.words) - 50))
        while len(text) < length:
            end = at + 2 + int(draw() * 6)
            text += self.words[at:end]
            follow = self.after.get(self.words[end - 1]) if end < len(self.words) else None
            at = follow[int(draw() * len(follow))] if follow else int(draw() * (len(self.words) - 50))
        return text

    def noisy(self, text, rate):
        if rate == 0:
            return text
        draw, out, at, scale = self.rng.random, [], 0, math.log(1 - rate)
        while True:
            next_ = at + int(math.log(draw() + 1e-12) / scale)
            if next_ >= len(text):
                return "".join(out) + text[at:]
            out.append(text[at:next_])
            kind = draw()
            if kind < 0.6:
                out.append(string.ascii_lowercase[int(draw() * 26)])
            elif kind > 0.75:
                out.append(text[next_] + (" " if kind < 0.87 else "."))
            at = next_ + 1

    def make(self, path, most):
        """Writes texts, and parts.csv: id, article, words of it, article of the passage, words of that."""
        draw, waiting, made, number = self.rng.random, [], 0, 0
        neighbour, of = self.article(300), -1
        with open(path / "docs.jsonl", "w") as docs, open(path / "parts.csv", "w") as parts:

            def write(n):
                nonlocal waiting, made
                self.rng.shuffle(waiting)
                for row, text in waiting[:n]:
                    made += 1
                    docs.write(json.dumps({"id": str(made), "text": text}) + "\n")
                    parts.write(f"{made},{row}\n")
                waiting = waiting[n:]

            while made + len(waiting) < most:
                whole = self.article(int(120 + draw() * draw() * 500))
                number += 1
                for _ in range(self.rng.choices((1, 2, 3, 5, 8), (50, 25, 12, 8, 5))[0]):
                    text = whole
                    if draw() < 0.5:
                        text = text[: max(40, int(len(text) * self.rng.uniform(0.4, 1)))]
                    length = len(text)
                    if draw() < 0.3:
                        text = [w for w in text if draw() > 0.04]
                    text, passage, source = " ".join(text), 0, -1
                    if draw() < 0.25:
                        passage, source = min(50 + int(draw() * 200), len(neighbour)), of
                        text = " ".join(neighbour[:passage]) + " " + text
                    waiting.append((f"{number},{length},{source},{passage}", self.noisy(text, self.rng.choice((0, 0.01, 0.02, 0.04, 0.08)))))
                if draw() < 0.3:
                    neighbour, of = whole, number
                if len(waiting) > 200000:
                    write(100000)
            write(len(waiting))


def measure(alike, folder, flags):
    parts = {row[0]: tuple(map(int, row[1:])) for row in csv.reader(open(folder / "parts.csv"))}
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    said = subprocess.run([alike, "dedup", folder / "docs.jsonl", "-o", out, "--ids-only", *flags], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    kept = {row["id"] for row in csv.DictReader(open(out / "kept.csv"))}
    removed = {row["id"]: row["kept_id"] for row in csv.DictReader(open(out / "removed.csv"))}

    def has(ids):
        words_of = collections.defaultdict(int)
        for i in ids:
            article, own, source, passage = parts[i]
            words_of[article], words_of[source] = max(words_of[article], own), max(words_of[source], passage)
        return words_of

    def share(i, there):
        article, own, source, passage = parts[i]
        return (min(own, there[article]) + min(passage, there[source])) / (own + passage)

    full = collections.defaultdict(int)
    for article, own, _, _ in parts.values():
        full[article] = max(full[article], own)
    left = has(kept)
    one, all_ = [share(i, has([k])) for i, k in removed.items()], [share(i, left) for i in removed]
    print(said.stderr.strip().split("\n")[0])
    print(f"{len(parts):,} texts, {len(full):,} articles; removed {len(removed):,} of {len(parts) - len(full):,} copies; {used.ru_utime + used.ru_stime:.1f} s")
    for name, of in ("the kept text", one), ("all that is kept", all_):
        print(f"of which in {name} stands less than a half {sum(s < 0.5 for s in of):,}, two thirds {sum(s < 2 / 3 for s in of):,}, nine tenths {sum(s < 0.9 for s in of):,}")
    print(f"articles of which less than half is left: {sum(left[a] < 0.5 * n for a, n in full.items()):,}")


if __name__ == "__main__":
    program, where, count, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    where.mkdir(parents=True, exist_ok=True)
    if not (where / "parts.csv").exists():
        Maker(seed).make(where, count)
    measure(program, where, sys.argv[5:] or ["--recipe", "auto"])
