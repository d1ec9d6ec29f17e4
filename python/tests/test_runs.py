"""Runs end as they should, whatever happens around them, and hold little in memory."""

from __future__ import annotations

import gc
import inspect
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import alike
from alike._binary import binary

TEXTS = [f"{i} " + " ".join(f"w{i * 60 + j}" for j in range(60)) for i in range(3000)]
unix = pytest.mark.skipif(sys.platform == "win32", reason="signals or scripts of Unix")


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: Any) -> Iterator[Path]:
    """Have temporary files where they can be counted, and see that none is left, nor a process."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    gc.collect()
    assert [name for name in os.listdir(tmp_path) if name.startswith("alike-")] == []
    if sys.platform != "win32":
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            ended = 0
        assert ended == 0  # else it was a zombie


def test_a_listener_is_told_of_every_stage_and_counts_what_was_sent() -> None:
    told: list[alike.Progress] = []
    alike.dedup(TEXTS, progress=told.append)
    stages = list(dict.fromkeys(p.stage for p in told))
    assert stages[:3] == ["send", "read", "group"]
    assert stages[-1] == "write"
    assert [p.items for p in told if p.stage == "send"][-1] == 3000
    assert [p.items for p in told if p.stage == "read"][-1] == 3000
    assert all(p.total and 0 <= p.bytes <= p.total for p in told if p.stage == "read")


@pytest.mark.parametrize("stage", ["send", "read"])
def test_an_exception_of_a_listener_ends_the_run(stage: str) -> None:
    def listen(p: alike.Progress) -> None:
        if p.stage == stage:
            raise RuntimeError(stage)

    with pytest.raises(RuntimeError, match=stage):
        alike.dedup(TEXTS, progress=listen)


def test_an_exception_of_an_iterator_ends_the_run() -> None:
    def broken() -> Iterator[str]:
        yield from TEXTS
        raise OSError("torn")

    with pytest.raises(OSError, match="torn"):
        alike.dedup(broken())


def test_an_iterator_that_nobody_reads_to_the_end_leaves_nothing() -> None:
    kept = alike.dedup(iter(TEXTS))
    assert next(kept) == TEXTS[0]
    unread = alike.pairs(iter(TEXTS), threshold=0.5)
    del kept, unread


def test_a_line_is_shown_where_asked_for_and_goes(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("alike._progress.PATIENCE", 0)
    monkeypatch.setattr("alike._progress.PAUSE", 0)
    alike.dedup(TEXTS, progress=True)
    shown = capsys.readouterr().err
    assert "\ralike read: 3,000, 100 %, " in shown
    assert shown.endswith("\r")
    assert shown.split("\r")[-2].strip() == ""
    alike.dedup(TEXTS)
    alike.dedup(TEXTS, progress=True, quiet=True)
    assert capsys.readouterr().err == ""


def test_a_notebook_shows_a_line(monkeypatch: Any) -> None:
    class ZMQInteractiveShell:
        pass

    module = type(sys)("IPython")
    module.get_ipython = ZMQInteractiveShell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    from alike import _progress

    assert isinstance(_progress.listener(None, False), _progress.Line)
    assert _progress.listener(None, True) is None
    assert _progress.listener(False, False) is None


INTERRUPTED = """
import itertools, sys
import alike
if sys.argv[1] == "send":
    rows = itertools.cycle(["one two three"])  # without end
else:
    rows = (f"{i} " + " ".join(f"w{(i * j) % 9973}" for j in range(60)) for i in range(10_000))
try:
    alike.dedup(rows, threshold=0.05, progress=lambda p: p.stage == sys.argv[1] and print(p.stage, flush=True))
except KeyboardInterrupt:
    print("interrupted")
