#!/usr/bin/env bash
# Runs `alike dedup` and `alike pairs` over corpora of one size whose documents all
# share buckets: copies of one text, texts from one template, near-copies with one
# edit each, and texts that share three quarters of their words but are not similar.
# A corpus of distinct texts of the same size is the base of comparison. Prints
# seconds and their ratio to the distinct texts (the goal is at most 3), the same for
# processor seconds (the better figures on a busy machine), the peak of resident
# memory, and the results: kept documents beside the right number, clusters, capped
# buckets, verified pairs.
#
#   bench/hot.sh [KIND…]      kinds of bench/hotgen; default: all
#
# Fails if the result depends on the memory, if the memory is exceeded by more than
# a fifth, if a document was removed that is similar to no other, or if a copy was
# kept. Near-copies may be kept, because recall is below 1.
#
# Environment: ALIKE_BENCH_DOCS (1000000), documents of a corpus; ALIKE_BENCH_WORDS
# (100), words of a document; ALIKE_BENCH_MEMORY ("default 64MiB");
# ALIKE_BENCH_COMMANDS ("dedup pairs"); ALIKE_BENCH_RUNS (1), whose median is
# printed. A corpus takes 0.7 GB and is removed before the next one is made.
source "$(dirname "$0")/lib.sh"
begin hot ./cmd/alike ./bench/hotgen

# All figures are compared with those of the distinct texts, so these come first.
[ $# -gt 0 ] || set -- size copies template edits boilerplate
kinds=(distinct)
for kind in "$@"; do
  "$bin/hotgen" -kind "$kind" -documents 1 >/dev/null # fails if it does not know the kind
  [ "$kind" = distinct ] || kinds+=("$kind")
done
documents=${ALIKE_BENCH_DOCS:-1000000}
runs=${ALIKE_BENCH_RUNS:-1}
declare -A distinct_seconds distinct_cpu
echo "$documents documents of ${ALIKE_BENCH_WORDS:-100} words; $(nproc) processors; median of $runs"

row='%-12s %-6s %-8s %6s %8s %6s %8s %6s %9s %7s %16s %9s %7s %10s\n' failed=0
# shellcheck disable=SC2059 # the format is in a variable
printf "$row" kind command memory MB seconds ratio 'cpu s' ratio 'peak MiB' within 'kept (of)' clusters capped verified
for kind in "${kinds[@]}"; do
  corpus=$run/$kind.jsonl
  "$bin/hotgen" -kind "$kind" -documents "$documents" -words "${ALIKE_BENCH_WORDS:-100}" >"$corpus"
  bytes=$(wc -c <"$corpus")
  case $kind in
    copies | template | edits) ought=1 ;;
    *) ought=$documents ;;
  esac
  for command in ${ALIKE_BENCH_COMMANDS:-dedup pairs}; do
    first=''
    for memory in ${ALIKE_BENCH_MEMORY:-default 64MiB}; do
      flags_of "$memory"
      repeat "$runs" "$command" "$corpus" ${flags[@]+"${flags[@]}"}
      [ "$kind" != distinct ] || distinct_seconds[$command $memory]=$seconds distinct_cpu[$command $memory]=$cpu
      if [ "$command" = dedup ]; then
        kept=$(counted kept) clusters=$(counted clusters) capped=$(counted buckets_capped) verified=$(counted verified)
        case $kind in
          template | edits) ;;
          *) [ "$kept" = "$ought" ] || failed=1 ;;
        esac
        kept+=" ($ought)"
      else
        kept=- clusters=- capped=- verified=$(($(wc -l <"$result") - 1))
        [ $ought = 1 ] || [ $verified = 0 ] || failed=1
      fi
      # shellcheck disable=SC2059
      printf "$row" "$kind" "$command" "$memory" "$(mb "$bytes")" "$seconds" \
        "$(ratio "$seconds" "${distinct_seconds[$command $memory]}")" "$cpu" "$(ratio "$cpu" "${distinct_cpu[$command $memory]}")" \
        "$(mib "$peak")" "$(within "$memory")" "$kept" "$clusters" "$capped" "$verified"
      record hot "$kind, $command, $memory" "$seconds" "$(ratio "$seconds" "${distinct_seconds[$command $memory]}")" "$(mib "$peak")" "${kept% *}"
      [ "$(within "$memory")" != no ] || failed=1
      sum=$(outcome)
      if [ "$sum" != "${first:=$sum}" ]; then
        echo "hot: $kind: the result of alike $command with memory $memory is not that of the run before" >&2
        failed=1
      fi
    done
  done
  rm "$corpus"
done
exit $failed
