#!/usr/bin/env bash
# Runs `alike dedup` and `alike pairs` over a corpus of 1 GB with planted
# near-duplicates, with one thread and with two, and prints seconds, MB/s, peak
# memory, recall and precision against the plant, and whether the outputs are
# the same bytes.
#
#   bench/gigabyte.sh [BASE.jsonl[.zst]…]
#
# BASE are the texts that the corpus is made from: JSONL with a field text, one
# language in each file, 50 MB or more so that the originals are not copies of each
# other. The default are the English Wikipedia texts beside the checkout.
#
# Environment: ALIKE_BENCH_DIR, where the corpus is made and kept for the next
# run (default: a temporary folder, removed at the end); ALIKE_BENCH_SIZE
# (default 1GB); ALIKE_BENCH_THRESHOLD (0.8); ALIKE_BENCH_THREADS ("1 2");
# ALIKE_BENCH_FLAGS, more flags of corpusgen.
source "$(dirname "$0")/lib.sh"
begin gigabyte ./cmd/alike ./bench/corpusgen ./bench/score

base_texts "$@"
threshold=${ALIKE_BENCH_THRESHOLD:-0.8}
# shellcheck disable=SC2086 # the flags are several words
corpus corpus.jsonl -size "${ALIKE_BENCH_SIZE:-1GB}" -seed 1 ${ALIKE_BENCH_FLAGS:-} -truth "$dir/truth.csv"
echo "corpus: $documents documents, $bytes bytes; threshold $threshold; $(nproc) processors"
cat "$dir/corpus.jsonl" >/dev/null # into the page cache

# Processor seconds are the better figure on a busy machine.
dedup_sums='' pairs_sums='' runs=0
for threads in ${ALIKE_BENCH_THREADS:-1 2}; do
  runs=$((runs + 1))
  for command in dedup pairs; do
    alike $command "$dir/corpus.jsonl" --threshold "$threshold" --threads "$threads"
    printf '%-20s %7.2f s %6.0f MB/s %8.2f s of processors %6d MB peak\n' "$command, $threads thread(s)" \
      "$seconds" "$(speed)" "$cpu" "$(mb "$peak")"
    record gigabyte "$documents, $command, $threads" "$seconds" "$(speed)" "$(mb "$peak")"
    if [ $command = dedup ]; then
      dedup_sums+="$(digest "$result")"$'\n'
    else
      pairs_sums+="$(digest "$result")"$'\n'
    fi
  done
done

"$bin/score" -corpus "$dir/corpus.jsonl" -truth "$dir/truth.csv" -threshold "$threshold" -recall 0.99 "$result"
for key in read kept removed skipped candidates verified rejected clusters bands rows; do
  printf '%s %s  ' $key "$(counted $key)"
done
echo
same=yes
[ "$(printf %s "$dedup_sums" | sort -u | wc -l)" = 1 ] || same=no
[ "$(printf %s "$pairs_sums" | sort -u | wc -l)" = 1 ] || same=no
echo "same bytes in all $runs runs: $same"
[ $same = yes ]
