"""Times the programs of bench/others over one corpus and prints a table; see run.sh.

    compare.py --dir DIR --runs N [--prefix N] [--fast] [--only KEY…] CORPUS.jsonl TRUTH.csv

DIR holds what run.sh made: bin/ with alike, ekzhu and score, venv/ with a Python
for every library. Programs run in turn, round after round, so that a busy spell of
the machine meets all alike; figures are medians of the rounds. What took longer
than a minute runs once.

Wall and processor seconds are those of the program and all processes that it
started. Peak memory is the larger of the biggest process's peak and of the sum over
all of them (proportional set sizes, four samples a second). Linux only.
"""

import argparse
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
LONG = 60  # seconds from which on a program runs once
PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Program:
    key: str  # of --only
    name: str
    kind: str  # what it answers with: pairs, removed, flags (see bench/score), or nothing
    verifies: str
    command: str
    collect: str = ""  # lists the answer, not timed
    slow: bool = False
    runs: list = field(default_factory=list)
    score: dict = field(default_factory=dict)


PROGRAMS = [
    Program("alike", "alike pairs, 1 thread", "pairs", "exact",
            "{bin}/alike pairs {corpus} -o {out} --threshold {t} --candidates lsh --threads 1 --quiet"),
    Program("alike", "alike pairs", "pairs", "exact",
            "{bin}/alike pairs {corpus} -o {out} --threshold {t} --candidates lsh --quiet"),
    Program("alike", "alike dedup", "removed", "exact",
            "{bin}/alike dedup {corpus} -o {work}/clean --threshold {t} --candidates lsh --quiet",
            "cp {work}/clean/removed.csv {out}"),
    Program("ekzhu", "ekzhu/minhash-lsh", "pairs", "no", "{bin}/ekzhu {corpus} {out} {t}"),
    Program("gaoya", "gaoya", "pairs", "estimate", "{bin}/gaoya-pairs {corpus} {out} {t}"),
    Program("fastsketch", "FastSketchLSH, 16 bands", "pairs", "no",
            "{venv}/fastsketch/bin/python {here}/fastsketch_lsh.py {corpus} {out} 16"),
    Program("fastsketch", "FastSketchLSH, checked", "pairs", "estimate",
            "{venv}/fastsketch/bin/python {here}/fastsketch_lsh.py {corpus} {out} 16 {t}"),
    Program("daft", "Daft, 16 bands of 8", "pairs", "no",
            "{venv}/daft/bin/python {here}/daft_minhash.py {corpus} {out} 16 8"),
    Program("python", "Python: 5-grams alone", "", "", "{venv}/rensa/bin/python {here}/grams.py {corpus}"),
    Program("rensa", "rensa, stream", "removed", "estimate",
            "{venv}/rensa/bin/python {here}/rensa_lsh.py {corpus} {out} {t} stream"),
    Program("rensa", "rensa, stream, 16 bands", "removed", "estimate",
            "{venv}/rensa/bin/python {here}/rensa_lsh.py {corpus} {out} {t} stream 16"),
    Program("rensa", "rensa, rho", "flags", "estimate",
            "{venv}/rensa/bin/python {here}/rensa_lsh.py {corpus} {out} {t} rho"),
    Program("datasketch", "datasketch", "pairs", "no",
            "{venv}/datasketch/bin/python {here}/datasketch_lsh.py {corpus} {out} {t} sha1 none"),
    Program("datasketch", "datasketch, xxhash", "pairs", "no",
            "{venv}/datasketch/bin/python {here}/datasketch_lsh.py {corpus} {out} {t} xxhash none"),
    Program("datasketch", "datasketch, xxhash, checked", "pairs", "estimate",
            "{venv}/datasketch/bin/python {here}/datasketch_lsh.py {corpus} {out} {t} xxhash sketch"),
    Program("text-dedup", "text-dedup", "removed", "no",
            "{venv}/text-dedup/bin/python -m text_dedup.minhash --path json --data_files {corpus} --split train"
            " --cache_dir {work}/cache --output {work}/kept --column text --ngram 5 --num_perm 128 --threshold {t}",
            "{venv}/text-dedup/bin/python {here}/textdedup_collect.py {corpus} {work}/kept {out}", slow=True),
    Program("text-dedup", "text-dedup, xxh3, 32 bits", "removed", "no",
            "{venv}/text-dedup/bin/python -m text_dedup.minhash --path json --data_files {corpus} --split train"
            " --cache_dir {work}/cache --output {work}/kept --column text --ngram 5 --num_perm 128 --threshold {t}"
            " --hash_func xxh3 --hash_bits 32",
            "{venv}/text-dedup/bin/python {here}/textdedup_collect.py {corpus} {work}/kept {out}", slow=True),
    Program("datatrove", "datatrove", "removed", "no",
            "{venv}/datatrove/bin/python {here}/datatrove_minhash.py {shards} {work} english",
            "{venv}/datatrove/bin/python {here}/datatrove_minhash.py collect {work} {out}", slow=True),
    Program("datatrove", "datatrove, plain words", "removed", "no",
            "{venv}/datatrove/bin/python {here}/datatrove_minhash.py {shards} {work} words",
            "{venv}/datatrove/bin/python {here}/datatrove_minhash.py collect {work} {out}", slow=True),
]


