#!/usr/bin/env bash
# Runs the tasks of plans (`alike plan`, `alike stage`) as processes, and compares every byte with the
# results of `alike dedup` and `alike pairs --candidates lsh` for the same corpus:
#
#   bench/stages.sh [hot|kills|requests|processor|passages|tasks]…     default: all six
#
#   hot       300 copies, 1,200 texts of a template, 900 near-copies and 620 others (bench/hotgen), ids
#             missing, empty and repeated, empty texts: in 1, 16 and 257 partitions; buckets over the cap
#   kills     the same, all tasks twice and in a random order, 20 of them killed (SIGKILL) at random moments
#   requests  ALIKE_BENCH_SIZE (300MB) of news-like texts on a real S3 server, see s3.sh: counts requests,
#             and fails if there are more than the plan estimates
#   processor ALIKE_BENCH_SIZE of such texts in 4 and in 16 files: the processor time of all tasks, and the estimate
#   passages  such texts in 4 files: cuts by each unit, their bytes and processor time beside those of one process
#   tasks     such texts in 4 files: processor time and peak memory of each stage, and of one process
#
# Environment: ALIKE_BENCH_KILLS (20); ALIKE_BENCH_SEED (1) of order and moments; ALIKE_BENCH_SIZE.
source "$(dirname "$0")/lib.sh"
source bench/s3.sh
begin stages ./cmd/alike ./bench/hotgen ./bench/corpusgen ./bench/bucketcopy ./bench/bucketlog
trap 'stop_servers; rm -rf "$passing"' EXIT
export PATH=$bin:$PATH TMPDIR=$temp
unset -f alike # of lib.sh: here it is the program
[ $# -gt 0 ] || set -- hot kills requests processor passages tasks
RANDOM=${ALIKE_BENCH_SEED:-1}

# hot_corpus FOLDER makes the hot corpus, in 5 files.
hot_corpus() {
  mkdir -p "$1"
  {
    hotgen -kind copies -documents 300 -seed 1 | sed 's/"id":"d/"id":"c/'
    hotgen -kind template -documents 1200 -seed 2 | sed 's/"id":"d/"id":"t/'
    hotgen -kind edits -documents 900 -seed 3 | sed 's/"id":"d/"id":"e/'
    hotgen -kind distinct -words 60 -documents 620 -seed 4
  } | awk '{
    if (NR % 97 == 3) sub(/"id":"[^"]*",/, "")
    else if (NR % 97 == 5) sub(/"id":"[^"]*"/, "\"id\":\"\"")
    else if (NR % 97 == 11) sub(/"id":"[^"]*"/, "\"id\":\"same\"")
    if (NR % 151 == 7) sub(/"text":"[^"]*"/, "\"text\":\"\"")
    print NR * 7919 % 3020 "\t" $0
  }' | sort -n | cut -f 2- | split -l 610 -d --additional-suffix=.jsonl - "$1/part-"
}

# one COMMAND CORPUS FLAG… runs a command in one process. Its result is $whole.
one() {
  local command=$1 corpus=$2 status=0
  shift 2
  whole=$run/whole
  rm -rf "$whole"
  alike "$command" "$corpus" -o "$whole" --candidates lsh --quiet "$@" || status=$?
  [ $status = 0 ] || [ $status = 3 ] # records were skipped
  rm -f "$whole"/report.*            # tasks make none
}

# plan COMMAND CORPUS FLAG… makes the plan $run/plan.json. Its results go to $many.
plan() {
  local command=$1 corpus=$2
  shift 2
  many=$run/many
  rm -rf "$many" "$many.work"
  alike plan "$command" "$corpus" -o "$run/plan.json" --results "$many" --quiet "$@"
}

# task STAGE NUMBER FLAG… runs a task of the plan. Publish ends with 3 if records were skipped.
task() {
  local status=0
  alike stage "$1" --task "$2" --plan "$run/plan.json" --quiet "${@:3}" || status=$?
  [ $status = 0 ] || [ "$1 $status" = 'publish 3' ]
}

