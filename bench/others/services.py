"""Documents checked one by one over HTTP: alike serve beside datasketch with Redis, and milvus-lite, behind FastAPI.

    python bench/others/services.py ALIKE CORPUS.jsonl [PROGRAM…]

Each document of the corpus is sent to /check in order over one connection, and is added if it is new. Words of the same
5-grams, threshold 0.8. ALIKE is the program; it also lists the pairs of the corpus exactly, which is the truth: a
document is a duplicate if an earlier one that the program has kept is like it. Needs redis-server, and of PyPI
datasketch 2.0.0, redis 8.1.0, fastapi 0.165.0, uvicorn 0.54.0, milvus-lite 3.2.2, pymilvus 3.0.2.

milvus-lite has no binary vectors, so a signature of 256 bits (1-bit MinHash) is a vector of 1 and -1, whose cosine
estimates the Jaccard similarity.
"""

from __future__ import annotations

import csv
import http.client
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

THRESHOLD = 0.8


def grams(text: str) -> list[bytes]:
    words = re.findall(r"\w+", text.casefold())
    return [" ".join(words[i : i + 5]).encode() for i in range(max(1, len(words) - 4))]


def redis_app():  # type: ignore[no-untyped-def]
    """Return the service of datasketch with Redis."""
    from datasketch import MinHash, MinHashLSH
    from fastapi import FastAPI

    lsh = MinHashLSH(threshold=THRESHOLD, num_perm=128, storage_config={"type": "redis", "redis": {"port": int(os.environ["REDIS_PORT"])}})
    app = FastAPI()

    @app.post("/check")
    def check(d: dict[str, str]) -> dict[str, object]:
        m = MinHash(num_perm=128)
        m.update_batch(grams(d["text"]))
        found = lsh.query(m)
        if not found:
            lsh.insert(d["id"], m)
        return {"new": not found, "duplicate_of": found[0] if found else None}

    return app


def milvus_app():  # type: ignore[no-untyped-def]
    """Return the service of milvus-lite."""
    from datasketch import MinHash
    from fastapi import FastAPI
    from pymilvus import DataType, MilvusClient

    client = MilvusClient(os.environ["MILVUS_FILE"])
    schema = client.create_schema()
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("bits", DataType.FLOAT_VECTOR, dim=256)
    index = client.prepare_index_params()
    index.add_index("bits", index_type="AUTOINDEX", metric_type="COSINE")
    client.create_collection("c", schema=schema, index_params=index, consistency_level="Strong")
    app = FastAPI()

    @app.post("/check")
    def check(d: dict[str, str]) -> dict[str, object]:
        m = MinHash(num_perm=256)
        m.update_batch(grams(d["text"]))
        bits = [1.0 if h & 1 else -1.0 for h in m.hashvalues.tolist()]
        found = client.search("c", [bits], limit=1, search_params={"metric_type": "COSINE"})[0]
        like = found[0]["id"] if found and found[0]["distance"] >= THRESHOLD else None
        if like is None:
            client.insert("c", [{"id": d["id"], "bits": bits}])
        return {"new": like is None, "duplicate_of": like}

    return app


def used(pids: list[int]) -> tuple[float, int]:
    """Return processor seconds and resident bytes of processes."""
    seconds, resident = 0.0, 0
    for pid in pids:
        words = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
        seconds += (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        resident += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return seconds, resident


def ask(port: int, path: str, body: bytes, method: str = "POST", connection: http.client.HTTPConnection | None = None) -> dict[str, object]:
    connection = connection or http.client.HTTPConnection("127.0.0.1", port)
    connection.request(method, path, body, {"Content-Type": "application/json"})
    answer: dict[str, object] = json.loads(connection.getresponse().read())
    return answer


def measure(name: str, port: int, path: str, pids: list[int], lines: list[bytes], like: dict[str, set[str]]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    ask(port, path, b'{"id":"first","text":"a text that makes everything start"}', connection=connection)
    before, small = used(pids)
    begun = time.monotonic()
    kept: set[str] = set()
    missed = false = 0
    for line in lines:
        new = ask(port, path, line, connection=connection)["new"]
        id = json.loads(line)["id"]
        duplicate = bool(like.get(id, set()) & kept)
        missed += bool(new) and duplicate
        false += not new and not duplicate
        if new:
            kept.add(id)
    wall = time.monotonic() - begun
    after, large = used(pids)
    print(f"{name}: {len(lines) / wall:.0f} documents/s, {(after - before) / len(lines) * 1e6:.0f} µs of a processor each, "
          f"{(large - small) / len(lines) / 1000:.2f} KB each, {missed} missed, {false} false of {len(like)} duplicates")


def wait(port: int) -> None:
    for _ in range(600):
        try:
            http.client.HTTPConnection("127.0.0.1", port, timeout=1).connect()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("a server does not start")


def main() -> None:
    alike, corpus, *programs = sys.argv[1:]
    lines = Path(corpus).read_bytes().splitlines()
    pairs = subprocess.run([alike, "pairs", corpus, "--candidates", "exact", "--threshold", str(THRESHOLD), "--quiet"], check=True, capture_output=True, text=True).stdout
    order = {json.loads(line)["id"]: n for n, line in enumerate(lines)}
    like: dict[str, set[str]] = {}
    for a, b, *_ in list(csv.reader(io.StringIO(pairs)))[1:]:
        first, second = sorted((a, b), key=order.__getitem__)
        like.setdefault(second, set()).add(first)
    with tempfile.TemporaryDirectory() as folder:
        for name in programs or ["alike", "redis", "milvus"]:
            port, started = 18200, []
            if name == "alike":
                started.append(subprocess.Popen([alike, "serve", "--listen", f"127.0.0.1:{port}", "--data", f"{folder}/data", "--durability", "interval"], stderr=subprocess.DEVNULL))
                wait(port)
                ask(port, "/v1/collections/c", b"{}", "PUT")
            else:
                if name == "redis":
                    started.append(subprocess.Popen(["redis-server", "--port", "18201", "--save", "", "--dir", folder], stdout=subprocess.DEVNULL))
                    wait(18201)
                environment = {**os.environ, "REDIS_PORT": "18201", "MILVUS_FILE": f"{folder}/milvus.db", "PYTHONPATH": str(Path(__file__).parent)}
                application = [sys.executable, "-m", "uvicorn", "--factory", f"services:{name}_app", "--port", str(port), "--log-level", "error"]
                started.append(subprocess.Popen(application, env=environment))
                wait(port)
            try:
                measure(name, port, "/v1/collections/c/check" if name == "alike" else "/check", [p.pid for p in started], lines, like)
            finally:
                for p in reversed(started):
                    p.terminate()
                    p.wait(60)


if __name__ == "__main__":
    main()
