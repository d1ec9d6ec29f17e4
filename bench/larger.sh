#!/usr/bin/env bash
# Runs `alike dedup` and `alike pairs` over a corpus that is many times as large
# as their memory ceiling, and over the same corpus without a ceiling. Prints
# seconds, the ratio of both, the peak of resident memory as measured by the system,
# the bytes spilled to disk, the largest size of the folder for them, and whether
# the outputs have the same bytes (of the summary, the same counts). Fails if they
# differ, or if the peak is more than a fifth above the ceiling.
#
#   bench/larger.sh [BASE.jsonl[.zst]…]
#
# BASE as in gigabyte.sh. Needs 2.5 times the size of the corpus of disk.
#
# Environment: ALIKE_BENCH_DIR, where the corpus is made and kept for the next
# run (default: a temporary folder, removed at the end); ALIKE_BENCH_SIZE
# (default 5.4GB, 20 times 256 MiB); ALIKE_BENCH_MEMORY ("256MiB 64MiB");
# ALIKE_BENCH_COMMANDS ("dedup pairs"); ALIKE_BENCH_RUNS (1), whose median is
# printed; ALIKE_BENCH_FLAGS, more flags of corpusgen (such as -words 14-32, for
# short documents, which spill more).
source "$(dirname "$0")/lib.sh"
begin larger ./cmd/alike ./bench/corpusgen

base_texts "$@"
# shellcheck disable=SC2086 # the flags are several words
corpus corpus.jsonl -size "${ALIKE_BENCH_SIZE:-5.4GB}" -seed 1 ${ALIKE_BENCH_FLAGS:-}
corpus=$dir/corpus.jsonl
memories=${ALIKE_BENCH_MEMORY:-256MiB 64MiB}
runs=${ALIKE_BENCH_RUNS:-1}
echo "corpus: $documents documents, $(mb "$bytes") MB; $(nproc) processors; median of $runs"
for memory in $memories; do
  echo "the corpus is $(ratio "$bytes" "$(size_of "$memory")") times $memory"
done
cat "$corpus" >/dev/null # into the page cache

failed=0
row='%-6s %-8s %8s %6s %6s %8s %9s %11s %10s %7s %5s\n'
# shellcheck disable=SC2059 # the format is in a variable
printf "$row" command memory seconds ratio MB/s 'cpu s' 'peak MiB' 'spilled MB' 'folder MB' within same
for command in ${ALIKE_BENCH_COMMANDS:-dedup pairs}; do
  plain_seconds='' plain_sum=''
  for memory in default $memories; do
    flags_of "$memory"
    repeat "$runs" "$command" "$corpus" ${flags[@]+"${flags[@]}"}
    sum=$(outcome)
    plain_seconds=${plain_seconds:-$seconds} plain_sum=${plain_sum:-$sum}
    spilled=- within=$(within "$memory") same=yes
    [ "$command" = pairs ] || spilled=$(mb "$(counted spilled_bytes)")
    [ "$sum" = "$plain_sum" ] || same=no
    [ "$within" != no ] && [ $same = yes ] || failed=1
    # shellcheck disable=SC2059
    printf "$row" "$command" "$memory" "$seconds" "$(ratio "$seconds" "$plain_seconds")" \
      "$(speed)" "$cpu" \
      "$(mib "$peak")" "$spilled" "$(mb "$disk")" "$within" $same
    record larger "$command, $memory" "$seconds" "$(ratio "$seconds" "$plain_seconds")" "$cpu" "$(mib "$peak")" "$(mb "$disk")"
  done
done
exit $failed
