#!/usr/bin/env bash
# Replicas of one log, with three servers of NATS that sync always, as root, with cgroups of version 1 for add:
#   bench/service/replicas.sh add ALIKE SERVICE NATS DOCS.jsonl [ROUNDS]     checks and searches by 1, 2 and 4 replicas
#   bench/service/replicas.sh cost ALIKE SERVICE NATS DOCS.jsonl [ROUNDS]    what an entry of 64 documents takes of the log
#   bench/service/replicas.sh begin ALIKE SERVICE NATS DOCS.jsonl            a replica that begins, beside `alike index check`
#   bench/service/replicas.sh bands VALKEY SERVICE SERVER DOCS.jsonl [ROUNDS]   the same as add, and failover, by Valkey
# SERVICE is of go build ./bench/service, VALKEY of ./bench/service/valkey; NATS is nats-server, SERVER valkey-server. Lines are
# {"id":"…","text":"…"} without spaces between, and no two have one id.
#
# add: each replica is held by a cgroup to SHARE of 100 of a processor (15; as 10 ms have it) and has 64 connections of
# its own; the servers of the log and the clients share what is left. Before it, bodies of 500 lines go to the replicas
# in turn, into a collection with a window that refreshes: answers must be those of one process without a log, to the byte.
# After it, a replica that applies the whole log must agree with all verdicts.
set -euo pipefail
export LC_ALL=C
what=$1 alike=$2 service=$3 nats=$4 docs=$5 rounds=${6:-3} share=${SHARE:-15}
folder=$(mktemp -d)
export TMPDIR=$folder # of replicas that are killed and leave their snapshots
groups=/sys/fs/cgroup/cpu/alike-replicas-$$
program=("$alike" serve --listen 127.0.0.1:0)
servers=() replicas=() urls=() all=()
trap 'kill -9 "${all[@]}" 2>/dev/null || true; sleep 1; rmdir "$groups"-* 2>/dev/null || true; rm -rf "$folder"' EXIT

port=$((10000 + $$ % 10000))
hosts=127.0.0.1:$((port)),127.0.0.1:$((port + 1)),127.0.0.1:$((port + 2))
start_log() {
  local i routes
  routes="nats://127.0.0.1:$((port + 10)), nats://127.0.0.1:$((port + 11)), nats://127.0.0.1:$((port + 12))"
  for i in 0 1 2; do
    cat >"$folder/n$i.conf" <<CONF
server_name: n$i
listen: 127.0.0.1:$((port + i))
max_payload: 8MB
jetstream { store_dir: "$folder/js$i", sync_interval: always, max_file: 20GB, max_mem: 1GB }
cluster { name: c, listen: 127.0.0.1:$((port + 10 + i)), no_advertise: true, routes: [ $routes ] }
CONF
    "$nats" --config "$folder/n$i.conf" >"$folder/n$i.log" 2>&1 &
    servers+=($!) all+=($!)
  done
}

# replica NUMBER FLAG… starts a replica, or one process without a log.
replica() {
  local i=$1 pid
  shift
  rm -f "$folder/replica$i"
  "${program[@]}" "$@" 2>"$folder/replica$i" &
  pid=$!
  all+=($pid) replicas[i]=$pid
  until urls[i]=http://$(sed -n 's/.*"address":"\([^"]*\)".*/\1/p' "$folder/replica$i" 2>/dev/null) && [ "${urls[i]}" != http:// ]; do sleep 0.02; done
}

# hold NUMBER holds a replica to its share.
hold() {
  mkdir "$groups-$1"
  echo 10000 >"$groups-$1/cpu.cfs_period_us"
  echo $((share * 100)) >"$groups-$1/cpu.cfs_quota_us"
  echo "${replicas[$1]}" >"$groups-$1/cgroup.procs"
}

ready() { timeout 100 bash -c 'until curl -sf "$0/readyz" -o /dev/null; do sleep 0.02; done' "${urls[$1]}"; }
metric() { curl -sf "${urls[$1]}/metrics" | awk -v name="$2" '$1 == name { print $2 }'; }

end() {
  local i
  for i in "${!replicas[@]}"; do
    kill "${replicas[i]}"
    wait "${replicas[i]}" || true
    [ ! -d "$groups-$i" ] || rmdir "$groups-$i"
  done
  replicas=() urls=()
}

