"""On Ray comes out what the command makes, on a cluster of several nodes too.

Starting Ray takes long: ALIKE_RAY_TESTS=all runs these.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hot
import pytest
from conftest import command

from alike import UsageError
from alike._options import arguments

if os.environ.get("ALIKE_RAY_TESTS") != "all":
    pytest.skip("takes a minute: ALIKE_RAY_TESTS=all", allow_module_level=True)
ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("default")

from ray.cluster_utils import Cluster  # noqa: E402

from alike import ray as alike_ray  # noqa: E402


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start two nodes besides the one of the driver, which runs no tasks."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 200 << 20})
    cluster.spare = cluster.add_node(num_cpus=1, object_store_memory=200 << 20)
    cluster.add_node(num_cpus=1, object_store_memory=200 << 20)
    paths = os.pathsep.join(filter(None, [str(Path(alike_ray.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    ray.init(address=cluster.address, runtime_env={"env_vars": {"PYTHONPATH": paths}}, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def dataset(rows: list[dict[str, Any]], parts: int) -> tuple[Any, list[int]]:
    """Return rows as a Dataset of so many blocks, and where these begin."""
    import pyarrow

    starts = [len(rows) * i // parts for i in range(parts)]
    tables = [pyarrow.Table.from_pylist(rows[a:b]) for a, b in zip(starts, [*starts[1:], len(rows)], strict=True)]
    return ray.data.from_arrow(tables), starts


def found(data: Any) -> list[tuple[str, str, float]]:
    return sorted((row["a"], row["b"], row["similarity"]) for row in data.take_all())


def test_rows_and_pairs_are_those_of_the_command(cluster: Any, tmp_path: Path) -> None:
    rows = hot.hot_corpus(60, 150, 100)
    file = hot.write(rows, tmp_path)
    data, starts = dataset(rows, 3)
    assert [row["n"] for row in alike_ray.dedup(data, keep="max:score").take_all()] == hot.kept(file, "--keep=max:score")
    marked = alike_ray.dedup(data, mask=True, partitions=2).take_all()
    assert [row["n"] for row in marked] == list(range(len(rows)))
    assert [row["n"] for row in marked if row["kept"]] == hot.kept(file)
    assert found(alike_ray.pairs(data)) == hot.pairs(file, starts)
    tagged = alike_ray.tag(data, prefix="my_").take_all()
    assert [tuple(row[name] for name in ("n", *TAGGED)) for row in tagged] == hot.tags(file, starts)


TAGGED = ("my_cluster", "my_cluster_size", "my_duplicate_of", "my_similarity")


def test_links_are_those_of_the_command(cluster: Any, tmp_path: Path) -> None:
    left = [{"key": n, "title": f"item {n % 97} of the shop {n * n % 1009}", "price": n / 4 if n % 5 else None} for n in range(150)]
    right = [{"id": f"r{n}", "name": left[n]["title"].upper() + " x" * (n % 2), "price": n / 4} for n in range(0, 150, 3)]
    for name, rows in (("left", left), ("right", right)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = [tmp_path / "left.jsonl", tmp_path / "right.jsonl"]
    for options in ({"match": "all", "candidates": "lsh", "threshold": 0.6}, {"probability": True}):
        own = {"field": ["title=name", "price"], **options}
        header, *want = csv.reader(command("join", *files, *arguments(own), "--quiet").splitlines())
        got = alike_ray.join(dataset(left, 2)[0], dataset(right, 2)[0], **own).take_all()
        assert list(got[0]) == header
        assert [["" if v is None else v if i < 2 else f"{v:.6f}" for i, v in enumerate(row.values())] for row in got] == want
        assert len(want) > 20


def test_a_row_without_a_text_is_left_out_and_errors_are_those_of_the_command(cluster: Any) -> None:
    data, _ = dataset([{"id": 1, "text": "a b c d e f g"}, {"id": 2, "text": None}, {"id": 3, "text": "a b c d e f g"}], 2)
    assert [row["id"] for row in alike_ray.dedup(data).take_all()] == [1]
    with pytest.raises(UsageError, match=r"^--threshold is 2: "):
        alike_ray.dedup(data, threshold=2)
    with pytest.raises(UsageError, match="there is no column 'x'"):
        alike_ray.pairs(data, text="x")


def test_a_lost_node_changes_nothing(cluster: Any, tmp_path: Path) -> None:
    rows = hot.hot_corpus(300, 1200, 900)
    file = hot.write(rows, tmp_path)
    data, _ = dataset(rows, 4)
    data = data.materialize()
    import threading

    lost = threading.Timer(2, cluster.remove_node, [cluster.spare])
    lost.start()
    try:
        assert [row["n"] for row in alike_ray.dedup(data).take_all()] == hot.kept(file)
    finally:
        lost.join()
