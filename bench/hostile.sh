#!/usr/bin/env bash
# Feeds alike with every kind of bad input that it should survive, and prints a table
# of the results (Linux only; some cases need root, or user namespaces).
#
#   bench/hostile.sh [-run REGEXP] [-memory SIZE]
#
# Needs 2 GB of room in the folder for temporary files, and some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
go build -o "$tmp/" ./cmd/alike ./bench/hostile
"$tmp/hostile" -alike "$tmp/alike" "$@"
