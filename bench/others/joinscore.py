"""Runs a command, and prints a row: seconds, processor seconds, peak memory of all its processes, F1.

  joinscore.py NAME FOLDER OUT.csv COMMAND...

OUT.csv has the pairs that the command finds, with their scores in the third column. "best" is F1 at the best
threshold that the truth shows, where there are two tables of all pairs or of those that are each other's first choice;
"as given" that of all pairs, which is the decision of programs that decide.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time


def processes(session):
    """Yields seconds and resident bytes of each process of a session."""
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            yield pid, (int(fields[11]) + int(fields[12])) / tick, int(fields[21]) * page


def run(command):
    began = time.time()
    errors = tempfile.TemporaryFile("w+")
    p = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=errors)
    seconds, peak = {}, 0
    while p.poll() is None:
        now = list(processes(p.pid))
        seconds.update((pid, s) for pid, s, _ in now)
        peak = max(peak, sum(b for _, _, b in now))
        time.sleep(0.02)
    wall = time.time() - began
    errors.seek(0)
    return p.returncode, wall, sum(seconds.values()), peak, errors.read()


def scores(folder, out):
    one = os.path.exists(f"{folder}/table.csv")
    key = (lambda a, b: (min(a, b), max(a, b))) if one else (lambda a, b: (a, b))
    with open(f"{folder}/truth.csv") as f:
        truth = {key(*row[:2]) for row in list(csv.reader(f))[1:]}
    with open(out) as f:
        rows = sorted({(-float(r[2]), *key(r[0], r[1])) for r in list(csv.reader(f))[1:]})
    given = 2 * sum(r[1:] in truth for r in rows) / max(1, len(rows) + len(truth))
    if not one:
        seen = [set(), set()]
        first = []
        for r in rows:
            if r[1] not in seen[0] and r[2] not in seen[1]:
                first.append(r)
            seen[0].add(r[1])
            seen[1].add(r[2])
        return given, max(best(rows, truth), best(first, truth))
    return given, best(rows, truth)


def best(rows, truth):
    f1 = right = 0
    for n, r in enumerate(rows, 1):
        right += r[1:] in truth
        if n == len(rows) or rows[n][0] != r[0]:
            f1 = max(f1, 2 * right / (n + len(truth)))
    return f1


if __name__ == "__main__":
    name, folder, out, command = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    code, wall, cpu, peak, said = run(command)
    if code:
        print(f"| {name} | failed after {wall:.0f} s: {said.strip().splitlines()[-1] if said.strip() else code} |")
    else:
        given, most = scores(folder, out)
        print(f"| {name} | {wall:.1f} | {cpu:.1f} | {peak / 2**20:.0f} | {given:.3f} | {most:.3f} |", flush=True)
