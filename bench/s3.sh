# shellcheck shell=bash
# A real S3 server of this machine, for the benchmarks that source this file:
#
#   find_server          sets $server; if there is none, it says so and ends the script
#   start_server DIR     starts the server over DIR, sets the environment with which programs find
#                        it, and makes the bucket "alike". bucketcopy must be in the PATH
#   log_requests FILE    from now on programs use bucketlog, which logs every request in FILE
#   stop_servers         ends what was started
#
# The server is `minio` or `versitygw`, whichever is in the PATH (or named by ALIKE_S3_SERVER). It
# listens on 127.0.0.1 only, at the port ALIKE_S3_PORT (default 9753); bucketlog listens at the
# next port.
port=${ALIKE_S3_PORT:-9753}
servers=()

find_server() {
  server=${ALIKE_S3_SERVER:-$(command -v minio || command -v versitygw || true)}
  if [ -z "$server" ]; then
    echo "$(basename "$0" .sh): no S3 server: put minio or versitygw into the PATH" >&2
    exit 0
  fi
}

stop_servers() {
  local pid
  for pid in "${servers[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  servers=()
}

start_server() {
  local at=$1
  mkdir -p "$at/data" "$at/meta"
  # Do not use settings of this machine's user.
  export AWS_ACCESS_KEY_ID=benchmark AWS_SECRET_ACCESS_KEY=benchmark-secret AWS_SESSION_TOKEN='' AWS_PROFILE=''
  export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null AWS_EC2_METADATA_DISABLED=true
  export AWS_REGION=us-east-1 AWS_ENDPOINT_URL=http://127.0.0.1:$port
  case $(basename "$server") in
    minio*)
      MINIO_ROOT_USER=$AWS_ACCESS_KEY_ID MINIO_ROOT_PASSWORD=$AWS_SECRET_ACCESS_KEY \
        "$server" server --quiet --address "127.0.0.1:$port" "$at/data" >"$at/log" 2>&1 &
      ;;
    *)
      ROOT_ACCESS_KEY=$AWS_ACCESS_KEY_ID ROOT_SECRET_KEY=$AWS_SECRET_ACCESS_KEY \
        "$server" --quiet --port "127.0.0.1:$port" posix --sidecar "$at/meta" "$at/data" >"$at/log" 2>&1 &
      ;;
  esac
  servers+=($!)
  for _ in $(seq 50); do
    if bucketcopy -make s3://alike 2>"$at/why"; then
      return
    fi
    sleep 0.2
  done
  cat "$at/why" "$at/log" >&2
  exit 1
}

log_requests() {
  bucketlog -listen "127.0.0.1:$((port + 1))" -server "http://127.0.0.1:$port" "$1" 2>"$1.errors" &
  servers+=($!)
  export AWS_ENDPOINT_URL=http://127.0.0.1:$((port + 1))
  until bucketcopy -make s3://alike-warm 2>/dev/null; do sleep 0.2; done
}
