"""On Spark comes out what the command makes, whatever happens to tasks and executors.

ALIKE_SPARK_TESTS=all runs what takes minutes: larger data, more partitions, a cluster of processes.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hot
import pytest
from conftest import command

from alike import AlikeError, SkippedRecords, UsageError
from alike._binary import binary
from alike._options import arguments

pytest.importorskip("pyspark")
pytestmark = pytest.mark.filterwarnings("default")  # Spark's own
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("no Java here, which Spark needs", allow_module_level=True)

from pyspark import RDD  # noqa: E402
from pyspark.errors import PySparkException  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

from alike import _spark_command, spark  # noqa: E402

ALL = pytest.mark.skipif(os.environ.get("ALIKE_SPARK_TESTS") != "all", reason="takes minutes: ALIKE_SPARK_TESTS=all")

# A program that ends itself, or with "executor" the executor that runs it, when the first task of one of some stages
# begins.
FAULTY = """\
#!/bin/sh
fault() {{
  case " {stages} " in
  *" $1 "*)
    if mkdir "{marks}/$1" 2>/dev/null; then
      process=$$
      while [ {what} = executor ] && [ "$(cat /proc/$process/comm)" != java ]; do process=$(cut -d' ' -f4 /proc/$process/stat); done
      kill -9 $process
      exit 1
    fi ;;
  esac
}}
if [ "$2" = each ]; then
  while read -r stage task; do
    fault "$stage"
    echo "$stage $task"
  done | {program} "$@"
  exit
fi
fault "$2"
exec {program} "$@"
"""


def faulty(folder: Path, stages: str, what: str = "task") -> Path:
    marks = folder / "marks"
    marks.mkdir()
    program = folder / "faulty"
    program.write_text(FAULTY.format(stages=stages, marks=marks, what=what, program=binary()))
    program.chmod(0o755)
    return program


@contextmanager
def session(master: str, program: str | Path, folder: Path) -> Iterator[SparkSession]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the first python3 of the path
    builder = SparkSession.builder.master(master).config("spark.executorEnv.ALIKE_BINARY", str(program))
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # the sessions are short
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.task.maxFailures": "4",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, [str(Path(spark.__file__).parents[1]), os.environ.get("PYTHONPATH")])),
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder),
    }.items():
        builder = builder.config(name, value)
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()  # that of other tests, which would be returned in place of this
    running = builder.getOrCreate()
    running.sparkContext.setLogLevel("OFF")
    try:
        yield running
    finally:
        running.stop()


def frame(session: SparkSession, rows: list[dict[str, Any]], parts: int) -> tuple[Any, list[int]]:
    """Return rows as a DataFrame of so many partitions, and where these begin."""
    values = [tuple(row.values()) for row in rows]
    data = session.createDataFrame(session.sparkContext.parallelize(values, parts), hot.SCHEMA)
    firsts = data.groupBy(F.spark_partition_id()).agg(F.min("n")).collect()
    return data, [first for _, first in sorted(map(tuple, firsts))]


def found(frame: Any) -> list[tuple[str, str, float]]:
    return sorted(tuple(row) for row in frame.collect())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one session that CI has: tasks of some stages fail once."""
    folder = tmp_path_factory.mktemp("spark")
    with session("local[2,4]", faulty(folder, "pack verify clusters write publish score"), folder) as running:
        yield running


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Spark move blocks, as it does on several machines without a place for them."""
    monkeypatch.setattr(spark, "_one_machine", lambda _: False)


def tables(folder: Path, rows: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the records of two tables that have some in common, with missing values, and write them as left.csv and right.csv."""
    left, right = [], []
    for n in range(rows):
        title = f"item {n % 97} of the shop {n * n % 1009} in colour {n % 7}"
        left.append({"key": n, "title": title, "price": n / 4 if n % 5 else None})
        if n % 3 == 0:
            right.append({"id": f"r{n}", "name": title.upper() + " x" * (n % 2), "price": n / 4})
    for name, records in (("left.csv", left), ("right.csv", right)):
        with open(folder / name, "w", newline="") as file:
            csv.writer(file).writerows([records[0].keys(), *(["" if v is None else v for v in row.values()] for row in records)])
    return left, right


def links(file: Path) -> list[tuple[Any, ...]]:
    """Return the links in a file, with numbers for left ids."""
    _, *rows = csv.reader(file.read_text().splitlines())
    return [(int(left), right, *(float(s) if s else None for s in similarities)) for left, right, *similarities in rows]


