#!/usr/bin/env bash
# Compares two commits: builds alike of both, runs the main commands in turn, one of OLD and one of NEW, and prints the
# ratios of the medians of processor time, of seconds, and of the peak of resident memory, NEW over OLD. Exits with 1 if
# processor time or the peak is over the limit, or if results differ; seconds tell something on a quiet machine only.
#
#   bench/compare.sh OLD NEW [BASE.jsonl[.zst]…]
#
# BASE as in gigabyte.sh.
#
# Environment: ALIKE_BENCH_DIR, where the corpus is made and kept for the next run (default: a temporary folder, removed
# at the end); ALIKE_BENCH_SIZE (default 200MB); ALIKE_BENCH_RUNS, how often each command runs (default 7; of the folder
# of 3,000 files, which takes a tenth of a second, three times as often);
# ALIKE_BENCH_ROWS, which commands (default: all); ALIKE_BENCH_LIMIT (default 1.03).
source "$(dirname "$0")/lib.sh"
if [ $# -lt 2 ]; then
  echo "usage: bench/compare.sh OLD NEW [BASE.jsonl[.zst]…]" >&2
  exit 2
fi
old=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "compare: no commit $1" >&2 && exit 2; }
new=$(git rev-parse --verify --quiet "$2^{commit}") || { echo "compare: no commit $2" >&2 && exit 2; }
shift 2
begin compare ./bench/corpusgen ./bench/formats
base_texts "$@"

# build COMMIT NAME
build() {
  mkdir "$run/$2"
  git archive "$1" | tar -x -C "$run/$2"
  (cd "$run/$2" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -buildvcs=false -o "$bin/$2" ./cmd/alike)
  rm -r "${run:?}/$2"
  cp "$bin/$2" "$bin/$2.copy" # as in lib.sh
  mv "$bin/$2.copy" "$bin/$2"
}
build "$old" old
build "$new" new

corpus corpus.jsonl -size "${ALIKE_BENCH_SIZE:-200MB}" -seed 1
in=$run/in
mkdir "$in"
ln -s "$dir/corpus.jsonl" "$in/corpus.jsonl"
gzip -1 -c "$dir/corpus.jsonl" >"$in/corpus.jsonl.gz"
zstd -q -c "$dir/corpus.jsonl" >"$in/corpus.jsonl.zst"
"$bin/formats" "$dir/corpus.jsonl" "$in/corpus.parquet"
head -n 3000 "$dir/corpus.jsonl" >"$in/small.jsonl"
"$bin/formats" "$in/small.jsonl" "$in/folder/"
sed -n -E 's/^\{"id":"([^"\\]*)","text":"([^"\\]{20,90}).*/\1,"\2"/p' "$dir/corpus.jsonl" >"$in/titles"
for table in left right; do echo id,title >"$in/$table.csv"; done
awk -v dir="$in" '{ print >> (dir "/" (NR % 2 ? "left" : "right") ".csv") }' "$in/titles"
cut -d '"' -f 2 "$in/titles" >"$in/titles.txt"
"$bin/old" index build "$in/index" "$in/corpus.jsonl" --quiet
head -n 2000 "$in/corpus.jsonl" >"$in/queries.jsonl"

# arguments_of ROW sets $arguments, and what they read from $input; what the command writes is $result, or its standard
# output.
arguments_of() {
  input=/dev/null
  case $1 in
    dedup) arguments=(dedup "$in/corpus.jsonl" -o "$result") ;;
    gzip) arguments=(dedup "$in/corpus.jsonl.gz" -o "$result") ;;
    zstd) arguments=(dedup "$in/corpus.jsonl.zst" -o "$result") ;;
    parquet) arguments=(dedup "$in/corpus.parquet" -o "$result") ;;
    folder) arguments=(dedup "$in/folder" -o "$result") ;;
    folder-pairs) arguments=(pairs "$in/folder" --threshold 0.5 -o "$result") ;;
    stream) arguments=(stream) input=$in/corpus.jsonl ;;
    state) arguments=(stream --state "$run/state") input=$in/corpus.jsonl ;;
    pairs) arguments=(pairs "$in/corpus.jsonl" --threshold 0.5 -o "$result") ;;
    titles) arguments=(dedup "$in/titles.txt" --format lines -o "$result") ;;
    join) arguments=(join "$in/left.csv" "$in/right.csv" -o "$result") ;;
    index) arguments=(index build "$result" "$in/corpus.jsonl") ;;
    search) arguments=(search "$in/index" "$in/queries.jsonl") ;;
    sketch) arguments=(sketch "$in/corpus.jsonl" -o "$result") ;;
    *)
      echo "compare: no row $1" >&2
      exit 2
      ;;
  esac
}

# once NAME runs one program, and adds its cost to what is known of it. Files of an index are not the same twice, and pages
# may change.
once() {
  rm -rf "$result" "$run/state"
  measure "$bin/$1" "${arguments[@]}" --quiet <"$input" >"$run/printed"
  echo "$cpu" >>"$run/$1.cpu"
  echo "$seconds" >>"$run/$1.seconds"
  echo "$peak" >>"$run/$1.peak"
  rm -f "$result"/report.*
  if [ "$row" != index ] && [ -e "$result" ]; then digest "$result"; else digest "$run/printed"; fi >"$run/$1.digest"
}

over=0
printf '| row | processor s | | ratio | seconds | | ratio | MiB | | ratio | result |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n'
for row in ${ALIKE_BENCH_ROWS:-dedup gzip zstd parquet folder pairs folder-pairs titles join index search sketch stream state}; do
  result=$run/out runs=${ALIKE_BENCH_RUNS:-7}
  case $row in
    pairs | join) result=$run/out.csv ;;
    sketch) result=$run/out.jsonl ;;
    folder) runs=$((3 * runs)) ;;
    folder-pairs) result=$run/out.csv runs=$((3 * runs)) ;;
  esac
  arguments_of "$row"
  rm -f "$run"/{old,new}.{cpu,seconds,peak}
  for ((i = 0; i < runs; i++)); do
    once old
    once new
  done
  same=same
  cmp -s "$run/old.digest" "$run/new.digest" || same=differs
  mapfile -t old_cpu <"$run/old.cpu"
  mapfile -t new_cpu <"$run/new.cpu"
  mapfile -t old_seconds <"$run/old.seconds"
  mapfile -t new_seconds <"$run/new.seconds"
  mapfile -t old_peak <"$run/old.peak"
  mapfile -t new_peak <"$run/new.peak"
  awk -v row="$row" -v same="$same" -v limit="${ALIKE_BENCH_LIMIT:-1.03}" \
    -v c1="$(median "${old_cpu[@]}")" -v c2="$(median "${new_cpu[@]}")" -v p1="$(median "${old_peak[@]}")" -v p2="$(median "${new_peak[@]}")" \
    -v s1="$(median "${old_seconds[@]}")" -v s2="$(median "${new_seconds[@]}")" '
    BEGIN {
      c = c2 / c1
      p = p2 / p1
      printf "| %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.0f | %.0f | %.3f | %s |\n",
        row, c1, c2, c, s1, s2, s2 / s1, p1 / 1048576, p2 / 1048576, p, same
      exit c > limit || p > limit || same != "same"
    }' || over=1
done
exit $over
