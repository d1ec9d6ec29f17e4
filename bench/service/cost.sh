#!/usr/bin/env bash
# What the server's own processor takes for a document, beside the commands, as medians of rounds in which all take turns:
#   bench/service/cost.sh ALIKE SERVICE DOCS.jsonl [ROUNDS]
# SERVICE is of go build ./bench/service. Durable checks are also told beside connections ÷ the median of an fsync.
set -euo pipefail
export LC_ALL=C TIMEFORMAT='%U %S'
alike=$1 service=$2 docs=$3 rounds=${4:-5}
folder=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; rm -rf "$folder"' EXIT
n=$(wc -l <"$docs")

# took NAME SECONDS notes what a document took, in µs.
took() { awk -v s="$2" -v n="$n" 'BEGIN { printf "%.2f\n", s * 1e6 / n }' >>"$folder/$1"; }
used() { awk '{ print ($14 + $15) / 100 }' "/proc/$server/stat"; }

# command NAME COMMAND… measures a command that reads the documents.
command_() {
  local name=$1
  shift
  { time "$@" <"$docs" >/dev/null; } 2>"$folder/time"
  took "$name" "$(tail -n 1 "$folder/time" | tr ' ' '+' | bc)"
}

# start COMMAND… starts a server.
start() {
  "$@" 2>"$folder/log" &
  server=$!
  until url=http://$(sed -n 's/.*"address":"\([^"]*\)".*/\1/p' "$folder/log") && [ "$url" != http:// ]; do sleep 0.05; done
}

# begin FLAG… starts alike with a new collection.
begin() {
  start "$alike" serve --listen 127.0.0.1:0 "$@"
  curl -sf -X PUT "$url/v1/collections/c" --json '{"window":{"docs":1000000}}' >/dev/null
}

end() {
  kill "$server"
  wait "$server" || true
}

# lines NAME PATH sends all documents in one body.
lines() {
  local before
  before=$(used)
  curl -sf -H 'Content-Type: application/x-ndjson' -T "$docs" -X POST "$url$2" -o /dev/null
  took "$1" "$(echo "$(used) - $before" | bc)"
}

# singles NAME CONNECTIONS
singles() {
  local before
  before=$(used)
  "$service" -connections "$2" -pid "$server" "$url/v1/collections/c/check" "$docs" | sed -n 's/\([0-9]*\)\/s.*median \([^,]*\), p99 \([^;]*\);.*/\1 \2 \3/p' >>"$folder/$1.rates"
  took "$1" "$(echo "$(used) - $before" | bc)"
}

for _ in $(seq "$rounds"); do
  rm -rf "$folder/data" "$folder/state"
  command_ stream "$alike" stream --window-docs 1000000 --quiet
  command_ stream-state "$alike" stream --window-docs 1000000 --quiet --state "$folder/state"
  command_ sketch "$alike" sketch - --format jsonl --quiet
  command_ sketch-exlsh "$alike" sketch - --format jsonl --preset exlsh-word --quiet
  start "$service" -floor
  singles floor 32
  kill "$server"
  begin
  singles single 32
  lines serve-sketch /v1/sketch
  lines serve-sketch-exlsh '/v1/sketch?preset=exlsh-word'
  end
  begin
  lines lines /v1/collections/c/documents
  end
  begin --data "$folder/data"
  lines lines-durable /v1/collections/c/documents
  end
  rm -rf "$folder/data"
  begin --data "$folder/data"
  head -n 8000 "$docs" >"$folder/some"
  "$service" -connections 64 "$url/v1/collections/c/check" "$folder/some" | sed 's/^/durable, 64 connections: /'
  end
done
python3 - "$folder" <<'PYTHON'
import statistics, sys, time, os, tempfile
folder = sys.argv[1]
def median(name):
    return statistics.median(map(float, open(f"{folder}/{name}")))
print(f"a server that does nothing: {median('floor'):.1f} µs; single checks take {median('single') - median('floor'):.1f} µs more")
for name, beside in (("single", "stream"), ("lines", "stream"), ("lines-durable", "stream-state"), ("serve-sketch", "sketch"), ("serve-sketch-exlsh", "sketch-exlsh")):
    print(f"{name}: {median(name):.1f} µs, {beside} {median(beside):.1f} µs, ratio {median(name) / median(beside):.2f}")
print("single, 32 connections (a second, median, p99):", open(f"{folder}/single.rates").read().split("\n")[:-1])
times = []
with tempfile.TemporaryFile(dir=folder) as f:
    for _ in range(200):
        f.write(b"x" * 4096)
        f.flush()
        begun = time.perf_counter()
        os.fdatasync(f.fileno())
        times.append(time.perf_counter() - begun)
m = statistics.median(times)
print(f"fdatasync: median {m * 1e3:.2f} ms; 64 connections ÷ that are {64 / m:.0f} a second")
PYTHON
