#!/usr/bin/env bash
# Runs alike pairs --ngram 3 over titles, by auto, lsh and exact. A title has 7 to 11 words, 54
# characters on average; a tenth of them are copies with edits.
#
#   bench/titles.sh [PROGRAM…]   PROGRAM: other builds of alike to run beside, in the same rounds
#
#   ALIKE_TITLES="2000000 10000000"   documents
#   ALIKE_TITLES_HOW="auto lsh exact"
#   ALIKE_TITLES_RUNS=3               runs of each, whose medians are printed
source "$(dirname "$0")/lib.sh"
begin titles ./cmd/alike ./bench/corpusgen
programs=("$bin/alike")
for program in "$@"; do
  programs+=("$(cd "$origin" && realpath "$program")")
done
base_texts
for documents in ${ALIKE_TITLES:-2000000 10000000}; do
  corpus "titles-$documents.jsonl" -documents "$documents" -words 7-11
  echo "$documents titles, $(mb "$bytes") MB"
  declare -A all_seconds=() all_cpu=() all_peak=() found=()
  for ((i = 0; i < ${ALIKE_TITLES_RUNS:-3}; i++)); do
    for how in ${ALIKE_TITLES_HOW:-auto lsh exact}; do
      for program in "${programs[@]}"; do
        measure "$program" pairs "$dir/titles-$documents.jsonl" --ngram 3 --candidates "$how" -o "$run/pairs.csv" --quiet
        key="$how $program"
        all_seconds[$key]+="$seconds " all_cpu[$key]+="$cpu " all_peak[$key]+="$peak "
        found[$key]="$(($(wc -l <"$run/pairs.csv") - 1)) pairs $(digest "$run/pairs.csv")"
      done
    done
  done
  for how in ${ALIKE_TITLES_HOW:-auto lsh exact}; do
    for program in "${programs[@]}"; do
      key="$how $program"
      # shellcheck disable=SC2086
      printf '%-6s %-24s %7.3f s %7.3f processor s %6s MB  %s\n' "$how" "$(basename "$program")" "$(median ${all_seconds[$key]})" \
        "$(median ${all_cpu[$key]})" "$(mb "$(median ${all_peak[$key]})")" "${found[$key]}"
      # shellcheck disable=SC2086
      record titles "$documents, $how, $(basename "$program")" "$(median ${all_seconds[$key]})" "$(median ${all_cpu[$key]})" \
        "$(mb "$(median ${all_peak[$key]})")" "${found[$key]}"
    done
  done
done