"""


@unix
@pytest.mark.parametrize("stage", ["send", "read", "group"])
@pytest.mark.parametrize("whole_group", [False, True])  # a notebook's kernel alone, or all that a terminal runs
def test_an_interrupt_ends_the_program_too(stage: str, whole_group: bool, nothing_left: Path) -> None:
    run = subprocess.Popen([sys.executable, "-c", INTERRUPTED, stage], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert run.stdout is not None
    with run.stdout:
        assert run.stdout.readline() == stage + "\n"
        (os.killpg if whole_group else os.kill)(run.pid, signal.SIGINT)
        assert run.stdout.read().endswith("interrupted\n")  # it may have come between the name of a stage and its end of line
    assert run.wait(20) == 0
    with pytest.raises(ProcessLookupError):
        os.killpg(run.pid, 0)  # nobody of its session is left


@unix
def test_a_program_that_does_not_listen_is_killed(tmp_path: Path, monkeypatch: Any) -> None:
    script = tmp_path / "deaf"
    script.write_text(
        "#!/bin/sh\ntrap '' TERM\n"
        'echo \'{"event":"progress","stage":"read","items":0,"bytes":0,"seconds":0}\' >&2\n'
        "while :; do read _ </dev/null; sleep 0.05; done\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("ALIKE_BINARY", str(script))
    monkeypatch.setattr("alike._process.GRACE", 0.3)

    def listen(p: alike.Progress) -> None:
        if p.stage == "read":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        alike.dedup(["a"], progress=listen)


def test_threads_do_not_meet() -> None:
    def run(i: int) -> list[str]:
        return alike.dedup([f"text {i}", f"text {i}", *TEXTS[i : i + 5]])

    with ThreadPoolExecutor(8) as pool:
        for i, kept in enumerate(pool.map(run, range(24))):
            assert kept == [f"text {i}", *TEXTS[i : i + 5]]


def run_in_pool(i: int) -> int:
    return len(alike.dedup([f"text {i}"] * 3 + TEXTS[:100]))


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_pools_of_processes_work(method: str) -> None:
    if method == "fork":
        run_in_pool(0)  # forked after a run
    with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        assert list(pool.map(run_in_pool, range(4))) == [101] * 4


MEMORY = """
import resource, sys
import alike
n = int(sys.argv[1])
kept = alike.dedup((f"{i} " + f"word{i} " * 400 for i in range(n)), memory="128MiB")
assert sum(1 for _ in kept) == n
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@unix
def test_the_memory_of_an_iterator_is_flat() -> None:
    def peak(n: int) -> int:
        return int(subprocess.run([sys.executable, "-c", MEMORY, str(n)], capture_output=True, text=True, check=True).stdout)

    small, large = peak(500), peak(10_000)  # 45 MB of text
    assert large < small + 15


def test_the_import_is_light() -> None:
    code = "import sys, alike; print(*sorted({'pandas', 'polars', 'pyarrow', 'datasets', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


@unix
def test_a_run_in_a_thread_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go, kept = tmp_path / "begun", tmp_path / "go", list[str]()
    script = tmp_path / "alike"  # which ends badly unless this thread goes on meanwhile
    wait = f'touch "{begun}"; for i in $(seq 3000); do [ -e "{go}" ] && exec "{binary()}" "$@"; sleep 0.01; done; exit 1'
    script.write_text(f"#!/bin/sh\n{wait}\n")
    script.chmod(0o755)
    monkeypatch.setenv("ALIKE_BINARY", str(script))
    thread = threading.Thread(target=lambda: kept.extend(alike.dedup(["a", "a", "b"])))
    thread.start()
    while thread.is_alive() and not begun.exists():
        time.sleep(0.001)
    go.touch()
    thread.join()
    assert kept == ["a", "b"]


def test_a_comparison_shows_itself_in_a_notebook() -> None:
    shown = alike.compare("the <b>river</b> rose in the night and", "but the <b>river</b> rose in the night", ngram=3)._repr_html_()
    assert "jaccard <b>" in shown
    assert "&lt;b&gt;river" in shown
    assert "<b>river" not in shown


def test_a_notebook_shows_results_as_tables(tmp_path: Path) -> None:
    texts = [f"the <b>river</b> rose in the night and {n} stood" for n in ["all", "all", "one"] * 10]
    found = alike.pairs(texts, ngram=3, threshold=0.2)
    shown = found._repr_html_()  # type: ignore[attr-defined]
    assert (
        f"{len(found)} rows, of which 20 are shown" in shown
        and shown.count("<tr>") == 21
        and "<th style='text-align:left'>similarity</th>" in shown
    )
    assert found == list(found)
    prints = alike.sketch(texts[:2])._repr_html_()  # type: ignore[attr-defined]
    assert "512 bytes" in prints
    (tmp_path / "in.jsonl").write_text('{"text": "<b>one"}\n')
    summary = alike.dedup(tmp_path / "in.jsonl", output=tmp_path / "out")
    assert "<td style='text-align:left'>kept</td><td style='text-align:left'>1</td>" in summary._repr_html_()
    assert "&lt;script&gt;" in alike.Summary({"a": "<script>"})._repr_html_()
    assert alike.Results()._repr_html_() == "<p>nothing was found</p>"


def test_a_signature_reads_as_the_source_does() -> None:
    shown = str(inspect.signature(alike.dedup))
    assert "preset: Literal['broder', 'features'] | Fingerprint = None" in shown and "output: Path | None = None" in shown
    assert "ForwardRef" not in shown
