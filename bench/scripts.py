#!/usr/bin/env python3
"""Megabytes a second of processor time from text to signature, by script: a commit and this tree.

    bench/scripts.py [-t TAGS] [-n ROUNDS] COMMIT BENCHMARK

runs internal/hotpath's benchmarks whose names match BENCHMARK (Scripts/words, Hashes,
SmallSets) for both by turns, with the benchmarks of this tree, and prints medians.
"""
import argparse
import collections
import io
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tarfile
import tempfile

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("-t", dest="tags", default="", help="build tags")
arguments.add_argument("-n", dest="rounds", type=int, default=5)
arguments.add_argument("commit")
arguments.add_argument("benchmark")
a = arguments.parse_args()

root = pathlib.Path(__file__).resolve().parent.parent
with tempfile.TemporaryDirectory() as tmp:
    old = pathlib.Path(tmp, "old")
    archive = subprocess.run(["git", "archive", a.commit], cwd=root, stdout=subprocess.PIPE, check=True).stdout
    tarfile.open(fileobj=io.BytesIO(archive)).extractall(old, filter="data")
    shutil.copytree(root / "internal/hotpath", old / "internal/hotpath", dirs_exist_ok=True)
    programs = []
    for name, tree in (("old.test", old), ("new.test", root)):
        programs.append(pathlib.Path(tmp, name))
        subprocess.run(["go", "test", "-tags", a.tags, "-c", "-o", programs[-1], "./internal/hotpath"], cwd=tree, check=True)
    figures = collections.defaultdict(lambda: ([], []))
    for _ in range(a.rounds):
        for column, program in enumerate(programs):
            out = subprocess.run(
                [program, "-test.run", "^$", "-test.bench", a.benchmark, "-test.benchtime", "50ms"],
                cwd=root / "internal/hotpath", env={**os.environ, "GOMAXPROCS": "1"}, stdout=subprocess.PIPE, text=True, check=True).stdout
            for row in re.findall(r"^Benchmark\w+/(\S+)\s.*?([\d.]+) (?:MB/core-s|core-ns/set)", out, re.M):
                figures[row[0]][column].append(float(row[1]))
for name, columns in figures.items():
    before, after = (statistics.median(c) for c in columns)
    print(f"{name:28} {before:8.0f} {after:8.0f}  × {after / before:.2f}")
