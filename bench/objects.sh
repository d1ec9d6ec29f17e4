#!/usr/bin/env bash
# Runs `alike dedup` and `alike pairs` from bucket to bucket on a real S3 server
# of this machine, compares every byte with a run over the same folder, and prints
# seconds and peak memory of both. Then it repeats this with 200 small objects and
# counts requests: each pass may read each object once, and no byte twice.
#
#   bench/objects.sh [FOLDER]
#
# FOLDER has the corpus (default: examples/corpus). The server is that of s3.sh, and keeps its data in
# a temporary folder. If there is no server, the script says so and ends.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

folder=${1:-examples/corpus}
source bench/s3.sh
find_server

dir=$(mktemp -d)
finish() {
  stop_servers
  rm -rf "$dir"
}
trap finish EXIT

mkdir -p "$dir/bin"
go build -o "$dir/bin/" ./cmd/alike ./bench/bucketcopy ./bench/bucketlog
PATH=$dir/bin:$PATH

start_server "$dir"
bucketcopy "$folder" s3://alike/in

# timed NAME COMMAND…
timed() {
  local name=$1 start=$EPOCHREALTIME
  shift
  "$@" 2>"$dir/said" || {
    cat "$dir/said" >&2
    exit 1
  }
  echo "$name: $(echo "$EPOCHREALTIME $start" | awk '{ printf "%.2f s", $1 - $2 }'); $(tail -n 1 "$dir/said")"
}

timed 'dedup, folder' alike dedup "$folder" -o "$dir/local"
timed 'dedup, bucket to bucket' alike dedup s3://alike/in -o s3://alike/out
timed 'pairs, folder' alike pairs "$folder" -o "$dir/pairs.csv"
timed 'pairs, bucket to bucket' alike pairs s3://alike/in -o s3://alike/results/pairs.csv
bucketcopy s3://alike/out "$dir/remote"
bucketcopy s3://alike/results "$dir/results"

# same FOLDER PREFIX LOCAL REMOTE checks that two outputs of dedup have the same bytes,
# except paths that serve as ids, and measurements in the summary.
same() {
  for file in removed.csv clusters.csv kept.txt; do
    if [ -f "$3/$file" ]; then
      sed "s#$2/#$1/#g" "$4/$file" | cmp - "$3/$file"
    fi
  done
  diff -r "$4/kept" "$3/kept"
  grep -q '"kept"' "$4/summary.json"
}
same "$folder" s3://alike/in "$dir/local" "$dir/remote"
sed "s#s3://alike/in/#$folder/#g" "$dir/results/pairs.csv" | cmp - "$dir/pairs.csv"
echo "same bytes: $(find "$dir/local" -type f | wc -l) files, $(wc -l <"$dir/pairs.csv") lines of pairs"

# 200 objects of 40 kB: every tenth record is a near-copy of one in the object before. There are
# so many character shingles that records are read again to compare them.
mkdir "$dir/small"
awk -v dir="$dir/small" 'BEGIN {
  srand(1)
  for (o = 0; o < 200; o++) {
    file = sprintf("%s/part-%03d.jsonl", dir, o)
    for (i = 0; i < 50; i++) {
      if (i % 10 == 1 && o > 0) {
        text = before[i]
        sub(/w[0-9]+/, "copy" o "x" i, text)
      } else {
        text = ""
        for (w = 0; w < 120; w++) text = text "w" int(rand() * 100000) " "
      }
      if (i % 10 == 0) before[i + 1] = last[i]
      last[i] = text
      printf "{\"id\":\"%d-%d\",\"text\":\"%s\"}\n", o, i, text >file
    }
    close(file)
  }
}'
bucketcopy "$dir/small" s3://alike/small
size=$(cat "$dir"/small/* | wc -c)
log_requests "$dir/requests"

# counted NAME PASSES COMMAND… runs the command, and checks that it reads each byte of the
# small objects at most once in every pass.
counted() {
  local name=$1 passes=$2 before
  shift 2
  before=$(wc -l <"$dir/requests")
  timed "$name" "$@"
  tail -n "+$((before + 1))" "$dir/requests" | awk -v name="$name" -v passes="$passes" -v size="$size" '
    $1 == "GET" && $2 ~ /[?&]list-type=/ { lists += $2 ~ /[?&]prefix=small%2F(&|$)/; next } # of the input
    $1 == "GET" { reads++; bytes += $4; next }
    $1 == "HEAD" { lookups++; next }
    { writes++ }
    END {
      printf "%s: %d lists, %d look-ups, %d reads of %d bytes (objects: 200 of %d), %d writes\n", name, lists, lookups, reads, bytes, size, writes
      if (lists > 1 || lookups > 1 || reads > 200 * passes || bytes > size * passes) {
        print "objects: too many requests or bytes" >"/dev/stderr"
        exit 1
      }
    }'
}
# lsh, because auto would read a sample of the records before it chooses.
counted 'pairs, small objects' 2 alike pairs --tokens chars --candidates lsh s3://alike/small -o "$dir/small.csv"
counted 'dedup, small objects' 3 alike dedup --tokens chars --candidates lsh s3://alike/small -o s3://alike/small-out
alike pairs --tokens chars --candidates lsh "$dir/small" -o "$dir/small-local.csv" 2>/dev/null
cmp "$dir/small.csv" "$dir/small-local.csv"
alike dedup --tokens chars --candidates lsh "$dir/small" -o "$dir/small-local" 2>/dev/null
bucketcopy s3://alike/small-out "$dir/small-remote"
same "$dir/small" s3://alike/small "$dir/small-local" "$dir/small-remote"
echo "same bytes of small objects: $(wc -l <"$dir/small.csv") lines of pairs"