# every runs all tasks of the plan, one after the other.
every() {
  local stage tasks n
  while read -r stage tasks; do
    for ((n = 0; n < tasks; n++)); do task "$stage" $n; done
  done < <(alike stage list --plan "$run/plan.json")
}

# same WHAT compares $whole and $many.
same() {
  if [ "$(digest "$many")" != "$(digest "$whole")" ]; then
    echo "stages: $1: other bytes than those of one machine" >&2
    exit 1
  fi
  echo "$1: same bytes"
}

hot() {
  hot_corpus "$run/hot"
  local command partitions
  for command in 'pairs' 'pairs --bucket-cap 50' 'dedup' 'dedup --bucket-cap 50'; do
    # shellcheck disable=SC2086 # several words
    set -- $command
    one "$1" "$run/hot" "${@:2}"
    for partitions in 1 16 257; do
      plan "$1" "$run/hot" --partitions $partitions "${@:2}"
      every
      same "$command, $partitions partitions"
    done
  done
  rm -rf "$run/hot"
}

# killed STAGE NUMBER runs a task until it is done. If the task was chosen, it is killed once before.
killed() {
  local pid status=0
  if [ $left = 0 ] || [ $((RANDOM % 8)) != 0 ]; then
    task "$1" "$2" --again
    return
  fi
  task "$1" "$2" --again &
  pid=$!
  sleep "0.$(printf '%03d' $((RANDOM % 60)))"
  kill -KILL $pid 2>/dev/null || true
  wait $pid 2>/dev/null || status=$?
  if [ $status = 137 ]; then
    left=$((left - 1))
    hits+="$1 "
    task "$1" "$2" --again
  fi
}

kills() {
  hot_corpus "$run/hot"
  local command stage tasks n left=${ALIKE_BENCH_KILLS:-20} hits=''
  for command in dedup pairs; do
    one $command "$run/hot"
    while
      plan $command "$run/hot" --partitions 5
      while read -r stage tasks; do
        for n in $( (seq 0 $((tasks - 1)) && seq 0 $((tasks - 1))) | shuf --random-source=<(yes "$RANDOM")); do killed "$stage" "$n"; done
      done < <(alike stage list --plan "$run/plan.json")
      same "$command, $left kills left"
      [ $command = pairs ] && [ "$left" -gt 0 ]
    do :; done
  done
  echo "killed: $hits"
  rm -rf "$run/hot"
}

# field NAME prints a number of the plan's estimate.
field() { sed -n 's/^ *"'"$1"'": *\([-0-9.e]*\),*$/\1/p' "$run/plan.json"; }

# news FOLDER FILES makes news-like texts.
news() {
  base_texts
  mkdir -p "$1"
  "$bin/corpusgen" -size "${ALIKE_BENCH_SIZE:-300MB}" -words 130-270 -shards "$2" -exact 0.1 -chains 0.2 -seed 1 -o "$1/news.jsonl" "${bases[@]}"
}

