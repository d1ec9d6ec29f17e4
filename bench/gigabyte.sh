#!/usr/bin/env bash
# Runs `alike dedup` and `alike pairs` over a corpus of 1 GB with planted
# near-duplicates, with one thread and with two, and prints seconds, MB/s, peak
# memory, recall and precision against the plant, and whether the outputs are
# the same bytes.
#
#   bench/gigabyte.sh [BASE.jsonl[.zst]…]
#
# BASE are the texts that the corpus is made from (JSONL with a field text, each
# file one language; 50 MB or more give originals that are no copies of each
# other). Without any, the English Wikipedia texts beside the checkout are taken.
#
# Environment: ALIKE_BENCH_DIR, where the corpus is made and kept for the next
# run (default: a temporary folder, removed at the end); ALIKE_BENCH_SIZE
# (default 1GB); ALIKE_BENCH_THRESHOLD (0.8); ALIKE_BENCH_THREADS ("1 2");
# ALIKE_BENCH_FLAGS, more flags of corpusgen.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

size=${ALIKE_BENCH_SIZE:-1GB}
threshold=${ALIKE_BENCH_THRESHOLD:-0.8}
bases=("$@")
if [ ${#bases[@]} -eq 0 ]; then
  data=../shared/data
  bases=("$data/wiki_long_en/docs.jsonl.zst" "$data/wiki_multilingual/en.jsonl.zst" "$data/wiki_multilingual/simple.jsonl.zst")
fi
for base in "${bases[@]}"; do
  if [ ! -r "$base" ]; then
    echo "gigabyte: no base texts in $base: name JSONL files to make the corpus from" >&2
    exit 2
  fi
done

if [ -n "${ALIKE_BENCH_DIR:-}" ]; then
  dir=$ALIKE_BENCH_DIR
  mkdir -p "$dir"
else
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$dir/bin"
go build -o "$dir/bin/" ./cmd/alike ./bench/corpusgen ./bench/score

# A corpus is kept with the words that it was made by.
made="$(git rev-parse HEAD:internal/plant 2>/dev/null || echo unknown) $size ${bases[*]} ${ALIKE_BENCH_FLAGS:-}"
if [ "$(cat "$dir/corpus.made" 2>/dev/null || true)" != "$made" ]; then
  # shellcheck disable=SC2086 # the flags are several words
  "$dir/bin/corpusgen" -size "$size" -seed 1 ${ALIKE_BENCH_FLAGS:-} -o "$dir/corpus.jsonl" -truth "$dir/truth.csv" "${bases[@]}"
  echo "$made" >"$dir/corpus.made"
fi
bytes=$(wc -c <"$dir/corpus.jsonl")
documents=$(wc -l <"$dir/corpus.jsonl")
echo "corpus: $documents documents, $bytes bytes; threshold $threshold; $(nproc) processors"
cat "$dir/corpus.jsonl" >/dev/null # into the page cache

# measure NAME COMMAND… runs a command and prints what it cost: seconds, processor
# seconds (on a busy machine the better figure), peak memory. The last two are
# GNU time's; without it, peak memory is that of the command's $summary.
measure() {
  local name=$1 start end cpu=0 memory=0
  shift
  if [ "$(/usr/bin/time -f %M true 2>&1 | wc -w)" = 1 ]; then
    start=$EPOCHREALTIME
    /usr/bin/time -f '%U %S %M' -o "$dir/time" "$@"
    end=$EPOCHREALTIME
    read -r cpu memory < <(awk '{ print $1 + $2, $3 * 1024 }' "$dir/time")
  else
    start=$EPOCHREALTIME
    "$@"
    end=$EPOCHREALTIME
    memory=$(sed -n 's/.*"peak_memory_bytes": *\([0-9]*\).*/\1/p' "${summary:-/dev/null}")
  fi
  awk -v n="$name" -v s="$start" -v e="$end" -v c="$cpu" -v b="$bytes" -v m="${memory:-0}" \
    'BEGIN { printf "%-20s %7.2f s %6.0f MB/s %8.2f s of processors %6.0f MB peak\n", n, e - s, b / (e - s) / 1e6, c, m / 1e6 }'
}

# digest prints one sum of all outputs but summary.json, which tells the time.
digest() { find "$@" -type f ! -name summary.json -print0 | sort -z | xargs -0 sha256sum | sed "s#  .*/$(basename "$1")#  #" | sha256sum | cut -c 1-16; }

dedup_sums='' pairs_sums='' runs=0
for threads in ${ALIKE_BENCH_THREADS:-1 2}; do
  runs=$((runs + 1))
  rm -rf "$dir/out"
  summary=$dir/out/summary.json
  measure "dedup, $threads thread(s)" "$dir/bin/alike" dedup "$dir/corpus.jsonl" -o "$dir/out" --threshold "$threshold" --threads "$threads" --quiet
  dedup_sums+="$(digest "$dir/out")"$'\n'
  summary=
  measure "pairs, $threads thread(s)" "$dir/bin/alike" pairs "$dir/corpus.jsonl" -o "$dir/pairs.csv" --threshold "$threshold" --threads "$threads" --quiet
  pairs_sums+="$(digest "$dir/pairs.csv")"$'\n'
done

"$dir/bin/score" -corpus "$dir/corpus.jsonl" -truth "$dir/truth.csv" -threshold "$threshold" -recall 0.99 "$dir/pairs.csv"
tr -d '\n ' <"$dir/out/summary.json" | grep -oE '"(read|kept|removed|skipped|candidates|verified|rejected|clusters|bands|rows)":[0-9]+' | tr '\n' ' '
echo
same=yes
[ "$(printf %s "$dedup_sums" | sort -u | wc -l)" = 1 ] || same=no
[ "$(printf %s "$pairs_sums" | sort -u | wc -l)" = 1 ] || same=no
echo "same bytes in all $runs runs: $same"
[ $same = yes ]
