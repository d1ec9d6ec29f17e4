"""What alike takes on Spark, beside plain alike and Spark MLlib's MinHashLSH.

    python bench/spark.py start|dedup|pairs|mllib FOLDER [OUT]

runs one of them over the JSON Lines of a folder in local[2] and prints seconds, processor
seconds of Spark, its Python workers and their children, and the peak of what they all hold in
memory (proportional set size). start is a session and one trip through Python. mllib writes
pairs as pairs does: a, b, similarity. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def descendants() -> list[int]:
    """Return the processes that this one has begun, and theirs."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, new = set(), {os.getpid()}
    while new:
        new = {process for process, parent in parents.items() if parent in new}
        found |= new
    return list(found)


def held(process: int) -> int:
    """Return the KiB that a process holds."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def measure(arguments: list[str]) -> None:
    """Run this script as a child, to the end of all that it begins."""
    # Whatever loses its parent becomes a child of this process, and is counted.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    start, peak = time.monotonic(), 0
    child = subprocess.Popen([sys.executable, __file__, "--child", *arguments])
    while child.poll() is None:
        peak = max(peak, sum(map(held, descendants())))
        time.sleep(0.5)
    seconds = time.monotonic() - start
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{arguments[0]}: {seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} processor s, {peak >> 10} MiB, status {child.returncode}")


def run(what: str, folder: str, out: str = "") -> None:
    """Run one of the programs."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.conf.set("spark.sql.shuffle.partitions", "8")
    if what == "start":
        session.range(10).mapInArrow(lambda batches: batches, "id long").count()
        return
    data = session.read.schema("id string, text string").json(folder)
    if what == "mllib":
        found = mllib(data)
    else:
        from alike import spark

        found = getattr(spark, what)(data, stable=True)
    writer = found.write.mode("overwrite")
    writer.csv(out) if what != "dedup" else writer.json(out)


def mllib(data: object) -> object:
    """Return the pairs of Jaccard similarity 0.8 of shingles of 5 words, as MLlib finds them."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import functions as F

    words = RegexTokenizer(inputCol="text", outputCol="words", pattern="\\W+").transform(data)
    shingles = NGram(n=5, inputCol="words", outputCol="shingles").transform(words).where("size(shingles) > 0")
    vectors = HashingTF(inputCol="shingles", outputCol="vector", numFeatures=1 << 20, binary=True).transform(shingles).select("id", "vector")
    model = MinHashLSH(inputCol="vector", outputCol="hashes", numHashTables=5, seed=1).fit(vectors)
    pairs = model.approxSimilarityJoin(vectors, vectors, 0.2, "distance").where("datasetA.id < datasetB.id")
    return pairs.select("datasetA.id", F.col("datasetB.id").alias("b"), (1 - F.col("distance")).alias("similarity"))


if __name__ == "__main__":
    run(*sys.argv[2:]) if sys.argv[1] == "--child" else measure(sys.argv[1:])