requests() {
  find_server
  start_server "$run/s3"
  news "$run/news" 16
  local command before bytes
  bytes=$(cat "$run"/news/* | wc -c)
  bucketcopy "$run/news" s3://alike/news
  log_requests "$run/requests"
  for command in dedup pairs; do
    alike plan $command s3://alike/news -o "$run/plan.json" --results "s3://alike/$command.out" --work s3://alike/work --partitions 8 --quiet
    before=$(wc -l <"$run/requests")
    every
    tail -n "+$((before + 1))" "$run/requests" | awk -v command=$command -v size="$bytes" \
      -v read="$(field read_requests)" -v write="$(field write_requests)" '
      { moved += $4 }
      $1 == "GET" && $2 ~ /[?&]list-type=/ { writes++; lists++; next } # a listing has the price of a write
      $1 == "GET" || $1 == "HEAD" { reads++; next }
      { writes++ }
      END {
        printf "%s of %.2f GB: %d requests to read (%.0f a GB), %.1f MB each; %d to write and list (%.0f a GB); estimated %d and %d\n",
          command, size / 1e9, reads, reads / size * 1e9, moved / reads / 1e6, writes, writes / size * 1e9, read, write
        if (reads > read || writes > write) {
          print "stages: more requests than estimated" >"/dev/stderr"
          exit 1
        }
      }'
  done
  stop_servers
}

processor() {
  local command files spent TIMEFORMAT='%U %S'
  for files in 4 16; do
    news "$run/news$files" $files
    for command in dedup pairs dedup pairs; do
      plan $command "$run/news$files"
      spent=$({ time every >/dev/null 2>&1; } 2>&1)
      awk -v what="$command of $files files" -v hours="$(field cpu_hours)" \
        '{ printf "%s: %.1f processor seconds, estimated %.1f\n", what, $1 + $2, hours * 3600 }' <<<"$spent"
    done
    rm -rf "$run/news$files"
  done
}

passages() {
  local flags here tasks TIMEFORMAT='%U %S'
  whole=$run/whole
  news "$run/news" 4
  for flags in line sentence paragraph substring 'line --threshold 0.8'; do
    rm -rf "$whole"
    # shellcheck disable=SC2086 # several words
    here=$({ time alike passages "$run/news" -o "$whole" --quiet --unit $flags >/dev/null 2>&1; } 2>&1)
    # shellcheck disable=SC2086
    plan passages "$run/news" --unit $flags
    tasks=$({ time every >/dev/null 2>&1; } 2>&1)
    same "passages --unit $flags"
    awk -v what="passages --unit $flags" '{ s[NR] = $1 + $2 } END { printf "%s: %.1f processor seconds, all tasks %.1f, %.1f times as many\n", what, s[1], s[2], s[2] / s[1] }' \
      <<<"$here"$'\n'"$tasks"
  done
  rm -rf "$run/news"
}

# cost ROW prints and keeps the sum of processor seconds in $run/costs, and the largest peak.
cost() {
  local sum most
  read -r sum most < <(awk '{ s += $1; if ($2 > p) p = $2 } END { printf "%.2f %.0f\n", s, p / 1048576 }' "$run/costs")
  echo "| $1 | $sum | $most |"
  record stages "$1" "$sum" "$most"
}

tasks() {
  local command stage tasks n all
  news "$run/news" 4
  printf '| %s MB in 4 files | processor s | peak MiB of a process |\n|---|--:|--:|\n' "$(mb "$(cat "$run"/news/* | wc -c)")"
  for command in dedup pairs; do
    whole=$run/whole all=0
    rm -rf "$whole" "$run/all"
    measure "$bin/alike" $command "$run/news" -o "$whole" --candidates lsh --quiet
    rm -f "$whole"/report.*
    echo "$cpu $peak" >"$run/costs"
    cost "\`alike $command --candidates lsh\`"
    plan $command "$run/news"
    while read -r stage tasks; do
      : >"$run/costs"
      for ((n = 0; n < tasks; n++)); do
        measure "$bin/alike" stage "$stage" --task $n --plan "$run/plan.json" --quiet >/dev/null
        echo "$cpu $peak" >>"$run/costs"
      done
      cost "$command: $stage"
      cat "$run/costs" >>"$run/all"
      all=$((all + tasks))
    done < <(alike stage list --plan "$run/plan.json")
    mv "$run/all" "$run/costs"
    cost "$command: all $all tasks"
    same $command
  done
  rm -rf "$run/news"
}

for part in "$@"; do
  case $part in
    hot | kills | requests | processor | passages | tasks) $part ;;
    *)
      echo "stages: $part is none of hot, kills, requests, processor, passages, tasks" >&2
      exit 2
      ;;
  esac
done
