#!/usr/bin/env bash
# Measures `alike pairs` and `alike dedup` of one text that igzip, gzip and zstd have packed, beside the programs that
# unpack it, and that unpack and pack it again, by turns; medians. Fails if other pairs or texts come out than of plain lines.
#
#   bench/packed.sh [BASE.jsonl[.zst]…]     BASE as in gigabyte.sh
#
# Environment: ALIKE_BENCH_DIR, where the corpus is kept; ALIKE_BENCH_SIZE (default 300MB); ALIKE_BENCH_RUNS (5);
# ALIKE_BENCH_PACKERS ("igzip gzip zstd1 zstd").
source "$(dirname "$0")/lib.sh"
begin packed ./cmd/alike ./bench/corpusgen
base_texts "$@"
corpus corpus.jsonl -size "${ALIKE_BENCH_SIZE:-300MB}" -seed 1

# Of each packer its name for files, the input, what unpacks it, and what packs it again.
declare -A packer=([igzip]=igzip [gzip]=gzip [zstd1]='zstd -q -1' [zstd]='zstd -q')
declare -A again=([igzip]=igzip [gzip]=gzip [zstd1]='zstd -q -1 -T2' [zstd]='zstd -q -T2')
declare -A end=([igzip]=gz [gzip]=gz [zstd1]=zst [zstd]=zst)
read -ra order <<<"${ALIKE_BENCH_PACKERS:-igzip gzip zstd1 zstd}"
unpack() { if [ "${end[$1]}" = gz ]; then echo "$2 -dc"; else echo zstd -dc; fi; } # PACKER PROGRAM
for p in "${order[@]}"; do
  mkdir "$run/$p"
  ${packer[$p]} -c "$dir/corpus.jsonl" >"$run/$p/c.jsonl.${end[$p]}"
done
mkdir "$run/plain"
ln -s "$dir/corpus.jsonl" "$run/plain/c.jsonl"
end[plain]=

# keep NAME adds what was measured to the runs of that name; of NAME COLUMN is the median of their seconds (1), or processor
# seconds (2).
keep() { echo "$seconds $cpu" >>"$run/$1.runs"; }
of() { median $(awk -v k="$2" '{ print $k }' "$run/$1.runs"); }

for ((i = 0; i < ${ALIKE_BENCH_RUNS:-5}; i++)); do
  for p in plain "${order[@]}"; do
    file=$run/$p/c.jsonl${end[$p]:+.${end[$p]}}
    alike pairs "$file"
    keep "pairs.$p"
    digest "$result" >"$run/$p.pairs"
    alike dedup "$file"
    keep "dedup.$p"
    if [ "$i" = 0 ]; then
      kept=$run/out/kept/${file##*/}
      wc -c <"$kept" >"$run/$p.kept"
      if [ "$p" = plain ]; then cat "$kept"; else $(unpack "$p" gzip) "$kept"; fi | sha256sum >"$run/$p.text"
    fi
    cmp "$run/plain.pairs" "$run/$p.pairs"
    cmp "$run/plain.text" "$run/$p.text"
    [ "$p" != plain ] || continue
    measure sh -c "$(unpack "$p" gzip) '$file' >'$run/again'"
    keep "unpack.$p"
    measure sh -c "$(unpack "$p" "${p/zstd1/zstd}") '$file' | ${again[$p]} -c >'$run/again'"
    keep "again.$p"
    rm "$run/again"
  done
done

row() { # TABLE ROW VALUE…
  printf '| %s ' "${@:2}"
  echo '|'
  record "$@"
}
printf '| `pairs` of | alike, s | processor s | the decoder alone, s | processor s | ratio by the clock | of processor s |\n|---|--:|--:|--:|--:|--:|--:|\n'
row compressed 'plain lines' "$(of pairs.plain 1)" "$(of pairs.plain 2)" '' '' '' ''
for p in "${order[@]}"; do
  a=pairs.$p d=unpack.$p
  row compressed "\`${packer[$p]/ -q/}\`, \`$(unpack "$p" gzip)\`" "$(of "$a" 1)" "$(of "$a" 2)" "$(of "$d" 1)" "$(of "$d" 2)" \
    "$(ratio "$(of "$a" 1)" "$(of "$d" 1)")" "$(ratio "$(of "$a" 2)" "$(of "$d" 2)")"
done
printf '\n| `dedup` of | alike, s | processor s | in, MB | kept, MB | both programs, s | processor s | ratio by the clock | of processor s |\n'
printf '|---|--:|--:|--:|--:|--:|--:|--:|--:|\n'
row repacked 'plain lines' "$(of dedup.plain 1)" "$(of dedup.plain 2)" "$(mb "$bytes")" "$(mb "$(cat "$run/plain.kept")")" '' '' '' ''
for p in "${order[@]}"; do
  a=dedup.$p d=again.$p
  row repacked "\`${packer[$p]/ -q/}\`, then \`${again[$p]/ -q/}\`" "$(of "$a" 1)" "$(of "$a" 2)" \
    "$(mb "$(wc -c <"$run/$p/c.jsonl.${end[$p]}")")" "$(mb "$(cat "$run/$p.kept")")" "$(of "$d" 1)" "$(of "$d" 2)" \
    "$(ratio "$(of "$a" 1)" "$(of "$d" 1)")" "$(ratio "$(of "$a" 2)" "$(of "$d" 2)")"
done
