#!/usr/bin/env bash
# Measures what the house weighs: lines, modules, bytes, builds, flags, docs, large types, wide packages, and the start.
# It prints a table, or JSON, in which a regression is a diff.
#
#   bench/house.sh [--json] [COMMIT]     default: the last commit
#
#   ALIKE_HOUSE_COLD=0                   leaves out the cold builds, which take minutes
set -euo pipefail
export LC_ALL=C CGO_ENABLED=0 GOWORK=off GOFLAGS=-trimpath
cd "$(dirname "${BASH_SOURCE[0]}")/.."
json=
if [ "${1:-}" = --json ]; then
  json=1
  shift
fi
commit=$(git rev-parse --short "${1:-HEAD}")
run=$(mktemp -d)
trap 'git worktree remove --force "$run/tree"; rm -rf "$run"' EXIT
git worktree add --quiet --detach "$run/tree" "$commit"
cd "$run/tree"
rows=()
row() { rows+=("$1|$2"); } # NAME VALUE
per() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
of_files() { xargs -d '\n' cat | "$@"; }

# milliseconds RUNS COMMAND…: wall time of one run, of many
milliseconds() {
  local runs=$1 begun
  shift
  begun=$(date +%s%N)
  for _ in $(seq "$runs"); do "$@" >/dev/null 2>&1; done
  awk -v ns=$(($(date +%s%N) - begun)) -v n="$runs" 'BEGIN { printf "%.2f", ns / n / 1e6 }'
}

row 'Go lines without tests' "$(git ls-files '*.go' | grep -v _test.go | of_files wc -l)"
row 'Go lines of what the program links' "$(go list -deps -f '{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{end}}{{end}}' ./cmd/alike | grep . | of_files wc -l)"
go build -ldflags '-s -w' -o "$run/alike" ./cmd/alike
row 'bytes of the program, stripped' "$(stat -c %s "$run/alike")"
row 'modules in it' "$(go version -m "$run/alike" | grep -c $'^\tdep')"
row 'modules in the graph' "$(go list -m all | wc -l)"

# Two programs outside, with the versions of this module: one does nothing, one opens Pebble.
mkdir "$run/empty" "$run/pebble"
for p in empty pebble; do
  sed '1s/.*/module house/' go.mod >"$run/$p/go.mod"
  cp go.sum "$run/$p"
done
printf 'package main\n\nfunc main() {}\n' >"$run/empty/main.go"
printf 'package main\n\nimport "github.com/cockroachdb/pebble/v2"\n\nfunc main() { _, _ = pebble.Open("", nil) }\n' >"$run/pebble/main.go"
(cd "$run/empty" && go build -mod=mod -ldflags '-s -w' -o "$run/nothing" .)

# cold FOLDER PACKAGE: seconds and processor seconds of a build with an empty cache
cold() {
  local TIMEFORMAT='%R %U %S'
  { time (cd "$1" && GOCACHE=$run/cold go build -mod=mod -ldflags '-s -w' -o "$run/built" "$2" 2>"$run/errors"); } 2>&1 | awk '{ printf "%.1f %.1f", $1, $2 + $3 }'
  rm -rf "$run/cold"
}
if [ "${ALIKE_HOUSE_COLD:-1}" = 1 ]; then
  read -r wall cpu < <(cold "$run/pebble" .; echo)
  read -r whole work < <(cold . ./cmd/alike; echo)
  row 'cold build, seconds' "$whole"
  row 'cold build, processor seconds' "$work"
  row 'cold build beside one that links Pebble' "$(per "$whole" "$wall")"
  row 'the same in processor time' "$(per "$work" "$cpu")"
fi

help=0 flags=0
commands=$("$run/alike" --help | awk '/^[A-Z].*:$/ { in_list = /[Cc]ommand/ } in_list && /^  [a-z]/ { print $1 }')
for command in $commands; do
  text=$("$run/alike" "$command" --help)
  help=$((help + $(wc -l <<<"$text"))) flags=$((flags + $(grep -cE '^ +(-., )?--[a-z]' <<<"$text" || true)))
done
row 'commands, without those of index and others below' "$(wc -w <<<"$commands")"
row 'lines of their help' "$help"
row 'flags in it' "$flags"
row 'bytes of docs, without decisions and tutorials' "$(git ls-files 'docs/*.md' README.md | grep -vE '^docs/(decisions|tutorials)/' | of_files wc -c)"
row 'lines of docs over 160 characters' "$(git ls-files 'docs/*.md' README.md | LC_ALL=C.UTF-8 of_files grep -cE '.{161}')"
methods=$(git ls-files '*.go' | grep -v _test.go | while read -r file; do
  sed -nE "s|^func \(([A-Za-z0-9_]+ )?\*?([A-Za-z0-9_]+).*|$(dirname "$file").\2|p" "$file"
done | sort | uniq -c | awk '$1 > 25 { print $2, $1 }' | sort)
row 'types with more than 25 methods' "$(grep -c . <<<"$methods" || true)"
while read -r type n; do
  [ -z "$type" ] || row "methods of $type" "$n"
done <<<"$methods"
for package in $(go list ./... | grep -vE '/(internal|cmd|bench|examples)(/|$)'); do
  row "exported names of ${package#github.com/alike-dev/}" "$(go doc -short "$package" 2>/dev/null | grep -c . || true)"
done

for i in 0 1 2 3 4 5 6 7 8 9; do printf '{"id":%d,"text":"the quick brown fox number %d jumps over the lazy dog"}\n' "$i" "$i"; done >"$run/ten.jsonl"
nothing=$(milliseconds 100 "$run/nothing")
row 'start beside an empty program' "$(per "$(milliseconds 100 "$run/alike" version)" "$nothing")"
row 'ten documents beside an empty program' "$(per "$(milliseconds 50 "$run/alike" pairs "$run/ten.jsonl" -o -)" "$nothing")"

if [ "$json" ]; then
  printf '{\n  "commit": "%s"' "$commit"
  for r in "${rows[@]}"; do printf ',\n  "%s": %s' "${r%|*}" "${r#*|}"; done
  printf '\n}\n'
else
  printf '| at %s | |\n|---|--:|\n' "$commit"
  for r in "${rows[@]}"; do printf '| %s | %s |\n' "${r%|*}" "${r#*|}"; done
fi
