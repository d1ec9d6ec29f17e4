#!/usr/bin/env bash
# Times alike beside programs that its users would otherwise take, on the same
# machine, data and task (near-duplicates of Jaccard similarity 0.8 or more, word
# 5-grams, MinHash of 128), in one run. Prints a table for every corpus.
#
#   bench/others/run.sh [CORPUS.jsonl TRUTH.csv]
#
# CORPUS and TRUTH are of corpusgen. Without them a corpus of 20,000 documents is
# made from the English Wikipedia texts beside the checkout. Of a larger corpus, slow
# programs read a prefix, and alike is also run over this prefix.
#
# Needs Go, Rust, Python 3.11 or later with venv and pip, and Linux. Installed programs
# and all other files go to a temporary folder.
#
# Environment: ALIKE_OTHERS_DIR, a folder to keep for the next run (default: a
# temporary one, removed at the end); ALIKE_OTHERS_DOCUMENTS (20000), of the corpus
# that is made; ALIKE_OTHERS_PREFIX (20000; 0 leaves the slow programs out);
# ALIKE_OTHERS_RUNS (3); ALIKE_OTHERS_PROGRAMS, such as "alike ekzhu gaoya fastsketch daft
# python rensa datasketch text-dedup datatrove" (default: all).
if [ $# -ne 0 ] && [ $# -ne 2 ]; then
  echo "usage: bench/others/run.sh [CORPUS.jsonl TRUTH.csv]" >&2
  exit 2
fi
source "$(dirname "$0")/lib.sh"
programs=${ALIKE_OTHERS_PROGRAMS:-alike ekzhu gaoya fastsketch daft python rensa datasketch text-dedup datatrove}
mkdir -p "$dir/bin"
go build -o "$dir/bin/" ./cmd/alike ./bench/corpusgen ./bench/score
(cd bench/others/ekzhu && go build -o "$dir/bin/ekzhu" .)

# gaoya is a Rust library. It is compiled for this processor, to use all its instructions.
case " $programs " in
  *" gaoya "*)
    if (cd bench/others/gaoya && RUSTFLAGS='-C target-cpu=native' CARGO_TARGET_DIR=$dir/gaoya cargo build --quiet --release) >&2; then
      cp "$dir/gaoya/release/gaoya-pairs" "$dir/bin/"
    else
      echo "left out: gaoya, which cargo did not build" >&2
    fi
    ;;
esac
install rensa rensa==0.5.0 orjson==3.13.0
for program in $programs; do
  case $program in
    fastsketch) install fastsketch FastSketchLSH==1.0.1 polars==2.1.0 numpy==2.4.6 ;;
    daft) install daft daft==0.7.26 ;;
    datasketch) install datasketch datasketch==2.0.0 numpy==2.4.6 scipy==1.17.1 orjson==3.13.0 xxhash==3.8.2 ;;
    text-dedup) install text-dedup text-dedup==0.4.0 numpy==2.4.6 datasets==5.2.0 ;;
    datatrove) install datatrove 'datatrove[io,processing]==0.10.1' numpy==2.4.6 spacy==3.8.18 orjson==3.13.0 xxhash==3.8.2 ;;
  esac
done

if [ ${#inputs[@]} -eq 0 ]; then
  documents=${ALIKE_OTHERS_DOCUMENTS:-20000}
  inputs=("$dir/corpus-$documents.jsonl" "$dir/corpus-$documents.csv")
  data=../shared/data
  bases=("$data/wiki_long_en/docs.jsonl.zst" "$data/wiki_multilingual/en.jsonl.zst" "$data/wiki_multilingual/simple.jsonl.zst")
  if [ ! -r "${bases[0]}" ]; then
    echo "others: no base texts in ${bases[0]}: make a corpus with bench/corpusgen, and name it and its truth" >&2
    exit 2
  fi
  "$dir/bin/corpusgen" -documents "$documents" -seed 1 -o "${inputs[0]}" -truth "${inputs[1]}" "${bases[@]}" 2>/dev/null
fi

# compare FLAG… prints the table of one corpus.
compare() {
  # shellcheck disable=SC2086 # the programs are several words
  python3 bench/others/compare.py --dir "$dir" --runs "${ALIKE_OTHERS_RUNS:-3}" "$@" "${inputs[@]}" --only $programs
}

prefix=${ALIKE_OTHERS_PREFIX:-20000}
status=0
if [ "$(wc -l <"${inputs[0]}")" -le "$prefix" ]; then
  compare || status=1
else
  compare --fast || status=1
  if [ "$prefix" -gt 0 ]; then
    echo
    echo "The first $prefix documents:"
    compare --prefix "$prefix" || status=1
  fi
fi
exit $status
