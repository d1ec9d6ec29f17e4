#!/usr/bin/env bash
# The server at ten times its capacity, held to a quarter of a processor by a cgroup (2.5 ms of 10), as root:
#   bench/service/overload.sh ALIKE SERVICE DOCS.jsonl [CONNECTIONS [SECONDS]]
# SERVICE is of go build ./bench/service. Capacity is what 32 connections get that send as fast as answers come,
# before and after.
set -euo pipefail
alike=$1 service=$2 docs=$3 connections=${4:-200} seconds=${5:-120}
group=/sys/fs/cgroup/cpu/alike-overload-$$
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; sleep 1; rmdir $group; rm -rf "$folder"' EXIT
mkdir "$group"
echo 10000 >"$group/cpu.cfs_period_us"
echo 2500 >"$group/cpu.cfs_quota_us"
"$alike" serve --listen 127.0.0.1:0 2>"$folder/log" &
server=$!
echo "$server" >"$group/cgroup.procs"
until url=http://$(sed -n 's/.*"address":"\([^"]*\)".*/\1/p' "$folder/log") && [ "$url" != http:// ]; do sleep 0.05; done
curl -sf -X PUT "$url/v1/collections/c" --json '{"window":{"docs":20000}}' >/dev/null
at=$url/v1/collections/c/check
ulimit -n 20000
"$service" -connections 32 -for 10s -pid "$server" "$at" "$docs" >"$folder/capacity" # until the window is full
# capacity NAME measures it; once before and once after, as the machine changes.
capacity() {
  "$service" -connections 32 -for 20s -pid "$server" "$at" "$docs" | tee "$folder/$1" | sed "s/^/capacity $1: /"
}
rate() { sed -n '1s/\/s.*//p' "$folder/$1"; }
capacity before
"$service" -connections "$connections" -rate "$((10 * $(rate before)))" -for "${seconds}s" -pid "$server" "$at" "$docs" | tee "$folder/overload" | sed "s/^/$connections connections: /"
capacity after
echo "goodput: $(echo "scale=2; 2 * $(rate overload) / ($(rate before) + $(rate after))" | bc) of capacity"
