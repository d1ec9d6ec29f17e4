#!/usr/bin/env python3
"""What --recipe auto finds among reprints with errors, cuts and neighbours, and what its advice says it will.

usage: reprints.py ALIKE FOLDER [SEED…]

Makes sets by ../shared/tools/noisy_news.py of BBC and Reuters in FOLDER, four kinds of errors for each seed (default 1 to
5), takes what `ALIKE tune` chooses with and without third texts, lists the pairs and scores them by the truth. Articles
that repeat others of the collection itself are left out first. Then 900 articles of BBC: two fifths with a second
copy, two fifths beside both their halves, each text with up to 8 % of its letters wrong; and sets without copies.
"""
import collections
import csv
import json
import random
import subprocess
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
COLLECTIONS = {"bbc": "bbc_news", "reuters": "reuters21578"}


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True)


def source(folder, collection):
    """The articles of a collection, without those that have more than a fiftieth of their runs of eight words from others."""
    path, seen = folder / f"{collection}.jsonl", set()
    if not path.exists():
        kept = []
        for line in run("zstd", "-dc", SHARED / "data" / COLLECTIONS[collection] / "docs.jsonl.zst").stdout.splitlines():
            words = json.loads(line)["text"].lower().split()
            runs = {" ".join(words[i : i + 8]) for i in range(len(words) - 7)}
            if 50 * len(runs & seen) <= len(runs):
                kept.append(line + "\n")
            seen |= runs
        path.write_text("".join(kept))
    return path


def reprints(folder, collection, kind, seed, *more):
    out = folder / "-".join([collection, kind, str(seed), *(m.strip("-") for m in more)])
    if not (out / "truth.csv").exists():
        run(sys.executable, SHARED / "tools" / "noisy_news.py", source(folder, collection), out, seed, "--kind", kind, *more)
    with open(out / "truth.csv") as file:
        entity = {row["id"]: row["entity"] for row in csv.DictReader(file)}
    total = sum(n * (n - 1) // 2 for n in collections.Counter(entity.values()).values())
    return out / "docs.jsonl", lambda a, b: entity[a] == entity[b], total


def halves(folder):
    rng, texts, truth = random.Random(7), [], set()
    docs = [json.loads(line)["text"] for line in source(folder, "bbc").read_text().splitlines()]
    rng.shuffle(docs)

    def add(text):
        rate = rng.uniform(0, 0.08)
        texts.append("".join(rng.choice("abcdefghijklmnopqrstuvwxyz") if c.isalpha() and rng.random() < rate else c for c in text))
        return str(len(texts))

    for text in docs[:900]:
        words, how = text.split(), rng.random()
        first = add(text)
        if how < 0.4:
            truth.add((first, add(text)))
        elif how < 0.8:
            truth.add((first, add(" ".join(words[: len(words) // 2]))))
            truth.add((first, add(" ".join(words[len(words) // 2 :]))))
    path = folder / "halves.jsonl"
    path.write_text("".join(json.dumps({"id": str(i + 1), "text": t}) + "\n" for i, t in enumerate(texts)))
    return path, lambda a, b: (a, b) in truth or (b, a) in truth, len(truth)


def measure(alike, folder, name, docs, same, total):
    advice = json.loads(run(alike, "tune", docs, "--json").stdout)
    flags = advice["flags"].split()
    row = next(r for r in advice["rows"] if all(r.get(k) == v for k, v in advice["chosen"].items()))
    for asked in (True, False):
        if not asked and "--third-texts" not in flags:
            continue
        out = folder / "pairs.csv"
        run(alike, "pairs", docs, *[f for f in flags if asked or f != "--third-texts"], "-o", out, "--quiet")
        with open(out) as file:
            pairs = [same(p["a"], p["b"]) for p in csv.DictReader(file)]
        precision, recall = sum(pairs) / max(len(pairs), 1), sum(pairs) / max(total, 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        said = f"said {1 - row['wrong']:.3f} {row['found']:.3f}" if asked else "without third texts"
        if asked:
            low, high = (1 - row["wrong_to"], row["found_from"]), (1 - row["wrong_from"], row["found_to"])
            said += "".join(f" {n} {a:.2f}-{b:.2f}{'' if a <= is_ <= b else ' WRONG'}" for n, a, b, is_ in zip("PR", low, high, (precision, recall)))
        print(f"{name:18} {' '.join(flags[1::2])} P {precision:.3f} R {recall:.3f} F1 {f1:.3f} {said}", flush=True)


def main():
    alike, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    seeds = [int(s) for s in sys.argv[3:]] or range(1, 6)
    for collection in COLLECTIONS:
        for kind in ("scan", "type", "edit", "mixed"):
            for seed in seeds:
                measure(alike, folder, f"{collection} {kind} {seed}", *reprints(folder, collection, kind, seed))
    measure(alike, folder, "halves", *halves(folder))
    for collection in COLLECTIONS:
        docs, _, _ = reprints(folder, collection, "mixed", seeds[0], "--alone")
        told = run(alike, "dedup", docs, "-o", folder / "alone", "--recipe", "auto", "--ids-only", "--json").stdout
        print(f"{collection} alone: {json.loads(told)['removed']} of {json.loads(told)['read']} removed")
        run("rm", "-r", folder / "alone")


if __name__ == "__main__":
    main()
