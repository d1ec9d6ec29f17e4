#!/usr/bin/env bash
# Runs `alike dedup` with memory ceilings: over the same documents in each format and
# compression, over a folder in which all of these are mixed, and over documents of
# the largest length that a record may have. Prints seconds, the peak of resident
# memory as measured by the system, and whether the output is that of a run without
# a ceiling. Fails if it is not, or if the peak is more than a fifth above the
# ceiling; the ceiling does not include the long documents themselves.
#
#   bench/memory.sh [BASE.jsonl[.zst]…]
#
# BASE as in gigabyte.sh. Needs gzip, zstd, bzip2 and xz, and ten times the size of
# the corpus of disk.
#
# Environment: ALIKE_BENCH_DIR, where the corpus is made and kept for the next
# run (default: a temporary folder, removed at the end); ALIKE_BENCH_SIZE (default
# 60MB); ALIKE_BENCH_MEMORY ("64MiB 256MiB"); ALIKE_BENCH_KINDS, which rows (default:
# all).
source "$(dirname "$0")/lib.sh"
begin memory ./cmd/alike ./bench/corpusgen ./bench/formats

base_texts "$@"
corpus corpus.jsonl -size "${ALIKE_BENCH_SIZE:-60MB}" -seed 1
corpus=$dir/corpus.jsonl
in=$run/in

# pack FILE COMPRESSION compresses a file in one piece, as users do.
pack() {
  case $2 in
    gz) gzip -f "$1" ;;
    zst) zstd -q -f --rm "$1" ;;
    bz2) bzip2 -f "$1" ;;
    xz) xz -f -T1 "$1" ;;
  esac
}

# prepare KIND makes the inputs of a row in $in, and sets the flags that they need.
prepare() {
  flags=()
  rm -rf "$in"
  mkdir -p "$in"
  case $1 in
    texts) "$bin/formats" "$corpus" "$in/texts/" ;;
    mixed)
      "$bin/formats" "$corpus" "$in"/{a,b,c,d,e}.jsonl "$in"/{f,g,h}.csv "$in"/{i,j}.tsv "$in"/{k,l}.parquet "$in/texts/"
      pack "$in/b.jsonl" gz && pack "$in/c.jsonl" zst && pack "$in/d.jsonl" bz2 && pack "$in/e.jsonl" xz
      pack "$in/f.csv" gz && pack "$in/g.csv" zst && pack "$in/i.tsv" bz2
      ;;
    long) # two similar documents, in words that no other document has
      for text in one two; do
        awk -v last=$text 'BEGIN { for (i = 0; i < 7500000; i++) printf "%x ", i; print last }' >"$in/$text.txt"
      done
      ;;
    lines) "$bin/formats" "$corpus" "$in/a.lines" && flags=(--format lines) ;;
    *)
      "$bin/formats" "$corpus" "$in/a.${1%%.*}"
      [ "${1%%.*}" = "$1" ] || pack "$in/a.${1%%.*}" "${1#*.}"
      ;;
  esac
}

kinds=${ALIKE_BENCH_KINDS:-jsonl jsonl.gz jsonl.zst jsonl.bz2 jsonl.xz csv csv.gz csv.zst csv.bz2 csv.xz tsv lines texts parquet mixed long}
echo "corpus: $documents documents, $(mb "$bytes") MB; $(nproc) processors"
failed=0
row='%-10s %-8s %8s %9s %7s %5s\n'
# shellcheck disable=SC2059 # the format is in a variable
printf "$row" input memory seconds 'peak MiB' within same
for kind in $kinds; do
  prepare "$kind"
  formats=("${flags[@]}") plain=''
  for memory in default ${ALIKE_BENCH_MEMORY:-64MiB 256MiB}; do
    flags_of "$memory"
    repeat 1 dedup "$in" ${formats[@]+"${formats[@]}"} ${flags[@]+"${flags[@]}"}
    sum=$(outcome)
    plain=${plain:-$sum} same=yes within=$(within "$memory")
    [ "$sum" = "$plain" ] || same=no
    [ "$kind" != long ] || within=-
    [ "$within" != no ] && [ $same = yes ] || failed=1
    # shellcheck disable=SC2059
    printf "$row" "$kind" "$memory" "$seconds" "$(mib "$peak")" "$within" $same
    record memory "$kind${ALIKE_BENCH_SIZE:+ of $ALIKE_BENCH_SIZE}, $memory" "$(mib "$peak")"
  done
done
exit $failed
