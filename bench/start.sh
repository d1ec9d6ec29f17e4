#!/usr/bin/env bash
# Measures what the start of alike costs beside a program that prints one line, and what each library costs that the
# command imports: page faults, processor milliseconds, packages with an init function and their time, and size, of a
# program that imports it and does nothing else. Needs perf.
#
#   bench/start.sh [PACKAGE…]   default: all packages of other modules that cmd/alike and what it imports import
source "$(dirname "$0")/lib.sh"
begin start ./cmd/alike
export CGO_ENABLED=0
packages=("$@")
if [ $# -eq 0 ]; then
  mapfile -t packages < <(go list -deps -f '{{if .Module}}{{if .Module.Main}}{{join .Imports "\n"}}{{end}}{{end}}' ./cmd/alike |
    grep '\..*/' | grep -v '^github.com/alike-dev/' | sort -u)
fi
sed '1s/.*/module start/' go.mod >"$run/go.mod"
cp go.sum "$run"

row() { # NAME COMMAND…
  local label=$1
  shift
  perf stat -x, -r 30 -e page-faults,task-clock -o "$run/stat" "$@" >/dev/null
  local inits
  inits=$(for _ in 1 2 3 4 5; do GODEBUG=inittrace=1 "$@" 2>&1 >/dev/null | grep '^init '; done |
    awk '!($2 in least) || $5 < least[$2] { least[$2] = $5 } END { for (p in least) { n++; sum += least[p] } printf "%d | %.2f", n, sum }')
  awk -F, -v l="$label" -v i="$inits" -v size="$(stat -c %s "$1")" '
    $3 == "page-faults" { faults = $1 } $3 == "task-clock" { ms = $1 }
    END { printf "| %s | %d | %.1f | %s | %.1f |\n", l, faults, ms, i, size / 1e6 }' "$run/stat"
}

printf '| imports | page faults | ms | init functions | their ms | MB |\n|---|--:|--:|--:|--:|--:|\n'
for package in "" "${packages[@]}"; do
  printf 'package main\n\nimport (\n\t"fmt"\n%s)\n\nfunc main() { fmt.Println() }\n' "${package:+	_ \"$package\"
}" >"$run/main.go"
  (cd "$run" && go build -mod=mod -trimpath -ldflags "-s -w" -o one main.go)
  row "${package:-nothing}" "$run/one"
done
go build -trimpath -ldflags "-s -w" -o "$run/all" ./cmd/alike
row "alike version" "$run/all" version
