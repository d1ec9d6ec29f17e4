#!/usr/bin/env bash
# Runs `alike dedup` and `alike pairs` from bucket to bucket on a real S3 server
# of this machine, compares every byte with a run over the same folder, and prints
# seconds and peak memory of both.
#
#   bench/objects.sh [FOLDER]
#
# FOLDER has the corpus (default: examples/corpus). The server is `minio` or
# `versitygw`, whichever is in the PATH (or named by ALIKE_S3_SERVER); it listens
# on 127.0.0.1 only, at the port ALIKE_S3_PORT (default 9753), and keeps its data in
# a temporary folder. Without one the script says so and ends: the tests have
# a server of their own.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

folder=${1:-examples/corpus}
port=${ALIKE_S3_PORT:-9753}
server=${ALIKE_S3_SERVER:-$(command -v minio || command -v versitygw || true)}
if [ -z "$server" ]; then
  echo "objects: no S3 server: put minio or versitygw into the PATH" >&2
  exit 0
fi

dir=$(mktemp -d)
pid=
finish() {
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  rm -rf "$dir"
}
trap finish EXIT

mkdir -p "$dir/bin" "$dir/data" "$dir/meta"
go build -o "$dir/bin/" ./cmd/alike ./bench/bucketcopy
PATH=$dir/bin:$PATH

# Nothing of the machine's own settings.
export AWS_ACCESS_KEY_ID=benchmark AWS_SECRET_ACCESS_KEY=benchmark-secret AWS_SESSION_TOKEN='' AWS_PROFILE=''
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null AWS_EC2_METADATA_DISABLED=true
export AWS_REGION=us-east-1 AWS_ENDPOINT_URL=http://127.0.0.1:$port
case $(basename "$server") in
  minio*)
    MINIO_ROOT_USER=$AWS_ACCESS_KEY_ID MINIO_ROOT_PASSWORD=$AWS_SECRET_ACCESS_KEY \
      "$server" server --quiet --address "127.0.0.1:$port" "$dir/data" >"$dir/log" 2>&1 &
    ;;
  *)
    ROOT_ACCESS_KEY=$AWS_ACCESS_KEY_ID ROOT_SECRET_KEY=$AWS_SECRET_ACCESS_KEY \
      "$server" --quiet --port "127.0.0.1:$port" posix --sidecar "$dir/meta" "$dir/data" >"$dir/log" 2>&1 &
    ;;
esac
pid=$!
made=
for _ in $(seq 50); do
  if bucketcopy -make s3://alike 2>"$dir/why"; then
    made=yes
    break
  fi
  sleep 0.2
done
if [ -z "$made" ]; then
  cat "$dir/why" "$dir/log" >&2
  exit 1
fi
bucketcopy "$folder" s3://alike/in

# timed NAME COMMAND…
timed() {
  local name=$1 start=$EPOCHREALTIME
  shift
  "$@" 2>"$dir/said" || {
    cat "$dir/said" >&2
    exit 1
  }
  echo "$name: $(echo "$EPOCHREALTIME $start" | awk '{ printf "%.2f s", $1 - $2 }'); $(tail -n 1 "$dir/said")"
}

timed 'dedup, folder' alike dedup "$folder" -o "$dir/local"
timed 'dedup, bucket to bucket' alike dedup s3://alike/in -o s3://alike/out
timed 'pairs, folder' alike pairs "$folder" -o "$dir/pairs.csv"
timed 'pairs, bucket to bucket' alike pairs s3://alike/in -o s3://alike/results/pairs.csv
bucketcopy s3://alike/out "$dir/remote"
bucketcopy s3://alike/results "$dir/results"

# The same bytes, but for the paths that stand for ids, and what a summary measures.
for file in removed.csv clusters.csv kept.txt; do
  if [ -f "$dir/local/$file" ]; then
    sed "s#s3://alike/in/#$folder/#g" "$dir/remote/$file" | cmp - "$dir/local/$file"
  fi
done
sed "s#s3://alike/in/#$folder/#g" "$dir/results/pairs.csv" | cmp - "$dir/pairs.csv"
diff -r "$dir/remote/kept" "$dir/local/kept"
grep -q '"kept"' "$dir/remote/summary.json"
echo "same bytes: $(find "$dir/local" -type f | wc -l) files, $(wc -l <"$dir/pairs.csv") lines of pairs"