def failed(small: SparkSession) -> set[str]:
    """Return the stages of which a task has failed."""
    return {mark.name for mark in (Path(small.conf.get("spark.local.dir")) / "marks").iterdir()}


def test_the_kept_rows_and_the_mask_are_those_of_the_command_though_tasks_fail(small: SparkSession, tmp_path: Path) -> None:
    rows = hot.hot_corpus(60, 150, 100)
    data, _ = frame(small, rows, 2)
    want = hot.kept(hot.write(rows, tmp_path), "--keep=max:score")
    marked = spark.dedup(data, mask=True, keep="max:score", stable=True)
    assert marked.columns == [*data.columns, "kept"]
    got = marked.collect()
    assert len(got) == len(rows)
    assert sorted(row.n for row in got if row.kept) == want
    assert {"pack", "verify", "write"} <= failed(small)


def test_the_tags_are_those_of_the_command(small: SparkSession, tmp_path: Path) -> None:
    rows = hot.hot_corpus(30, 60, 50)
    data, starts = frame(small, rows, 2)
    tagged = spark.tag(data, prefix="my ", stable=True)
    assert tagged.columns == [*data.columns, "my cluster", "my cluster_size", "my duplicate_of", "my similarity"]
    want = hot.tags(hot.write(rows, tmp_path), starts)
    assert sorted((row[0], *row[len(data.columns) :]) for row in tagged.collect()) == want
    with pytest.raises(UsageError, match="already: give the tags a prefix"):
        spark.tag(tagged, prefix="my ")
    with pytest.raises(UsageError, match="on one machine"):
        spark.tag(data, records=True)