make() { curl -sf -X PUT "${urls[0]}/v1/collections/$1" --json "$2" >/dev/null; }

# verdicts N writes the answers of N replicas that get the bodies in turn.
verdicts() {
  local body i=0
  make v '{"window":{"docs":1500,"refresh":true}}'
  for body in "$folder"/body*; do
    curl -sf -H 'Content-Type: application/x-ndjson' --data-binary @"$body" "${urls[i]}/v1/collections/v/documents"
    i=$(((i + 1) % $1))
  done
}

# spent prints the processor seconds of all replicas.
spent() { for i in "${replicas[@]}"; do used "$i"; done | paste -s -d + | bc; }

# together NAME N PATH FILE sends lines to N replicas at once, FILE1 to the first, and notes how many a second were answered,
# and the µs of processors that all replicas took for each.
together() {
  local name=$1 n=$2 path=$3 file=$4 i began before lines clients=()
  lines=$(cat $(seq -f "$file%g" 0 $((n - 1))) | wc -l)
  before=$(spent)
  began=$(date +%s.%N)
  for i in $(seq 0 $(($2 - 1))); do
    "$service" -connections "${CONNECTIONS:-64}" "${urls[i]}$path" "$file$i" >/dev/null &
    clients+=($!)
  done
  wait "${clients[@]}"
  echo "$lines / ($(date +%s.%N) - $began)" | bc -l >>"$folder/$name.$n"
  echo "($(spent) - $before) * 1000000 / $lines" | bc -l >>"$folder/$name.$n.spent"
}

add() {
  local round n i searched
  sed -n 1,3000p "$docs" >"$folder/some"
  cat "$folder/some" "$folder/some" | awk '{ sub(/"id":"/, "\"id\":\"" NR "-"); print }' | split -l 500 - "$folder/body"
  sed -n 3001,43000p "$docs" | split -n r/4 -d -a 1 - "$folder/checks"
  sed -n '3001,27000s/^{"id":"[^"]*",/{/p' "$docs" | split -n r/4 -d -a 1 - "$folder/searches"
  replica 0
  verdicts 1 >"$folder/one"
  end
  for round in $(seq "$rounds"); do
    for n in 1 2 4; do
      local log=nats://$hosts/add-$round-$n
      for i in $(seq 0 $((n - 1))); do
        replica "$i" --log "$log"
        hold "$i"
      done
      for i in $(seq 0 $((n - 1))); do ready "$i"; done
      verdicts "$n" | cmp - "$folder/one"
      make c '{}'
      together checks "$n" /v1/collections/c/check "$folder/checks"
      together searches "$n" /v1/collections/c/search "$folder/searches"
      replica "$n" --log "$log"
      ready "$n"
      for i in $(seq 0 "$n"); do
        [ "$(metric "$i" alike_log_resets_total)" = 0 ] || { echo "replica $i does not agree"; exit 1; }
      done
      end
    done
  done
  python3 - "$folder" "$share" <<'PYTHON'
import statistics, sys
folder, share = sys.argv[1:]
for what in ("checks", "searches"):
    rates = {n: [float(line) for line in open(f"{folder}/{what}.{n}")] for n in (1, 2, 4)}
    for n in (1, 2, 4):
        times = statistics.median(r / one for r, one in zip(rates[n], rates[1]))
        spent = statistics.median(float(line) for line in open(f"{folder}/{what}.{n}.spent"))
        print(f"{what}, {n} replicas of 0.{share} processors: {statistics.median(rates[n]):.0f} a second, {times:.2f} times one, {spent:.0f} µs of processors each")
print("verdicts: those of one process, to the byte")
PYTHON
}

cost() {
  local round keep flights
  for round in $(seq "$rounds"); do
    for keep in text nothing; do
      for flights in 1 4 16; do
        "$service" -log "nats://$hosts/cost-$round-$keep-$flights" -servers "$(IFS=,; echo "${servers[*]}")" -keep "$keep" -flights "$flights" "$docs" |
          sed "s/^/keep $keep, $flights on their way: /"
      done
    done
  done
}

# used PID prints the processor seconds that a process has taken.
used() { awk '{ print ($14 + $15) / 100 }' "/proc/$1/stat"; }

