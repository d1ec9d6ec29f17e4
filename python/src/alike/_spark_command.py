"""The command ``alike-spark``: dedup, pairs and join of files on Apache Spark.

Run it where Spark is installed. ``python -m alike.spark`` is the same command, for the Python that runs it:

    alike-spark dedup s3a://bucket/corpus -o s3a://bucket/clean --master spark://host:7077
    alike-spark dedup s3://bucket/corpus -o s3://bucket/clean --work s3://bucket/tmp --master spark://host:7077
    python -m alike.spark dedup hdfs:///corpus -o hdfs:///clean --master yarn

PySpark may be missing, so what needs it is imported in functions.
"""

from __future__ import annotations

import argparse
import glob
import importlib.util
import json
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from ._errors import AlikeError, UsageError

FORMATS = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".orc": "orc"}
OWN_FORMATS = {"json": "jsonl", "csv": "csv", "parquet": "parquet"}  # the program's names
COMPRESSIONS = (".gz", ".zst", ".bz2", ".lz4", ".snappy")
NO_VALUE = ("fold", "strip_diacritics", "repetitions", "probability", "records")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Return its exit status."""
    parser = _parser()
    asked = vars(parser.parse_args(arguments))
    told = logging.getLogger("alike")
    told.setLevel(logging.INFO)
    told.addHandler(logging.StreamHandler())
    try:
        return _run(dict(asked))
    except UsageError as e:
        print(f"alike-spark: {e}\nalike-spark: see alike-spark {asked['command']} --help", file=sys.stderr)
        return 2
    except AlikeError as e:
        print(f"alike-spark: {e}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    from ._stages import EngineDedupOptions, EngineOptions, EngineTableOptions

    parser = argparse.ArgumentParser(
        prog="alike-spark", description="Remove near-duplicates, list similar pairs, or join tables, on Apache Spark.", allow_abbrev=False
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for command, known, what in (
        ("dedup", EngineDedupOptions, "keep one document of every cluster of near-duplicates"),
        ("pairs", EngineOptions, "list every pair of similar documents: a, b, similarity"),
        ("join", EngineTableOptions, "find the records of two tables that belong together: left_id, right_id, similarity, of columns too"),
    ):
        of = commands.add_parser(command, help=what, description=what.capitalize() + ".", allow_abbrev=False)
        tables = command == "join"
        if tables:
            of.add_argument("input", nargs=2, metavar=("LEFT", "RIGHT"), help="table: a file, folder or URL that Spark can read")
        else:
            of.add_argument("input", nargs="+", metavar="INPUT", help="file, folder or URL that Spark can read")
        of.add_argument("-o", "--output", required=True, metavar="OUT", help="folder or URL for the results; it must not be there")
        of.add_argument("--work", metavar="PLACE", help=WORK)
        of.add_argument("--master", help="where Spark runs, such as local[4] or yarn (default: as Spark is configured, else local[*])")
        of.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark; repeatable")
        of.add_argument("--format", choices=sorted({*FORMATS.values()}), help="of the input (default: by file name, else parquet)")
        of.add_argument("--output-format", choices=sorted({*FORMATS.values()}), help="of the results (default: as the input)")
        if tables:
            of.add_argument(
                "--left-id", metavar="COLUMN", help='column with the ids of LEFT, - numbers the rows (default: "id", else the first)'
            )
            of.add_argument("--right-id", metavar="COLUMN", help="column with the ids of RIGHT")
        else:
            of.add_argument("--text", metavar="COLUMN", help='column with the texts (default: "text", or the only one with strings)')
            of.add_argument("--id", metavar="COLUMN", help='column with the ids, - for none (default: "id", if it is there)')
        if command == "dedup":
            of.add_argument("--mask", action="store_true", help='all rows, with a column "kept"')
        for name in known.__annotations__:
            flag = "--" + name.rstrip("_").replace("_", "-")
            kind: Any = argparse.BooleanOptionalAction if name in NO_VALUE else "append" if name == "field" else "store"
            of.add_argument(
                flag, dest=name, action=kind, default=None, help=f"as of alike {command}" if name != "partitions" else PARTITIONS
            )
    return parser


WORK = (
    "folder or URL that, like INPUT and OUT, all executors see: the program reads and writes files itself, as on one machine, and "
    "tasks hand each other blocks there. Takes much less than when Spark moves all (default: Spark reads, writes and moves)"
)
PARTITIONS = "tasks of the stages that go by hashes (default: as many as the input has partitions)"


def format_of(path: str) -> str:
    """Return Spark's name of the format, by the name of a file."""
    suffixes = PurePosixPath(path.rstrip("/")).suffixes
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return FORMATS.get(suffixes[-1], "parquet") if suffixes else "parquet"


