#!/usr/bin/env bash
# SimHash as hash4j's announcement measures it, every width and set size, beside
# hash4j itself where there are java and mvn (it is fetched from Maven Central).
# The two run in turn, and of each the least of all rounds counts; noise of the
# machine is noise of the ratios.
#
#   bench/simhash.sh
#   TAGS=purego bench/simhash.sh    the pure Go kernel
#   ROUNDS=1 bench/simhash.sh       rounds of hash4j (2)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go build -tags "${TAGS:-}" -o "$folder/simhash" ./bench/simhash
if command -v mvn >/dev/null && command -v javac >/dev/null; then
  mvn -q dependency:copy -Dartifact=com.dynatrace.hash4j:hash4j:0.17.0 -DoutputDirectory="$folder"
  javac -cp "$folder/hash4j-0.17.0.jar" -d "$folder" bench/simhash/Hash4j.java
  for ((i = 0; i < ${ROUNDS:-2}; i++)); do
    java -cp "$folder/hash4j-0.17.0.jar:$folder" Hash4j >>"$folder/hash4j.txt"
    "$folder/simhash" -rounds 1 >/dev/null
  done
  "$folder/simhash" -hash4j "$folder/hash4j.txt"
else
  echo "hash4j is left out: it takes java, javac and mvn" >&2
  "$folder/simhash"
fi
