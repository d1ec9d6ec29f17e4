#!/usr/bin/env bash
# Measures alike.dedup of a million documents in every kind of Python object, beside the command
# on a JSONL file of the same documents. Needs Python; rows of pandas, polars and pyarrow are
# left out where these are not installed.
#
#   bench/python.sh [BASE…]
#
#   PYTHON=python3       the interpreter
#   DOCUMENTS=1000000    documents, of 1 kB on average
#   ROUNDS=3             runs, whose medians are printed
#   KINDS="pandas list"  kinds of objects (default: all)
#   ALIKE_BENCH_DIR=…    keeps the corpus
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
begin python ./bench/corpusgen ./cmd/alike
base_texts "$@"
corpus "python-${DOCUMENTS:=1000000}.jsonl" -documents "$DOCUMENTS" -words 120-300
python=${PYTHON:-python3}

# The program that Python runs is also measured by itself.
printf '#!/bin/sh\nexec %q -o %q %q "$@"\n' "$bin/measure" "$run/child" "$bin/alike" >"$bin/measured"
chmod +x "$bin/measured"

echo "$documents documents, $((bytes / documents)) B each; medians of ${ROUNDS:=3}; kept must be equal"
printf '%-22s %8s %8s %8s %10s %10s %8s\n' rows seconds ratio 'cpu s' 'python MiB' 'alike MiB' kept
repeat "$ROUNDS" dedup "$dir/python-$DOCUMENTS.jsonl"
plain=$seconds
row() { printf '%-22s %8.2f %8s %8.2f %10s %10s %8s\n' "$@"; }
row 'the command' "$seconds" 1.00 "$cpu" - "$(mib "$peak")" "$(counted kept)"
for kind in ${KINDS:-pandas pandas-object polars pyarrow list iterator}; do
  all_seconds=() all_cpu=() most_own=0 most_peak=0
  for ((i = 0; i < ROUNDS; i++)); do
    result=$(TMPDIR=$temp ALIKE_BINARY=$bin/measured PYTHONPATH=python/src \
      "$python" bench/python/frames.py "$kind" "$dir/python-$DOCUMENTS.jsonl") || continue 2
    read -r seconds own_cpu own kept <<<"$result"
    read -r _ child_cpu peak _ <"$run/child"
    all_seconds+=("$seconds") all_cpu+=("$(awk -v a="$own_cpu" -v b="$child_cpu" 'BEGIN { print a + b }')")
    most_own=$((own > most_own ? own : most_own)) most_peak=$((peak > most_peak ? peak : most_peak))
  done
  seconds=$(median "${all_seconds[@]}")
  row "$kind" "$seconds" "$(ratio "$seconds" "$plain")" "$(median "${all_cpu[@]}")" "$(mib "$most_own")" "$(mib "$most_peak")" "$kept"
done
