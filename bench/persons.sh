#!/usr/bin/env bash
# Measures joins of made persons: `alike pairs --records` of one table, `alike join` of two, with nothing chosen: seconds,
# processor seconds, peak memory, and F1 by the truth.
#
#   bench/persons.sh PERSONS.PY SIZE[@MEMORY] | LEFTxRIGHT[@MEMORY]…
#
# A SIZE is that of one table, LEFT and RIGHT those of two, of which the smaller one's half is in both; MEMORY is a ceiling
# such as 1GiB. Environment: ALIKE_BENCH_RUNS, of whose times the medians are taken (default 1).
source "$(dirname "$0")/lib.sh"
if [ $# -lt 2 ]; then
  echo "usage: bench/persons.sh PERSONS.PY SIZE[@MEMORY] | LEFTxRIGHT[@MEMORY]…" >&2
  exit 2
fi
persons=$(cd "$origin" && realpath "$1")
shift
begin persons ./cmd/alike
echo '| tables of persons.py | seconds | processor s | MiB | F1 |'
echo '|---|--:|--:|--:|--:|'
grouped() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; } # 1000000: 1,000,000
for job in "$@"; do
  sizes=${job%@*} memory=default
  [ "$sizes" = "$job" ] || memory=${job#*@}
  flags_of "$memory"
  rm -rf "${run:?}/tables"
  mkdir "$run/tables"
  if [ "$sizes" = "${sizes%x*}" ]; then
    python3 "$persons" "$sizes" "$run/tables" 1 >/dev/null
    arguments=(pairs "$run/tables/table.csv" --records) named="$(grouped "$sizes") in one table"
  else
    left=${sizes%x*} right=${sizes#*x}
    python3 bench/linkage/twopersons.py "$persons" "$left" "$right" $(((left < right ? left : right) / 2)) "$run/tables" 1 >/dev/null
    arguments=(join "$run/tables/tableA.csv" "$run/tables/tableB.csv") named="$(grouped "$left") × $(grouped "$right")"
  fi
  all_seconds=() all_cpu=() most=0
  for ((i = 0; i < ${ALIKE_BENCH_RUNS:-1}; i++)); do
    measure "$bin/alike" "${arguments[@]}" "${flags[@]}" -o "$run/links.csv" --quiet
    all_seconds+=("$seconds") all_cpu+=("$cpu") most=$((peak > most ? peak : most))
  done
  f1=$("$bin/alike" eval "$run/links.csv" "$run/tables/truth.csv" --header yes --json | awk -F '[:,]' '/"f1"/ { printf "%.3f", $2 }')
  [ "$memory" = default ] || named+=", \`--memory $memory\`"
  row=("$named" "$(median "${all_seconds[@]}")" "$(median "${all_cpu[@]}")" "$(mib "$most")" "$f1")
  printf '| %s ' "${row[@]}"
  echo '|'
  record linkage-cost "${row[@]}"
done
