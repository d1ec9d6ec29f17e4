#!/bin/bash
# Answers of alike match against a million records: bench/match.sh PERSONS.py [RECORDS]. It makes a table, takes 4,000
# records out of it, three of four of which have a partner there, learns a model from 200,000 others, and prints the time
# of a start, that of each answer, the memory, and how many answers are right.
set -euo pipefail
persons=$1 records=${2:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$(dirname "$0")/.." && CGO_ENABLED=0 go build -o "$work/alike" ./cmd/alike)
python3 "$persons" "$records" "$work" 7
cd "$work"
python3 - <<'END'
import csv, json, random
chance = random.Random(5)
header, *rows = csv.reader(open("table.csv"))
mates = {}
for a, b in list(csv.reader(open("truth.csv")))[1:]:
    mates.setdefault(a, set()).add(b)
    mates.setdefault(b, set()).add(a)
some = chance.sample([r for r in rows if r[0] in mates], 3000)
taken = {r[0] for r in some}
some = [r for r in some if not mates[r[0]] <= taken] + chance.sample([r for r in rows if r[0] not in mates], 1000)
taken = {r[0] for r in some}
chance.shuffle(some)
def write(name, rows):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
write("rest.csv", [r for r in rows if r[0] not in taken])
write("asked.csv", some)
write("none.csv", [])
halves = [], []
for r in rows[:200_000]:
    halves[chance.random() < 0.5].append(r)
write("a.csv", halves[0])
write("b.csv", halves[1])
json.dump({k: sorted(v) for k, v in mates.items() if k in taken}, open("mates.json", "w"))
END
./alike join a.csv b.csv --save-config model.json --quiet -o links.csv
for asked in none asked; do
	/usr/bin/time -f "$asked.csv: %U + %S s, %M KiB" ./alike match model.json rest.csv --format csv --threads 1 --quiet < $asked.csv > answers.jsonl
done
python3 - <<'END'
import json
mates = json.load(open("mates.json"))
right = wrong = missed = 0
for line in open("answers.jsonl"):
    answer = json.loads(line)
    of = mates.get(answer["id"])
    if answer["new"]:
        missed += of is not None
    elif of and answer["matches"][0]["id"] in of:
        right += 1
    else:
        wrong += 1
print(right, "right,", wrong, "wrong,", missed, "missed, F1", round(2 * right / (2 * right + wrong + missed), 4))
END