begin() {
  local count began
  count=$(wc -l <"$docs")
  "$alike" stream --state "$folder/index" --quiet <"$docs" >/dev/null
  replica 0 --log "nats://$hosts/begin" --data "$folder/data"
  ready 0
  make c '{}'
  curl -sf -H 'Content-Type: application/x-ndjson' -T "$docs" -X POST "${urls[0]}/v1/collections/c/documents" -o /dev/null
  echo "$count documents"
  kill -9 "${replicas[0]}"
  replicas=()
  ls -l "$folder"/data/*.snapshot
  for began in own other; do
    if [ "$began" = own ]; then replica 0 --log "nats://$hosts/begin" --data "$folder/data"; ready 0; i=0; else replica 1 --log "nats://$hosts/begin" --data "$folder/data1"; ready 1; i=1; fi
    echo "$began: $(used "${replicas[i]}") s of a processor; $(metric "$i" alike_log_applied_entry) entries, snapshot $(metric "$i" alike_log_snapshot_entry)"
  done
  TIMEFORMAT='index check: %U + %S s of a processor'
  time "$alike" index check "$folder/index"
}

# store starts a server of Valkey and one that follows it; for checks that wait for disks both sync always.
store() {
  local flags=(--save '' --repl-diskless-sync-delay 0)
  [ "$wait" != disk ] || flags+=(--appendonly yes --appendfsync always)
  mkdir -p "$folder/first" "$folder/second"
  "$nats" --port "$port" "${flags[@]}" --dir "$folder/first" >/dev/null &
  first=$!
  "$nats" --port $((port + 1)) "${flags[@]}" --dir "$folder/second" --replicaof "127.0.0.1 $port" >/dev/null &
  second=$!
  all+=("$first" "$second")
  until ask_store | grep -q master_link_status:up; do sleep 0.1; done
}

# ask_store prints what the second server says of the first.
ask_store() {
  exec 3<>"/dev/tcp/127.0.0.1/$((port + 1))" || return 0
  printf 'INFO replication\r\nQUIT\r\n' >&3
  cat <&3
  exec 3>&-
} 2>/dev/null

close_store() {
  kill -9 "$first" "$second" 2>/dev/null || true
  wait "$first" "$second" 2>/dev/null || true
  rm -rf "$folder/first" "$folder/second"
}

bands() {
  local round n i wait before
  program=("$alike" -store "127.0.0.1:$port")
  sed -n 3001,43000p "$docs" | split -n r/4 -d -a 1 - "$folder/checks"
  for round in $(seq "$rounds"); do
    for wait in none has disk; do
      for n in 1 2 4; do
        store
        for i in $(seq 0 $((n - 1))); do
          replica "$i" -wait "$wait"
          hold "$i"
        done
        before=$(used "$first")
        together "checks-$wait" "$n" / "$folder/checks"
        echo "($(used "$first") - $before) * 1000000 / $(cat $(seq -f "$folder/checks%g" 0 $((n - 1))) | wc -l)" | bc >>"$folder/store-$wait"
        end
        close_store
      done
      for i in 1 2 3 4 5; do
        store
        "$alike" -store "127.0.0.1:$port" -second "127.0.0.1:$((port + 1))" -wait "$wait" -kill "$first" -after "0.$((5 + i))s" "$docs" | sed "s/^/failover, $wait: /"
        close_store
      done
    done
  done
  python3 - "$folder" "$share" <<'PYTHON'
import statistics, sys
folder, share = sys.argv[1:]
for wait, name in (("none", "asynchronous"), ("has", "WAIT 1"), ("disk", "WAITAOF 1 1")):
    rates = {n: [float(line) for line in open(f"{folder}/checks-{wait}.{n}")] for n in (1, 2, 4)}
    for n in (1, 2, 4):
        times = statistics.median(r / one for r, one in zip(rates[n], rates[1]))
        print(f"{name}, {n} replicas of 0.{share} processors: {statistics.median(rates[n]):.0f} a second, {times:.2f} times one")
    store = statistics.median(float(line) for line in open(f"{folder}/store-{wait}"))
    print(f"{name}: the first server takes {store:.0f} µs of its one core a document")
PYTHON
}

[ "$what" = bands ] || start_log
"$what"