def _run(asked: dict[str, Any]) -> int:
    _find_pyspark()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    own = {name: asked.pop(name) for name in ("command", "input", "output", "work", "master", "conf", "format", "output_format")}
    if own["work"]:
        _check_files(own, asked)
    builder = SparkSession.builder.appName(f"alike {own['command']}")
    if own["master"]:
        builder = builder.master(own["master"])
        if own["master"].startswith("local"):  # else Spark takes the first python3 of PATH, which may be another one
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if own["work"]:  # Java has so little to do that its second compiler does not pay
        builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    for setting in own["conf"]:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--conf is {setting!r}: take NAME=VALUE")
        builder = builder.config(name, value)
    session = _started(builder)
    try:
        if own["work"]:
            return _over_files(own, asked)
        _over_frames(session, own, asked)
        return 0
    except (PySparkException, Py4JError) as e:
        raise AlikeError(f"Spark: {_first_line(e)}") from e
    finally:
        session.stop()


def _find_pyspark() -> None:
    """Let PySpark be imported. That of SPARK_HOME will do, which is not where Python looks."""
    home = os.environ.get("SPARK_HOME")
    if home and importlib.util.find_spec("pyspark") is None:
        sys.path += [os.path.join(home, "python"), *glob.glob(os.path.join(home, "python", "lib", "py4j-*-src.zip"))]
    for needed in ("pyspark", "pyarrow", "pandas"):
        if importlib.util.find_spec(needed) is None:
            raise AlikeError(f"{needed} is not there: pip install 'alike-dedup[spark]'")


def _started(builder: Any) -> Any:
    """Start Spark. Its launcher, Java and Spark itself have errors of many kinds, all of which end the command."""
    try:
        return builder.getOrCreate()
    except Exception as e:
        said = _first_line(e).rstrip(".")
        if "JAVA_GATEWAY_EXITED" in said or isinstance(e, FileNotFoundError):
            said += "; Spark needs Java: install it (17 suits Spark 3.5 and 4), or let JAVA_HOME name its folder"
        raise AlikeError(f"Spark does not start: {said}") from e


def _first_line(e: Exception) -> str:
    return next((line for line in str(e).splitlines() if line.strip()), type(e).__name__)


def _check_files(own: dict[str, Any], asked: dict[str, Any]) -> None:
    """Refuse options that work only if Spark reads and writes files."""
    if own["output_format"] or asked.pop("mask", False):
        raise UsageError("--output-format and --mask are for results that Spark writes: leave them out, or --work")
    if own["format"]:
        if own["format"] not in OWN_FORMATS:
            raise UsageError(f"--format {own['format']} is read by Spark alone: leave --work out")
        asked["format"] = OWN_FORMATS[own["format"]]


def _over_files(own: dict[str, Any], asked: dict[str, Any]) -> int:
    """Let the program read and write files. Return its exit status."""
    from . import spark
    from ._errors import SkippedRecords
    from ._process import SKIPPED

    warnings.simplefilter("ignore", SkippedRecords)  # the summary and the status say it
    inputs = own["input"] if own["command"] == "join" else [own["input"]]
    function = getattr(spark, own["command"] + "_files")
    summary = function(*inputs, own["output"], work=own["work"], **asked)
    print(json.dumps(summary, indent=2))
    return SKIPPED if summary["skipped"] else 0


def _over_frames(session: Any, own: dict[str, Any], asked: dict[str, Any]) -> None:
    """Let Spark read and write files."""
    from pyspark.errors import AnalysisException

    from . import spark

    output_form = own["output_format"] or _form(own["input"][0], own)
    try:
        # stable, because files have the same rows whenever they are read
        tables = [[path] for path in own["input"]] if own["command"] == "join" else [own["input"]]
        frames = [_read(session, paths, own) for paths in tables]
        found = getattr(spark, own["command"])(*frames, stable=True, **asked)
        writer = found.write.format(output_form)
        (writer.options(header=True, escape='"') if output_form == "csv" else writer).save(own["output"])
    except AnalysisException as e:
        raise UsageError(_first_line(e)) from e


def _form(path: str, own: dict[str, Any]) -> str:
    return own["format"] or format_of(path)


def _read(session: Any, paths: list[str], own: dict[str, Any]) -> Any:
    """Let Spark read files."""
    form = _form(paths[0], own)
    reader = session.read.format(form)
    if form == "csv":
        separator = "\t" if ".tsv" in paths[0] else ","
        reader = reader.options(header=True, multiLine=True, escape='"', sep=separator)
    return reader.load(paths)
