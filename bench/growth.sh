#!/usr/bin/env bash
# Runs `alike dedup` over ten thousand, a hundred thousand, a million and ten
# million short documents (14 to 32 words, 20 on average; a tenth are copies with up
# to 4 % of their words edited), without and with a memory ceiling, and prints
# seconds, MB/s, the peak of resident memory, and the exponent of growth (1 is
# linear): of each step, and from 100,000 documents on by least squares of the
# logarithms.
#
#   bench/growth.sh [BASE.jsonl[.zst]…]
#
# BASE as in gigabyte.sh. The corpora take 1.7 GB, the output as much again.
#
# Environment: ALIKE_BENCH_DIR, where the corpora are made and kept for the next
# run (default: a temporary folder, removed at the end); ALIKE_BENCH_DOCS ("10000
# 100000 1000000 10000000"); ALIKE_BENCH_MEMORY ("default 256MiB");
# ALIKE_BENCH_COMMANDS (dedup); ALIKE_BENCH_RUNS (3), whose median is printed; corpora
# of more than a million documents are run once.
source "$(dirname "$0")/lib.sh"
begin growth ./cmd/alike ./bench/corpusgen

base_texts "$@"
echo "$(nproc) processors; medians of ${ALIKE_BENCH_RUNS:-3} up to a million documents"
# exponent COMMAND MEMORY COLUMN [LAST] fits a line to the logarithms of a column of
# the figures: of the LAST rows or, by default, all from 100,000 documents on.
exponent() {
  awk -v c="$1" -v m="$2" -v column="$3" -v last="${4:-0}" '
    $1 == c && $2 == m && (last || $3 >= 1e5) { n++; x[n] = log($3); y[n] = log($column) }
    END {
      first = last && n > last ? n - last + 1 : 1
      count = n - first + 1
      for (i = first; i <= n; i++) { sx += x[i]; sy += y[i]; sxx += x[i] * x[i]; sxy += x[i] * y[i] }
      if (count < 2) print "-"
      else printf "%.3f", (count * sxy - sx * sy) / (count * sxx - sx * sx)
    }' "$run/figures"
}

row='%-6s %-8s %10s %6s %9s %9s %6s %9s %7s %9s\n' failed=0
# shellcheck disable=SC2059 # the format is in a variable
printf "$row" command memory documents MB seconds 'cpu s' MB/s 'peak MiB' within exponent
for count in ${ALIKE_BENCH_DOCS:-10000 100000 1000000 10000000}; do
  corpus "short-$count.jsonl" -documents "$count" -words 14-32 -seed 1 2>/dev/null
  corpus=$dir/short-$count.jsonl runs=${ALIKE_BENCH_RUNS:-3}
  [ "$count" -le 1000000 ] || runs=1
  cat "$corpus" >/dev/null # into the page cache
  for command in ${ALIKE_BENCH_COMMANDS:-dedup}; do
    first=''
    for memory in ${ALIKE_BENCH_MEMORY:-default 256MiB}; do
      flags_of "$memory"
      repeat "$runs" "$command" "$corpus" ${flags[@]+"${flags[@]}"}
      echo "$command $memory $documents $seconds $cpu" >>"$run/figures"
      # shellcheck disable=SC2059
      printf "$row" "$command" "$memory" "$documents" "$(mb "$bytes")" "$seconds" "$cpu" "$(speed)" \
        "$(mib "$peak")" "$(within "$memory")" "$(exponent "$command" "$memory" 4 2)"
      record growth "$command, $documents, $memory" "$seconds" "$cpu" "$(mib "$peak")" "$(exponent "$command" "$memory" 4 2)"
      [ "$(within "$memory")" != no ] || failed=1
      sum=$(outcome)
      if [ "$sum" != "${first:=$sum}" ]; then
        echo "growth: the result of alike $command with memory $memory is not that of the run before" >&2
        failed=1
      fi
    done
  done
  [ -n "${ALIKE_BENCH_DIR:-}" ] || rm "$corpus"
done

for command in ${ALIKE_BENCH_COMMANDS:-dedup}; do
  for memory in ${ALIKE_BENCH_MEMORY:-default 256MiB}; do
    printf 'exponent from 100,000 documents on: alike %s, memory %s: seconds %s, processor seconds %s\n' \
      "$command" "$memory" "$(exponent "$command" "$memory" 4)" "$(exponent "$command" "$memory" 5)"
  done
done
exit $failed
