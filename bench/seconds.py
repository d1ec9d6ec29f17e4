#!/usr/bin/env python3
"""What `alike tune` says that recipes cost, beside what they take: processor seconds of `alike pairs` by each row.

usage: seconds.py ALIKE MOST FILE…     (a run that takes more than MOST seconds is stopped)

For each row the seconds that are said, those of the processor, and the ratio; for each file the median ratio and the
share of rows that are within a factor of three. Recipes with third texts are run with them.
"""
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile

FLAGS = {"tokens": "--tokens", "ngram": "--ngram", "measure": "--measure", "threshold": "--threshold", "idf": "--idf"}


def processor(command, most):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run(command, check=True, timeout=most, stdout=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return math.nan
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    alike, most = sys.argv[1], float(sys.argv[2])
    for file in sys.argv[3:]:
        advice = json.loads(subprocess.run([alike, "tune", file, "--json"], capture_output=True, check=True).stdout)
        ratios = []
        for row in advice["rows"]:
            flags = [f for k, flag in FLAGS.items() if row.get(k) for f in (flag, str(row[k]))]
            flags += ["--third-texts"] * bool(row.get("third_texts"))
            with tempfile.NamedTemporaryFile() as out:
                took = processor([alike, "pairs", file, "--quiet", "-o", out.name, *flags], most)
            ratios.append(row["seconds"] / took)
            print(f"{' '.join(flags[1::2]):42} said {row['seconds']:8.2f} took {took:7.2f} ratio {ratios[-1]:6.2f}", flush=True)
        ratios = [r for r in ratios if r == r]
        near = sum(1 / 3 <= r <= 3 for r in ratios)
        print(f"{file}: median {statistics.median(ratios):.2f}, {near} of {len(ratios)} within a factor of three")


if __name__ == "__main__":
    main()
