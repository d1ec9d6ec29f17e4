#!/usr/bin/env bash
# Measures SimHash as hash4j's announcement does, for every width and set size, beside
# hash4j itself if java and mvn are installed (it is fetched from Maven Central).
# Each figure is the median of a hundred short measurements.
#
#   bench/simhash.sh
#   TAGS=purego bench/simhash.sh    the pure Go kernel
#   FLAGS=-vector bench/simhash.sh  with vector code for the elements' hashes
#   ROUNDS=1 bench/simhash.sh       rounds of hash4j (3)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go build -tags "${TAGS:-}" -o "$folder/simhash" ./bench/simhash
if command -v mvn >/dev/null && command -v javac >/dev/null; then
  mvn -q dependency:copy -Dartifact=com.dynatrace.hash4j:hash4j:0.17.0 -DoutputDirectory="$folder"
  javac -cp "$folder/hash4j-0.17.0.jar" -d "$folder" bench/simhash/Hash4j.java
  for ((i = 0; i < ${ROUNDS:-3}; i++)); do
    java -cp "$folder/hash4j-0.17.0.jar:$folder" Hash4j >>"$folder/hash4j.txt"
  done
  "$folder/simhash" ${FLAGS:-} -hash4j "$folder/hash4j.txt"
else
  echo "hash4j is left out: it takes java, javac and mvn" >&2
  "$folder/simhash" ${FLAGS:-}
fi
