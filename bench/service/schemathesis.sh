#!/usr/bin/env bash
# Sends what openapi.json describes, and what it does not, to a server of alike: no answer may be a fault of the server or
# one that the document does not have. Answers of lines are not compared with their schema, which is that of one line.
# Usage: schemathesis.sh ALIKE SECONDS [SCHEMATHESIS]
set -euo pipefail
alike=$1 seconds=$2 schemathesis=${3:-schemathesis}
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
"$alike" serve --listen 127.0.0.1:0 2>"$folder/log" &
server=$!
until url=http://$(sed -n 's/.*"address":"\([^"]*\)".*/\1/p' "$folder/log") && [ "$url" != http:// ]; do sleep 0.1; done
cat >"$folder/hooks.py" <<'PYTHON'
import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return "\n".join(map(json.dumps, value if isinstance(value, list) else [value])).encode("utf-8", "surrogatepass")
PYTHON
cd "$folder"
SCHEMATHESIS_HOOKS=hooks "$schemathesis" run "$url/openapi.json" --phases examples,coverage,fuzzing,stateful --no-color --continue-on-failure \
  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance \
  --max-time "$seconds"
kill -0 "$server"
! grep '"level":"ERROR"' log
