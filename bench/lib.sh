# shellcheck shell=bash
# Functions for the benchmarks beside this file; each of them sources it. It sets the
# options of the shell, goes to the root of the repository, and defines
#
#   begin NAME PROGRAM…   makes the folders $dir (corpora, kept if ALIKE_BENCH_DIR names
#                         it), $run (everything else) and $temp (temporary files of
#                         the measured program), and removes them at the end; a script
#                         that sets its own trap must remove $passing there. Builds the
#                         programs, such as ./cmd/alike, into $bin
#   base_texts FILE…      sets $bases to the files that corpora are made from
#   corpus FILE FLAG…     makes $dir/FILE with corpusgen, unless it exists
#   measure COMMAND…      runs a command, and sets $seconds, $cpu (processor seconds),
#                         $peak (bytes of resident memory) and $disk (largest number of
#                         bytes in $temp)
#   alike COMMAND FILE FLAG…  measures alike dedup or pairs; its result is $result
#   repeat N COMMAND FILE FLAG…  the same N times: $seconds and $cpu are medians, $peak
#                         and $disk the largest
#   digest PATH           prints one checksum of a file, or of a folder without summary.json
#   counted KEY…          prints numbers of the summary of the last alike dedup
#   outcome               prints the digest of $result and the counts of its summary, if any
#   record TABLE ROW VALUE…   keeps a row of results.json if ALIKE_BENCH_RECORD is set
#   within SIZE           tells whether $peak is at most a fifth above a ceiling
#   mib BYTES, mb BYTES, ratio A B, median NUMBER…, size_of SIZE, speed (MB/s)
set -euo pipefail
export LC_ALL=C
origin=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

begin() {
  name=$1
  shift
  if [ -n "${ALIKE_BENCH_DIR:-}" ]; then
    dir=$(cd "$origin" && mkdir -p "$ALIKE_BENCH_DIR" && cd "$ALIKE_BENCH_DIR" && pwd)
    passing=$dir/run
  else
    dir=$(mktemp -d)
    passing=$dir
  fi
  trap 'rm -rf "$passing"' EXIT
  run=$dir/run bin=$dir/run/bin temp=$dir/run/temp
  rm -rf "$run"
  mkdir -p "$bin" "$temp"
  go build -o "$bin/" ./bench/measure "$@"
  # Of a file that the linker has just written more is resident than of a copy of it, some 10 to 20 MB.
  find "$bin" -type f -exec cp {} {}.copy ';' -exec mv {}.copy {} ';'
}

# base_texts FILE… sets $bases; without a FILE, to the English Wikipedia texts beside
# the checkout.
base_texts() {
  local base data=../shared/data
  bases=()
  for base in "$@"; do
    case $base in
      /*) bases+=("$base") ;;
      *) bases+=("$origin/$base") ;;
    esac
  done
  if [ $# -eq 0 ]; then
    bases=("$data/wiki_long_en/docs.jsonl.zst" "$data/wiki_multilingual/en.jsonl.zst" "$data/wiki_multilingual/simple.jsonl.zst")
  fi
  for base in "${bases[@]}"; do
    if [ ! -r "$base" ]; then
      echo "$name: no base texts in $base: name JSONL files to make the corpus from" >&2
      exit 2
    fi
  done
}

# The arguments of a corpus are stored with it. The corpus is read once, so that
# it is in the page cache for every run.
corpus() {
  local file=$dir/$1 made
  shift
  made="$(git rev-parse HEAD:internal/plant 2>/dev/null || echo unknown) $* ${bases[*]}"
  if [ "$(cat "$file.made" 2>/dev/null || true)" != "$made" ]; then
    rm -f "$file.made"
    "$bin/corpusgen" "$@" -o "$file" "${bases[@]}"
    echo "$made" >"$file.made"
  fi
  bytes=$(wc -c <"$file")
  documents=$(wc -l <"$file")
}

measure() {
  local status=0
  rm -f "$run/cost"
  TMPDIR=$temp "$bin/measure" -o "$run/cost" -watch "$temp" "$@" || status=$?
  [ -s "$run/cost" ] || return 1
  read -r seconds cpu peak disk _ <"$run/cost"
  return $status
}

alike() {
  local command=$1 file=$2 status=0
  shift 2
  case $command in
    dedup) result=$run/out ;;
    pairs) result=$run/pairs.csv ;;
  esac
  rm -rf "$result"
  measure "$bin/alike" "$command" "$file" -o "$result" --quiet "$@" || status=$?
  if [ $status -ne 0 ]; then
    echo "$name: alike $command $file -o $result --quiet $*: exit status $status" >&2
    return $status
  fi
}

repeat() {
  local all_seconds=() all_cpu=() most_peak=0 most_disk=0
  for ((i = 0; i < $1; i++)); do
    alike "${@:2}"
    all_seconds+=("$seconds") all_cpu+=("$cpu")
    most_peak=$((peak > most_peak ? peak : most_peak))
    most_disk=$((disk > most_disk ? disk : most_disk))
  done
  seconds=$(median "${all_seconds[@]}") cpu=$(median "${all_cpu[@]}") peak=$most_peak disk=$most_disk
}

digest() {
  if [ -d "$1" ]; then
    (cd "$1" && find . -type f ! -name summary.json -print0 | sort -z | xargs -0 sha256sum) | sha256sum | cut -c 1-16
  else
    sha256sum <"$1" | cut -c 1-16
  fi
}

counted() {
  local key
  for key in "$@"; do
    sed -n 's/^  "'"$key"'": *\([0-9.]*\),*$/\1/p' "$run/out/summary.json"
  done
}

outcome() {
  local counts=''
  [ ! -d "$result" ] || counts=$(counted read kept removed skipped candidates verified rejected clusters buckets_capped)
  echo "$(digest "$result")" $counts
}

# record keeps a row only where that was asked for, since most runs are tried with small sizes.
record() { [ -z "${ALIKE_BENCH_RECORD:-}" ] || python3 bench/results.py put "$@"; }

# flags_of MEMORY sets $flags to the flags for a run with this memory.
flags_of() {
  flags=()
  [ "$1" = default ] || flags=(--memory "$1")
}

mib() { awk -v b="$1" 'BEGIN { printf "%.0f", b / 1048576 }'; }
mb() { awk -v b="$1" 'BEGIN { printf "%.0f", b / 1e6 }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'; }
speed() { awk -v b="$bytes" -v s="$seconds" 'BEGIN { printf "%.0f", b / s / 1e6 }'; }
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# size_of SIZE converts a value of --memory, such as 256MiB or 1GiB, to bytes.
size_of() {
  case $1 in
    *GiB) awk -v n="${1%GiB}" 'BEGIN { printf "%.0f", n * 1073741824 }' ;;
    *MiB) awk -v n="${1%MiB}" 'BEGIN { printf "%.0f", n * 1048576 }' ;;
    *)
      echo "$name: memory $1 is not like 256MiB or 1GiB" >&2
      exit 2
      ;;
  esac
}

# within SIZE prints whether $peak is at most a fifth above a ceiling: yes, no, or -
# if there is no ceiling.
within() {
  if [ "$1" = default ]; then
    echo -
  elif [ $((peak * 10)) -le $(($(size_of "$1") * 12)) ]; then
    echo yes
  else
    echo no
  fi
}
