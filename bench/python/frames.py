"""Measures alike.dedup over the documents of a JSONL file, held as KIND.

python frames.py KIND FILE prints seconds, processor seconds of this process, bytes by which its
resident memory grew at most, and rows kept. Reading the file is not measured, but for
"iterator", which reads as it goes.
"""

import json
import resource
import sys
import time
from pathlib import Path

import alike


def load(kind, path):
    if kind in ("list", "iterator"):
        texts = (json.loads(line)["text"] for line in path.open(encoding="utf-8"))
        return texts if kind == "iterator" else list(texts)
    import polars

    frame = polars.read_ndjson(path)
    if kind == "polars":
        return frame
    table = frame.to_arrow()
    if kind == "pyarrow":
        return table
    import pandas

    texts = pandas.Series(table.column("text").to_pylist(), dtype=object if kind == "pandas-object" else "str")
    return pandas.DataFrame({"text": texts})


def memory(name):
    fields = Path("/proc/self/status").read_text().split(name + ":")
    return int(fields[1].split()[0]) * 1024


def processors():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


rows = load(sys.argv[1], Path(sys.argv[2]))
Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here on
before, begun, used = memory("VmRSS"), time.monotonic(), processors()
kept = alike.dedup(rows, quiet=True)
seconds, used = time.monotonic() - begun, processors() - used
grown = max(memory("VmHWM") - before, 0)
print(f"{seconds:.3f} {used:.3f} {grown} {sum(1 for _ in kept) if sys.argv[1] == 'iterator' else len(kept)}")
