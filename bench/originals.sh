#!/usr/bin/env bash
# Builds the published systems that alike grew out of, each from a checkout of its own source, runs them beside
# alike, and prints medians. ROUNDS (5) is the number of runs; whole commands run by turns.
#
#   bench/originals.sh bottomk ARTICLES FOLDER    A. Gudkov's program, of github.com/andreigudkov/articles, over
#                                                 the 2000 texts of FOLDER or more, a file each; takes g++
#   bench/originals.sh broder MINHASH FOLDER…     github.com/themrpink/Parallel-Minhash-in-C, producer and
#                                                 consumers with THREADS threads (10, which suits it best), over
#                                                 folders of texts; takes gcc
#   bench/originals.sh exlsh EX_LSH [TEXTS]       github.com/meltwater/ex_lsh over the lines of TEXTS (400 kB of
#                                                 Reuters); takes elixir, zstd and jq
#
# bench/simhash.sh runs hash4j. Nothing is written into the checkouts.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
  sed -n '2,/^source/s/^# \{0,1\}//p' "bench/originals.sh"
  exit 2
}
[ $# -ge 2 ] || usage
what=$1 rounds=${ROUNDS:-5}
absolute() { (cd "$origin" && realpath "$1"); }
checkout=$(absolute "$2")
inputs=()
for input in "${@:3}"; do inputs+=("$(absolute "$input")"); done

# bottomk prints the median over the rounds of the program's own figure, which is the best of three passes. The
# program reads ruwiki.txt of its working folder, a text a line, and knows no characters beyond 16 bits.
bottomk() {
  [ ${#inputs[@]} -eq 1 ] || usage
  begin originals
  local source=$checkout/sim/shingle/src
  g++ -std=c++14 -O3 -march=native -w -I "$source" -o "$bin/original" bench/originals/bottomk.cc "$source/shingle.cc" "$source/isalphanum.cc"
  find "${inputs[0]}" -maxdepth 1 -type f -print0 | while IFS= read -r -d '' file; do
    tr '\n' ' ' <"$file" | iconv -c -f UTF-8 -t UCS-2LE | iconv -f UCS-2LE -t UTF-8
    echo
  done >"$run/ruwiki.txt"
  [ "$(wc -l <"$run/ruwiki.txt")" -ge 2000 ] || { echo "${inputs[0]}: fewer than 2000 texts, which the program takes for granted" >&2; exit 2; }
  for ((i = 0; i < rounds; i++)); do
    (cd "$run" && "$bin/original" | grep 'Time:') >"$run/said.$i"
  done
  local line=0 name
  while read -r name _; do
    line=$((line + 1))
    echo "  ${name/#Checksum*/comparisons}: $(median $(sed -n "${line}s/.*Time:\([0-9]*\).*/\1/p" "$run"/said.*)) microseconds"
  done <"$run/said.0"
  echo "alike"
  bench/bottomk.sh "${inputs[0]}"
}

# broder prints seconds and processor seconds of whole commands. The program is compiled from all files of
# its folder, and writes logs into its working folder.
broder() {
  [ ${#inputs[@]} -ge 1 ] || usage
  begin originals ./cmd/alike
  gcc -O3 -march=native -w -fopenmp -o "$bin/original" "$checkout"/pthread_prod_cons/*.c
  local folder round
  echo "folder: original with ${THREADS:-10} threads; alike pairs --preset broder: seconds, processor seconds; ratios"
  for folder in "${inputs[@]}"; do
    local theirs=() theirs_cpu=() ours=() ours_cpu=()
    for ((round = 0; round < rounds; round++)); do
      measure bash -c 'cd "$1" && shift && "$@" >/dev/null' bash "$run" "$bin/original" "$folder" "${THREADS:-10}"
      theirs+=("$seconds") theirs_cpu+=("$cpu")
      alike pairs "$folder" --preset broder
      ours+=("$seconds") ours_cpu+=("$cpu")
    done
    printf '  %-12s %8s %8s  %8s %8s  %6s %6s\n' "$(basename "$folder")" "$(median "${theirs[@]}")" "$(median "${theirs_cpu[@]}")" \
      "$(median "${ours[@]}")" "$(median "${ours_cpu[@]}")" "$(ratio "$(median "${theirs[@]}")" "$(median "${ours[@]}")")" \
      "$(ratio "$(median "${theirs_cpu[@]}")" "$(median "${ours_cpu[@]}")")"
  done
}

exlsh() {
  begin originals
  mkdir "$run/ebin"
  elixirc -o "$run/ebin" "$checkout"/lib/*.ex >/dev/null
  if [ ${#inputs[@]} -eq 1 ]; then
    cp "${inputs[0]}" "$run/texts"
  else
    zstd -dc ../shared/data/reuters21578/docs.jsonl.zst | jq -r '.text | gsub("\n"; " ")' | head -c 400000 >"$run/texts" || [ -s "$run/texts" ] # head ends the pipe early
  fi
  echo "ExLSH, $(wc -c <"$run/texts") bytes:"
  elixir -pa "$run/ebin" bench/originals/exlsh.exs "$run/texts" "$rounds"
  echo "alike, MB/s in the last but two columns:"
  go test ./exlsh -run '^$' -bench Sketch -benchtime 0.3s -cpu 1 -count "$rounds" | grep '^Benchmark'
}

case $what in
  bottomk | broder | exlsh) $what ;;
  *) usage ;;
esac
