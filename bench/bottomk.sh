#!/usr/bin/env bash
# Measures bottom-k fingerprints as A. Gudkov's article does: it makes the rows for alike of the
# table in bench/RESULTS.md. Each file in FOLDER is a text; the article has 1000 long texts for
# fingerprints and 2000 for comparisons.
#
#   bench/bottomk.sh FOLDER [DOCUMENTS]
#
# DOCUMENTS, such as 740000, is the size of a collection to join and search; it takes
# minutes and 7 kB of memory a document.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
folder=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "The article's stages, in Go, and alike"
ALIKE_TEXTS=$folder go test ./minhash -run '^$' -bench BottomKText -benchtime 10x -cpu 1 | grep '^Benchmark'
echo "alike, medians of many short measurements"
go run ./bench/bottomk "$folder"
echo "alike in pure Go"
go run -tags purego ./bench/bottomk -passes 5 "$folder"
if [ $# -ge 2 ]; then
  go run ./bench/bottomk -collection "$2" "$folder"
fi