def descendants(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            children = [int(child) for child in f.read().split()]
    except OSError:
        return []
    return children + [d for child in children for d in descendants(child)]


def resident(pid):
    """The proportional set size of a process, in bytes; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            return next((int(line.split()[1]) * 1024 for line in f if line.startswith("Pss:")), 0)
    except OSError:
        return 0


def measure(command, env, log):
    """Runs a command; returns its exit status, wall and processor seconds, and peak memory in bytes."""
    peak, ended = [0], threading.Event()

    def sample(pid):
        while not ended.wait(0.25):
            family = [pid, *descendants(pid)]
            peak[0] = max(peak[0], sum(map(resident, family)))

    start = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=env["WORK"])
    sampler = threading.Thread(target=sample, args=(process.pid,))
    sampler.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    ended.set()
    sampler.join()
    cpu, largest = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
    while True:  # what the program left behind has come to this process
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            break
        cpu, largest = cpu + usage.ru_utime + usage.ru_stime, max(largest, usage.ru_maxrss)
    return process.returncode, wall, cpu, max(peak[0], largest * 1024)


def run(program, places, env, judge):
    """Runs a program once, in an empty folder, and scores its answer the first time."""
    shutil.rmtree(places["work"], ignore_errors=True)
    os.makedirs(places["work"])
    with open(places["log"], "ab") as log:
        status, *cost = measure(program.command.format(**places).split(), env, log)
        if status == 0 and program.collect:
            status = subprocess.run(program.collect.format(**places).split(), env=env, stdout=log, stderr=log).returncode
    if status != 0:
        raise RuntimeError(f"{program.name}: exit status {status}; see {places['log']}")
    program.runs.append(cost)
    if program.kind:
        answer = json.loads(subprocess.check_output([*judge, "-kind", program.kind, places["out"]]))
        if program.score and program.score != answer:
            print(f"{program.name}: another result than the run before: {answer}", file=sys.stderr)
        program.score = answer


def split(corpus, folder, parts):
    """Cuts a corpus into files, for programs that read a file a worker."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    subprocess.run(["split", "-n", f"l/{parts}", "-d", "--additional-suffix=.jsonl", corpus, folder + "/"], check=True)


def head(corpus, truth, documents, folder):
    """The first documents of a corpus, and the truth about them."""
    paths, ids = [f"{folder}/prefix.jsonl", f"{folder}/prefix.csv"], set()
    with open(corpus) as lines, open(paths[0], "w") as out:
        for _, line in zip(range(documents), lines):
            ids.add(json.loads(line)["id"])
            out.write(line)
    with open(truth) as rows, open(paths[1], "w") as out:
        out.write(next(rows))
        out.writelines(row for row in rows if ids.issuperset(row.split(",")[:2]))
    return paths


def table(programs, documents, size):
    rows = [["program", "answers", "verified", "runs", "wall s", "CPU s", "documents/s", "MB/s", "peak MB",
             "found", "recall", "precision", "wall ×", "CPU ×"]]
    cost = {id(p): [statistics.median(column) for column in zip(*p.runs)] for p in programs}
    partner = {p.kind: cost[id(p)] for p in programs if p.key == "alike"}  # the last one: all threads
    for p in programs:
        wall, cpu, peak = cost[id(p)]
        s, base = p.score, partner.get({"flags": "removed"}.get(p.kind, p.kind) or "pairs")
        rows.append([p.name, p.kind or "–", p.verifies or "–", str(len(p.runs)), f"{wall:.2f}", f"{cpu:.2f}",
                     f"{documents / wall:,.0f}", f"{size / wall / 1e6:.1f}", f"{peak / 1e6:,.0f}"]
                    + ([f"{s['named']:,}", f"{s['recall']:.4f}", f"{s['precision']:.4f}"] if s else ["–"] * 3)
                    + ([f"{wall / base[0]:.1f}", f"{cpu / base[1]:.1f}"] if base else ["–"] * 2))
    rows.insert(1, ["---"] * 3 + ["--:"] * (len(rows[0]) - 3))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--prefix", type=int)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--threshold", default="0.8")
    parser.add_argument("corpus")
    parser.add_argument("truth")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    root = os.path.abspath(options.dir)
    corpus, truth = os.path.abspath(options.corpus), os.path.abspath(options.truth)
    if options.prefix:
        corpus, truth = head(corpus, truth, options.prefix, root)
    places = {"here": HERE, "bin": f"{root}/bin", "venv": f"{root}/venv", "work": f"{root}/scratch",
              "shards": f"{root}/shards", "out": f"{root}/scratch/result.csv", "log": f"{root}/log",
              "corpus": corpus, "t": options.threshold}
    env = dict(os.environ, WORK=places["work"], HF_HOME=f"{root}/scratch/hf", HF_HUB_OFFLINE="1", PYTHONDONTWRITEBYTECODE="1")
    judge = [f"{root}/bin/score", "-json", "-corpus", corpus, "-truth", truth, "-threshold", options.threshold]
    programs = [p for p in PROGRAMS if not (options.fast and p.slow) and p.key in (options.only or [p.key])
                and (p.key != "gaoya" or os.path.exists(f"{root}/bin/gaoya-pairs"))
                and (p.key == "python" or f"{{venv}}/{p.key}" not in p.command or os.path.exists(f"{root}/venv/{p.key}/ready"))]
    if any(p.key == "datatrove" for p in programs):
        split(corpus, places["shards"], os.cpu_count())
    with open(corpus, "rb") as f:  # and into the page cache
        documents = sum(block.count(b"\n") for block in iter(lambda: f.read(1 << 20), b""))
    with open(truth) as f:
        planted = sum(float(row.split(",")[2]) >= float(options.threshold) for row in list(f)[1:])
    size = os.path.getsize(corpus)
    print(f"{documents:,} documents, {size / 1e6:,.1f} MB, {planted:,} planted pairs at {options.threshold} or above;"
          f" {os.cpu_count()} processors; load average before {os.getloadavg()[0]:.2f}")
    failed = []
    for number in range(options.runs):
        for p in programs:
            if p in failed or number > 0 and p.runs[0][0] > LONG:
                continue
            try:
                run(p, places, env, judge)
                wall, cpu, peak = p.runs[-1]
                print(f"round {number + 1}: {p.name}: {wall:.2f} s, {cpu:.2f} s of processors,"
                      f" {peak / 1e6:.0f} MB", file=sys.stderr)
            except RuntimeError as error:
                failed.append(p)
                print(error, file=sys.stderr)
    print(f"load average after {os.getloadavg()[0]:.2f}\n")
    print(table([p for p in programs if p not in failed], documents, size))
    sys.exit(1 if failed else 0)


main()