def test_the_pairs_are_those_of_the_command_and_rows_without_a_text_are_left_out(small: SparkSession, tmp_path: Path, moved: None) -> None:
    rows = hot.hot_corpus(10, 30, 40)
    want = hot.pairs(hot.write(rows, tmp_path), [0, len(rows) // 2])
    data, _ = frame(small, rows, 2)
    assert found(spark.pairs(data)) == want


BY_BANDS = {"match": "all", "candidates": "lsh", "threshold": 0.6}  # each pair by itself


def joined(small: SparkSession, folder: Path, options: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    """Join tables as DataFrames, and by the command."""
    left, right = tables(folder, 200)
    frames = [
        small.createDataFrame(small.sparkContext.parallelize([tuple(row.values()) for row in rows], parts), schema)
        for rows, parts, schema in ((left, 2, "key long, title string, price double"), (right, 1, "id string, name string, price double"))
    ]
    own = {"field": ["title=name:2", "price"], **options}
    command("join", folder / "left.csv", folder / "right.csv", *arguments(own), "-o", folder / "links.csv")
    caplog.set_level("INFO", "alike")
    found = spark.join(*frames, **own, partitions=2)  # type: ignore[arg-type]
    assert ("likely right:" in caplog.text) == (options != BY_BANDS)
    assert found.columns == ["left_id", "right_id", "similarity", "title", "price"]
    order = {row["id"]: n for n, row in enumerate(right)}
    got = sorted((tuple(row) for row in found.collect()), key=lambda row: (row[0], order[row[1]]))
    assert got == links(folder / "links.csv")
    assert len(got) > 60
    assert any(row[4] is None for row in got)


def test_the_links_are_those_of_the_command_though_tasks_fail(
    small: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    joined(small, tmp_path, BY_BANDS, caplog)
    assert "score" in failed(small)
    both, out = [tmp_path / "left.csv", tmp_path / "right.csv"], [tmp_path / name for name in ("one.csv", "files.csv")]
    command("join", *both, "-o", out[0])
    assert spark.join_files(*both, out[1])["pairs"] == len(links(out[0])) > 30
    assert out[1].read_bytes() == out[0].read_bytes()
    empty = small.createDataFrame([], "id string, name string")
    assert spark.join(empty, empty, threshold=0.5).collect() == []
    with pytest.raises(UsageError, match="--precision is 2"):
        spark.join(empty, empty, precision=2)
    with pytest.raises(UsageError, match="there is no column 'x' with ids"):
        spark.join(empty, empty, threshold=0.5, left_id="x")


@ALL
@pytest.mark.parametrize("options", [BY_BANDS, {"match": "mutual"}])
def test_the_links_are_those_of_the_command_where_spark_moves_blocks(
    small: SparkSession, tmp_path: Path, moved: None, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    joined(small, tmp_path, options, caplog)


@ALL
@pytest.mark.parametrize("move", [False, True])
def test_the_records_of_a_table_are_kept_and_paired_as_by_the_command(
    small: SparkSession, tmp_path: Path, move: bool, request: pytest.FixtureRequest
) -> None:
    if move:
        request.getfixturevalue("moved")
    rows = [(n, f"item {n % 40} of the shop {n * 7 % 40} {'x' * (n // 40)}", n % 40 * 1.5) for n in range(80)]
    data = small.createDataFrame(small.sparkContext.parallelize(rows, 3), "id long, title string, price double")
    file = tmp_path / "rows.csv"
    with open(file, "w", newline="") as lines:
        csv.writer(lines).writerows([("id", "title", "price"), *rows])
    command("dedup", file, "-o", tmp_path / "one", "--records", "--keep=max:title", "--quiet")
    with open(tmp_path / "one" / "kept" / "rows.csv") as lines:
        want = [int(row[0]) for row in [*csv.reader(lines)][1:]]
    assert sorted(row.id for row in spark.dedup(data, records=True, keep="max:title").collect()) == want
    assert 30 < len(want) < 60
    command("pairs", file, "-o", tmp_path / "one.csv", "--field=title", "--field=price", "--quiet")
    with open(tmp_path / "one.csv") as lines:
        header, *listed = csv.reader(lines)
    found = spark.pairs(data, field=["title", "price"])
    assert found.columns == header
    assert sorted(map(tuple, found.collect())) == sorted((int(a), int(b), *map(float, rest)) for a, b, *rest in listed)
    with pytest.raises(UsageError, match="text says nothing about records"):
        spark.dedup(data, text="title", records=True)
    both = spark.join(data, data.withColumnRenamed("price", "cost"), with_=["cost", "title"], field="title", right_id="id")
    assert both.columns[-4:] == ["left_cost", "right_cost", "left_title", "right_title"]
    assert {row.left_cost for row in both.collect()} == {""}


def test_files_come_out_as_the_command_writes_them_though_tasks_fail(small: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    rows = hot.hot_corpus(20, 40, 40)
    for part in range(3):
        hot.write(rows[part::3], folder).rename(folder / f"{part}.jsonl")
    out = [tmp_path / name for name in ("one", "spark", "tagged", "tagged by spark")]
    flags = ("--candidates=lsh", "--quiet", "--keep=longest")
    command("dedup", folder, "-o", out[0], *flags, status=3)  # some names are there twice
    command("dedup", folder, "-o", out[2], "--tag", "--tag-prefix=x_", *flags, status=3)
    with pytest.warns(SkippedRecords, match=r"^skipped \d+ records?, in no result$"):
        summary = spark.dedup_files(folder, out[1], keep="longest", partitions=2, work=tmp_path / "work")
        spark.dedup_files(folder, out[3], keep="longest", partitions=2, tag=True, tag_prefix="x_")
    for name in ("0.jsonl", "1.jsonl", "2.jsonl"):
        assert (out[3] / "kept" / name).read_bytes() == (out[2] / "kept" / name).read_bytes()
    out = out[:2]
    one, other = ({path.relative_to(o): path.read_bytes() for path in o.rglob("*") if path.is_file()} for o in out)
    assert json.loads(other.pop(Path("summary.json"))) == summary
    assert {name: one[name] for name in other} == other
    assert len(other) == 5  # three parts of kept records, what was removed, clusters
    assert not (tmp_path / "work").exists()
    assert "publish" in failed(small)
    command("pairs", folder, "-o", tmp_path / "one.csv", *flags[:2], status=3)
    with pytest.warns(SkippedRecords):
        assert spark.pairs_files([folder / f"{part}.jsonl" for part in range(3)], tmp_path / "spark.csv")["pairs"] > 0
    assert (tmp_path / "spark.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    command("passages", folder, "-o", tmp_path / "cut", "--unit=line", "--quiet")
    assert spark.passages_files(folder, tmp_path / "cut by spark", unit="line")["passages"]["found"] > 0
    for name in ("kept/0.jsonl", "kept/2.jsonl", "found.csv", "little.csv"):
        assert (tmp_path / "cut by spark" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes()
    with pytest.raises(UsageError, match="is not empty: it has"):
        spark.dedup_files(folder, out[1])
    with pytest.raises(TypeError, match="did you mean ngram"):
        spark.dedup_files(folder, tmp_path / "other", ngrams=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'text_field'"):
        spark.pairs_files(folder, tmp_path / "other", text_field="body")


def test_what_is_asked_for_wrongly_is_said_before_spark_runs(small: SparkSession) -> None:
    data = small.createDataFrame([("a", "b", 1)], "body string, other string, n int")
    with pytest.raises(UsageError, match='no column "text", and several hold strings'):
        spark.dedup(data)
    with pytest.raises(UsageError, match="column 'n' holds values of type int"):
        spark.dedup(data, text="n")
    with pytest.raises(UsageError, match="there is no column 'size'"):
        spark.dedup(data, text="body", keep="max:size")
    with pytest.raises(UsageError, match="pairs are told by ids"):
        spark.pairs(data, text="body")
    with pytest.raises(UsageError, match="max_record is 'much'"):
        spark.dedup(data, text="body", max_record="much")
    with pytest.raises(TypeError, match="did you mean ngram"):
        spark.dedup(data, text="body", ngrams=3)


@ALL
def test_settings_and_errors_reach_the_caller(small: SparkSession) -> None:
    texts = [("a b c d e f g",), (None,), ("a b c d e f G",), ("x" * 100,), ("",)]
    data = small.createDataFrame(texts, "`the.text` string")
    before = small.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert [row[0] for row in spark.dedup(data, max_record=50).collect()] == ["a b c d e f g", ""]
    assert spark.dedup(data.limit(0)).collect() == []
    assert small.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == before
    with pytest.raises(UsageError, match=r"^--threshold is 2: "):
        spark.dedup(data, threshold=2)
    ids = small.createDataFrame([("a b c d e f g", 1), ("a b c d e f g", 7)], "text string, id long")
    assert [tuple(row) for row in spark.pairs(ids).collect()] == [(1, 7, 1.0)]


def settings(session: SparkSession) -> list[tuple[str, str]]:
    return sorted(tuple(row) for row in session.sql("set").collect())


def descriptions(session: SparkSession) -> list[str]:
    """Return what Spark's UI says about the jobs so far."""
    jobs = session.sparkContext._jsc.sc().statusStore().jobsList(None)
    said = [jobs.apply(i).description() for i in range(jobs.size())]
    return [text.get() for text in said if text.isDefined()]


def test_calls_at_once_leave_the_session_as_it_is(small: SparkSession, tmp_path: Path) -> None:
    rows = hot.hot_corpus(10, 10, 10)
    file = hot.write(rows, tmp_path)
    data, starts = frame(small, rows, 1)
    small.conf.set("spark.sql.adaptive.enabled", "true")
    before, to_frame = settings(small), RDD.toDF
    small.sparkContext.setJobDescription("the user's")
    with ThreadPoolExecutor() as threads:
        kept = threads.submit(lambda: sorted(row.n for row in spark.dedup(data).collect()))
        pairs = threads.submit(lambda: spark.pairs(data))
        while not (kept.done() and pairs.done()):
            assert settings(small) == before
            time.sleep(0.2)
        assert kept.result() == hot.kept(file)
        assert found(pairs.result()) == hot.pairs(file, starts)
    assert settings(small) == before
    assert RDD.toDF is to_frame
    pairs.result().createOrReplaceTempView("found")  # in the session of the caller
    assert small.sql("select * from found").count() == pairs.result().count()
    small.sparkContext.setJobDescription(None)
    said = descriptions(small)
    assert {"the user's", "alike dedup: pack", "alike dedup: clusters", "alike pairs: named"} <= set(said)


def test_calls_at_once_where_spark_moves_blocks_leave_the_session_as_it_is(small: SparkSession, moved: None) -> None:
    data, _ = frame(small, hot.hot_corpus(5, 5, 5), 1)
    before = settings(small)
    with ThreadPoolExecutor() as threads:
        assert len(set(threads.map(lambda _: spark.dedup(data).count(), range(2)))) == 1
    assert settings(small) == before
    assert any(text.startswith("alike dedup: pack, ") for text in descriptions(small))


def test_the_command_runs_over_files(small: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = str(hot.write(hot.hot_corpus(10, 10, 10), tmp_path)), [tmp_path / name for name in ("one.csv", "spark.csv")]
    of_files = [file, "-o", str(out[1]), "--work", str(tmp_path / "work")]
    assert _spark_command.main(["dedup", *of_files, "--mask"]) == 2
    assert "--mask are for results that Spark writes" in capsys.readouterr().err
    assert _spark_command.main(["pairs", *of_files, "--format", "orc"]) == 2
    assert "orc is read by Spark alone" in capsys.readouterr().err
    command("pairs", file, "-o", out[0], "--candidates=lsh", "--quiet", status=3)
    assert _spark_command.main(["pairs", *of_files, "--format", "json"]) == 3  # which ends the session
    assert json.loads(capsys.readouterr().out)["pairs"] > 0
    assert out[1].read_bytes() == out[0].read_bytes()


class Connected:
    """A session or frame of serverless compute: it has nothing of Java's, and lets nobody set or keep anything."""

    def persist(self, level: object) -> None:
        raise PySparkException("[NOT_SUPPORTED_WITH_SERVERLESS] PERSIST TABLE")


def test_serverless_compute_is_refused_with_what_to_take() -> None:
    session: Any = Connected()
    assert spark._own(session, spark.SETTINGS) is session
    assert spark._within(session, session) is session
    with pytest.raises(AlikeError, match=r"keeps no rows .*: take a cluster .*SERVERLESS"):
        spark._materialized(session)


def run_module(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a module."""
    return subprocess.run(
        [sys.executable, "-m", "alike.spark", *arguments], capture_output=True, encoding="utf-8", env={**os.environ, **environment}
    )


def test_java_that_does_not_start_is_one_line(tmp_path: Path) -> None:
    done = run_module("dedup", "in.jsonl", "-o", str(tmp_path / "out"), "--master", "local[1]", JAVA_HOME=str(tmp_path / "none"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("alike-spark: ")]
    assert len(lines) == 1
    assert "Spark does not start" in lines[0]
    assert "JAVA_HOME" in lines[0]


def test_the_module_is_the_command() -> None:
    done = run_module("dedup", "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: alike-spark dedup")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert _spark_command.main(["dedup", "in", "-o", "out"]) == 1
    assert "pyspark is not there: pip install" in capsys.readouterr().err


@ALL
@pytest.mark.parametrize(("master", "parts"), [("local[2]", 1), ("local[2]", 16), ("local-cluster[2,1,1024]", 16)])
def test_a_hot_corpus_comes_out_as_from_the_command(master: str, parts: int, tmp_path: Path) -> None:
    rows = hot.hot_corpus(300, 1200, 900)
    file = hot.write(rows, tmp_path)
    with session(master, binary(), tmp_path) as running:
        data, starts = frame(running, rows, parts)
        assert sorted(row.n for row in spark.dedup(data).collect()) == hot.kept(file)
        assert sorted(row.n for row in spark.dedup(data, work=tmp_path / "work", stable=True).collect()) == hot.kept(file)
        assert found(spark.pairs(data)) == hot.pairs(file, starts)


@ALL
def test_a_lost_executor_changes_nothing(tmp_path: Path) -> None:
    rows = hot.hot_corpus(60, 150, 100)
    file = hot.write(rows, tmp_path)
    with session("local-cluster[2,1,1024]", faulty(tmp_path, "verify clusters", "executor"), tmp_path) as running:
        data, _ = frame(running, rows, 2)
        assert sorted(row.n for row in spark.dedup(data).collect()) == hot.kept(file)
        assert list((tmp_path / "marks").iterdir())


@ALL
def test_the_command_reads_and_writes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = hot.hot_corpus(20, 20, 20)
    file = hot.write(rows, tmp_path)
    os.environ["ALIKE_BINARY"] = binary()
    out = str(tmp_path / "spark")
    assert _spark_command.main(["dedup", str(file), "-o", out, "--master", "local[2]", "--keep", "longest"]) == 0
    written = [json.loads(line)["n"] for part in Path(out).glob("*.json") for line in part.read_text().splitlines()]
    assert sorted(written) == hot.kept(file, "--keep=longest")
    assert _spark_command.main(["pairs", str(file), "-o", out, "--master", "local[2]"]) == 2
    assert "already exists" in capsys.readouterr().err
    tables(tmp_path, 60)
    of = [
        "join",
        str(tmp_path / "left.csv"),
        str(tmp_path / "right.csv"),
        "--threshold",
        "0.6",
        "--field",
        "title=name",
        "--field",
        "price",
    ]
    command("join", *of[1:], "-o", tmp_path / "links.csv")
    assert _spark_command.main([*of, "-o", str(tmp_path / "joined"), "--master", "local[2]"]) == 0
    lines = [line for part in (tmp_path / "joined").glob("*.csv") for line in part.read_text().splitlines()[1:]]
    assert len(lines) == len(links(tmp_path / "links.csv")) > 10
