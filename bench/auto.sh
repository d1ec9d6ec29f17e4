#!/usr/bin/env bash
# Compares --candidates auto with the better of lsh and exact: processor seconds and peak memory of
# alike pairs over real texts, at several thresholds and shingle lengths. A line is marked if auto
# takes more than 1.2 times the smaller figure, and at least 5 ms or 5 MB more.
#
#   bench/auto.sh [FILE…]       JSONL, plain or .zst (default: all texts of ../shared/data)
#
#   ALIKE_AUTO_RUNS=5           of each; medians count
#   ALIKE_AUTO_THRESHOLDS="0.2 0.3 0.5 0.8"
#   ALIKE_AUTO_NGRAMS="1 3 5"
source "$(dirname "$0")/lib.sh"
begin auto ./cmd/alike
data=../shared/data
files=()
for file in "$@"; do
  case $file in
    /*) files+=("$file") ;;
    *) files+=("$origin/$file") ;;
  esac
done
if [ $# -eq 0 ]; then
  files=("$data"/{minhash_articles/articles_1000,ir_plag/docs,scpd1/docs,udhr/docs,bbc_news/docs,versioned_etcd/docs,reuters21578/docs,wiki_long_en/docs}.jsonl.zst
    "$data"/wiki_multilingual/*.jsonl.zst "$data"/setsim_retail/sets.txt.zst)
  if [ -r "$data/wiki_folders/folders.tar.zst" ]; then
    mkdir "$run/wiki"
    zstd -dcq --long=27 "$data/wiki_folders/folders.tar.zst" | tar x -C "$run/wiki"
    files+=("$run"/wiki/*)
  fi
fi

bad=0
printf '| corpus | n | threshold | lsh s | exact s | auto s | × | lsh MB | exact MB | auto MB | × |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n'
for file in "${files[@]}"; do
  label=$(basename "$(dirname "$file")")/$(basename "$file")
  input=$file
  if [ -f "$file" ] && [ "${file%.zst}" != "$file" ]; then
    label=${label%.zst} input=$run/input.${file##*/}
    input=${input%.zst}
    zstd -dcqf --long=27 "$file" -o "$input"
  fi
  format=()
  [ "${input%.txt}" = "$input" ] || format=(--format lines)
  for n in ${ALIKE_AUTO_NGRAMS:-1 3 5}; do
    for t in ${ALIKE_AUTO_THRESHOLDS:-0.2 0.3 0.5 0.8}; do
      declare -A all_cpu=() all_peak=()
      for ((i = 0; i < ${ALIKE_AUTO_RUNS:-5}; i++)); do
        for how in lsh exact auto; do
          alike pairs "$input" "${format[@]}" --ngram "$n" --threshold "$t" --candidates "$how"
          all_cpu[$how]+="$cpu " all_peak[$how]+="$peak "
        done
      done
      for how in lsh exact auto; do
        # shellcheck disable=SC2086
        all_cpu[$how]=$(median ${all_cpu[$how]}) all_peak[$how]=$(median ${all_peak[$how]})
      done
      line=$(awk -v l="${all_cpu[lsh]}" -v e="${all_cpu[exact]}" -v a="${all_cpu[auto]}" -v lm="${all_peak[lsh]}" -v em="${all_peak[exact]}" -v am="${all_peak[auto]}" '
        BEGIN {
          s = l < e ? l : e; m = lm < em ? lm : em
          mark = a > 1.2 * s && a > s + 0.005 || am > 1.2 * m && am > m + 5e6 ? " **" : ""
          printf "%.3f | %.3f | %.3f | %.2f | %.0f | %.0f | %.0f | %.2f%s", l, e, a, a / s, lm / 1e6, em / 1e6, am / 1e6, am / m, mark
        }')
      case $line in *'**') bad=$((bad + 1)) ;; esac
      printf '| %s | %s | %s | %s |\n' "$label" "$n" "$t" "$line"
    done
  done
done
echo
echo "lines over 1.2: $bad"
