#!/usr/bin/env bash
# Runs `alike dedup` with --work under a low memory ceiling, and kills it (SIGKILL)
# at random moments. After each kill it starts the same command again, until the run
# has ended and all kills are used up. Prints where every kill hit, the total time
# beside that of an undisturbed run, and whether the output has the same bytes, and
# the summary the same counts, as those of a run in memory. Fails if they differ.
#
#   bench/kills.sh [BASE.jsonl[.zst]…]
#
# BASE as in gigabyte.sh. A process lives for a random time of up to a tenth of the
# undisturbed run. It resumes where the one before was killed, so the kills spread
# over the whole run. If processes are killed before they record any progress, the
# longest life grows by half until one does. If a run ends before all kills are used
# up, its output is compared and another run begins.
#
# It also fails if a process records no progress within three times the undisturbed
# run, or if the last one does not end within ten times.
#
# After a kill, written data is still in the system's cache, so this does not test
# power failures; tests with a file system that loses unsynced data do.
#
# Environment: ALIKE_BENCH_DIR, where the corpus is made and kept for the next
# run (default: a temporary folder, removed at the end); ALIKE_BENCH_KILLS (50);
# ALIKE_BENCH_SEED (1) of the moments; ALIKE_BENCH_SIZE (default 2GB);
# ALIKE_BENCH_FLAGS, of corpusgen (default -words 20-200: short documents spill as
# much as a much larger corpus of long ones); ALIKE_BENCH_MEMORY (64MiB);
# ALIKE_BENCH_COMMAND (dedup; pairs can be killed too).
source "$(dirname "$0")/lib.sh"
begin kills ./cmd/alike ./bench/corpusgen

base_texts "$@"
# shellcheck disable=SC2086 # the flags are several words
corpus corpus.jsonl -size "${ALIKE_BENCH_SIZE:-2GB}" -seed 1 ${ALIKE_BENCH_FLAGS:--words 20-200}
corpus=$dir/corpus.jsonl
kills=${ALIKE_BENCH_KILLS:-50}
memory=${ALIKE_BENCH_MEMORY:-64MiB}
command=${ALIKE_BENCH_COMMAND:-dedup}
work=$run/resumable
journal=$work/alike.journal
RANDOM=${ALIKE_BENCH_SEED:-1}
cat "$corpus" >/dev/null # into the page cache

alike "$command" "$corpus"
sum=$(outcome)
echo "corpus: $documents documents, $(mb "$bytes") MB; $(nproc) processors; alike $command"
printf 'in memory:              %7.2f s  %6d MiB peak\n' "$seconds" "$(mib "$peak")"
flags=(--memory "$memory" --work "$work")
alike "$command" "$corpus" "${flags[@]}"
undisturbed=$seconds same=yes
[ "$(outcome)" = "$sum" ] || same=no
printf 'undisturbed, %-8s   %7.2f s  %6d MiB peak  same bytes: %s\n' "$memory:" "$undisturbed" "$(mib "$peak")" $same
[ $same = yes ] || exit 1

# records and last_record print what the journal contains after its settings.
records() { grep -cvE '^(alike journal|[0-9a-f]{8} [=.]) ' "$journal" 2>/dev/null || true; }
last_record() {
  if [ ! -e "$journal" ]; then
    echo 'nothing'
  elif [ "$(records)" = 0 ]; then
    echo settings
  else
    tail -n 1 "$journal" | cut -d ' ' -f 2
  fi
}

# live SECONDS starts the command and kills it after this time. $killed says whether
# the kill came before its end, and $through whether the run is done.
live() {
  local status=0
  TMPDIR=$temp "$bin/measure" -o "$run/cost" -kill-after "$1s" "$bin/alike" "$command" "$corpus" -o "$result" --quiet "${flags[@]}" || status=$?
  read -r seconds _ peak _ killed <"$run/cost"
  if [ "$status" -ne 0 ] && [ "$killed" = 0 ]; then
    echo "kills: the run was not gone on with: exit status $status" >&2
    exit 1
  fi
  # A process that is killed after its last step has ended the run too.
  if [ "$killed" = 1 ] && [ ! -e "$journal" ] && [ -e "$result" ]; then
    through=1
  else
    through=$((1 - killed))
  fi
}

product() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a * b }'; }
more() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }

failed=0 done=0 number=0 hits='' most_peak=0
while [ "$done" -lt "$kills" ]; do
  number=$((number + 1)) total=0 mine=0 before=0 stretch=1 through=0
  rm -rf "$result" "$work"
  while [ "$through" = 0 ]; do
    life=$(product 10 "$undisturbed") last=1
    if [ "$done" -lt "$kills" ]; then
      last=0 draw=$(((RANDOM << 15) | RANDOM))
      life=$(awk -v t="$undisturbed" -v s="$stretch" -v d=$draw 'BEGIN { printf "%.4f", 0.001 + t / 10 * s * d / 2 ^ 30 }')
    fi
    live "$life"
    total=$(awk -v a="$total" -v b="$seconds" 'BEGIN { print a + b }')
    most_peak=$((peak > most_peak ? peak : most_peak))
    [ "$killed" = 1 ] || continue
    if [ $last = 1 ]; then
      echo "kills: the run does not end: $(records) records, the last $(last_record)" >&2
      exit 1
    fi
    done=$((done + 1)) mine=$((mine + 1)) after=$(last_record) now=$(records)
    hits+="$after"$'\n'
    printf 'run %d, kill %3d: after %6.2f s, %3d records, the last %s\n' $number $done "$seconds" "${now:-0}" "$after"
    if [ "${now:-0}" -gt "$before" ]; then
      stretch=1
    elif [ "$through" = 0 ] && more "$seconds" "$(product 3 "$undisturbed")"; then
      echo "kills: the run is stuck: ${now:-0} records, the last $after" >&2
      exit 1
    else
      stretch=$(product 1.5 "$stretch")
    fi
    before=${now:-0}
  done
  same=yes
  [ "$(outcome)" = "$sum" ] || same=no failed=1
  left=$(find "$work" -type f 2>/dev/null | wc -l)
  printf 'run %d: %d kills, %.2f s in all, %s times the undisturbed run, same bytes: %s, files left in the work folder: %d\n' \
    $number $mine "$total" "$(ratio "$total" "$undisturbed")" $same "$left"
  record kills "$number" "$mine" "$total" "$(ratio "$total" "$undisturbed")"
  [ "$left" = 0 ] || failed=1
done

echo "kills by the last record before them:"
printf %s "$hits" | sort | uniq -c | sort -rn
peak=$most_peak
echo "peak memory of all processes: $(mib "$peak") MiB, not more than a fifth above $memory: $(within "$memory")"
[ "$(within "$memory")" = yes ] || failed=1
exit $failed
