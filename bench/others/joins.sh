#!/usr/bin/env bash
# Joins tables with alike and with programs that its users would otherwise take, on the same machine and data, in
# one run. Prints a table for each folder.
#
#   bench/others/joins.sh FOLDER...
#
# FOLDER has table.csv, or tableA.csv and tableB.csv (these also as .zst), and truth.csv. Splink runs on persons
# only (the columns of FEBRL and persons.py), since its rules are made for columns by hand.
#
# Needs Go, Java 17, Python 3.11 with venv and pip, zstd, Linux. Installed programs and all other files go to a
# temporary folder. Environment: ALIKE_OTHERS_DIR, a folder to keep for the next run; ALIKE_OTHERS_PROGRAMS
# (default: all); ALIKE_OTHERS_SECONDS (900), after which a program is ended.
[ $# -gt 0 ] || { echo "usage: bench/others/joins.sh FOLDER..." >&2; exit 2; }
source "$(dirname "$0")/lib.sh"
go build -o "$dir/alike" ./cmd/alike
python=$dir/venv/joins/bin/python
install joins splink==5.0.0 recordlinkage==0.16 pyspark==4.3.0 "pandas<3" pyarrow "numpy>=2"
# py_stringsimjoin 0.3.6 builds with a setuptools that still has distutils.msvccompiler.
install ssj "numpy<2" pandas "setuptools<60" wheel "cython<3"
"$dir/venv/ssj/bin/pip" install --quiet --no-build-isolation py-stringsimjoin==0.3.6 >&2 || echo "left out: py_stringsimjoin" >&2
for folder in "${inputs[@]}"; do
  work=$dir/tables/$(basename "$folder")
  mkdir -p "$work"
  for name in table tableA tableB truth; do
    if [ -f "$folder/$name.csv" ]; then
      cp "$folder/$name.csv" "$work"
    elif [ -f "$folder/$name.csv.zst" ]; then
      zstd -dqf "$folder/$name.csv.zst" -o "$work/$name.csv"
    fi
  done
  echo
  echo "$(basename "$folder"):"
  echo
  echo "| program | s | processor s | MiB | F1 as given | F1 at the best threshold |"
  echo "|---|---|---|---|---|---|"
  join=("$dir/alike" join "$work/tableA.csv" "$work/tableB.csv" --threads 2 -o "$work/alike.csv")
  [ ! -f "$work/table.csv" ] || join=("$dir/alike" pairs "$work/table.csv" --records --threads 2 -o "$work/alike.csv")
  for program in ${ALIKE_OTHERS_PROGRAMS:-alike splink stringsimjoin recordlinkage minhashlsh}; do
    command=("${join[@]}")
    if [ "$program" != alike ]; then
      venv=joins
      [ "$program" != stringsimjoin ] || venv=ssj
      command=(timeout "${ALIKE_OTHERS_SECONDS:-900}" "$dir/venv/$venv/bin/python" bench/others/joins.py "$program" "$work" "$work/$program.csv")
    fi
    if [ "$program" = splink ] && ! grep -q soc_sec_id "$work"/table*.csv; then
      continue
    fi
    "$python" bench/others/joinscore.py "$program" "$work" "$work/$program.csv" "${command[@]}"
  done
done
