"""What alike takes on Spark, beside plain alike and Spark MLlib's MinHashLSH.

    python bench/spark.py start|copy|dedup|pairs|dedup_files|pairs_files|mllib|rounds FOLDER [OUT [SETTING=VALUE…]]
    python bench/spark.py command COMMAND…

runs one of them over the JSON Lines, or Parquet files, of a folder in local[2], or a command that begins Spark, and
prints seconds, processor seconds of Spark, of its Python processes and of the program, and the peak of
what they all hold in memory (proportional set size). start is a session and one trip through
Python; copy reads and writes, and does nothing else. mllib writes pairs as pairs does: a, b,
similarity. rounds is dedup three times and copy twice in one session, and tells what each takes: once Java is
warm that is what grows with the data. Settings are Spark's. Linux only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """A process, as /proc tells of it."""

    name: str
    parent: int
    used: float  # processor seconds
    ended: float  # those of children that have ended
    at: float  # when it was seen


def processes() -> dict[int, Process]:
    """Return all processes."""
    found, now = {}, time.monotonic()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                before, _, after = (entry / "stat").read_text().rpartition(")")
            except OSError:
                continue
            fields = after.split()
            user, system, ended_user, ended_system = (int(field) / TICKS for field in fields[11:15])
            found[int(entry.name)] = Process(before.partition("(")[2], int(fields[1]), user + system, ended_user + ended_system, now)
    return found


def descendants(root: int, all: dict[int, Process]) -> set[int]:
    """Return a process, those that it has begun, and theirs."""
    found, new = set[int](), {root}
    while new:
        found |= new
        new = {number for number, process in all.items() if process.parent in new}
    return found


def used(seen: dict[int, Process]) -> dict[str, float]:
    """Add up processor seconds by kind. seen are processes as they were last.

    The program is a child of Python's workers, which wait for it, unless it stays until they end. Nobody waits for
    the workers, so that no other counter has what they used.
    """
    kinds = {"Spark": 0.0, "Python": 0.0, "program": 0.0}
    for process in seen.values():
        if process.name == "java":
            kinds["Spark"] += process.used
        elif process.name.startswith("python"):
            kinds["Python"] += process.used
            kinds["program"] += process.ended
        elif process.parent in seen and seen[process.parent].name.startswith("python") and seen[process.parent].at == process.at:
            kinds["program"] += process.used
    return kinds


def held(process: int) -> int:
    """Return the KiB that a process holds."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def measure(arguments: list[str]) -> None:
    """Run this script as a child, to the end of all that it begins."""
    start, peak = time.monotonic(), 0
    seen: dict[int, Process] = {}
    command = arguments[1:] if arguments[0] == "command" else [sys.executable, __file__, "--child", *arguments]
    child = subprocess.Popen(command, env={"PYSPARK_PYTHON": sys.executable, **os.environ})
    while child.poll() is None:
        all = processes()
        ours = descendants(child.pid, all)
        seen.update((number, all[number]) for number in ours if number in all)
        peak = max(peak, sum(map(held, ours)))
        time.sleep(0.5)
    seconds = time.monotonic() - start
    kinds = used(seen)
    parts = ", ".join(f"{kind} {of:.1f}" for kind, of in kinds.items())
    print(f"{arguments[0]}: {seconds:.1f} s, {sum(kinds.values()):.1f} processor s ({parts}), {peak >> 10} MiB, status {child.returncode}")


def run(what: str, folder: str, out: str = "", *settings: str) -> None:
    """Run one of the programs."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g").config("spark.ui.enabled", "false")
    for setting in settings:
        name, _, value = setting.partition("=")
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.conf.set("spark.sql.shuffle.partitions", "8")
    if what == "start":
        session.range(10).mapInArrow(lambda batches: batches, "id long").count()
        return
    if what.endswith("_files"):
        from alike import spark

        print(getattr(spark, what)(folder, out, memory="2GiB"))
        return
    parquet = any(Path(folder).glob("*.parquet"))
    data = session.read.parquet(folder) if parquet else session.read.schema("id string, text string").json(folder)
    if what == "rounds":
        rounds(data, out)
        return
    if what == "copy":
        found = data
    elif what == "mllib":
        found = mllib(data)
    else:
        from alike import spark

        found = getattr(spark, what)(data, stable=True)
    writer = found.write.mode("overwrite")
    if what not in ("copy", "dedup"):
        writer.csv(out)
    elif parquet:
        writer.parquet(out)
    else:
        writer.json(out)


def rounds(data: Any, out: str) -> None:
    """Write data without near-duplicates, or as it is, again and again, and print processor seconds."""
    from alike import spark

    seen: dict[int, Process] = {}

    def spent() -> dict[str, float]:
        all = processes()
        seen.update((number, all[number]) for number in descendants(os.getpid(), all) if number in all)
        return used(seen)

    for what in ("dedup", "dedup", "dedup", "copy", "copy"):
        before = spent()
        found = spark.dedup(data, stable=True) if what == "dedup" else data
        found.write.mode("overwrite").json(out)
        kinds = {kind: of - before[kind] for kind, of in spent().items()}
        print(f"{what}: {sum(kinds.values()):.1f} processor s ({', '.join(f'{kind} {of:.1f}' for kind, of in kinds.items())})", flush=True)


def mllib(data: object) -> object:
    """Return the pairs of Jaccard similarity 0.8 of shingles of 5 words, as MLlib finds them."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import functions as F

    words = RegexTokenizer(inputCol="text", outputCol="words", pattern="\\W+").transform(data)
    shingles = NGram(n=5, inputCol="words", outputCol="shingles").transform(words).where("size(shingles) > 0")
    vectors = (
        HashingTF(inputCol="shingles", outputCol="vector", numFeatures=1 << 20, binary=True).transform(shingles).select("id", "vector")
    )
    model = MinHashLSH(inputCol="vector", outputCol="hashes", numHashTables=5, seed=1).fit(vectors)
    pairs = model.approxSimilarityJoin(vectors, vectors, 0.2, "distance").where("datasetA.id < datasetB.id")
    return pairs.select("datasetA.id", F.col("datasetB.id").alias("b"), (1 - F.col("distance")).alias("similarity"))


if __name__ == "__main__":
    run(*sys.argv[2:]) if sys.argv[1] == "--child" else measure(sys.argv[1:])
