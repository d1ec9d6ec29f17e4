#!/usr/bin/env bash
# Builds the image twice and runs it as Kubernetes does: as root of this machine, with umoci and runc (Debian's will
# do), it gets a root that it cannot write, no capabilities and a network without a way out.
set -euo pipefail
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
name=alike-image-test-$$
trap 'runc delete --force "$name" 2>/dev/null || true; rm -rf "$tmp"' EXIT

for i in 1 2; do
  # Nothing that was compiled for the first is used for the second.
  GOCACHE=${FRESH:+$tmp/cache$i}
  export GOCACHE=${GOCACHE:-$(go env GOCACHE)}
  go run ./deploy/image -o "$tmp/oci$i" | tee "$tmp/digest$i"
done
cmp "$tmp/digest1" "$tmp/digest2"
diff -r "$tmp/oci1" "$tmp/oci2"
echo "two builds, one digest; $(du -sk "$tmp/oci1" | cut -f 1) kB"

umoci unpack --image "$tmp/oci1:latest" "$tmp/bundle"
python3 - "$tmp/bundle/config.json" <<'PYTHON'
import json, sys
path = sys.argv[1]
c = json.load(open(path))
c["process"]["terminal"] = False
c["process"]["args"] = ["/alike", "serve", "--listen", "127.0.0.1:8080", "--data", "/data"]
c["process"]["capabilities"] = {k: [] for k in ("bounding", "effective", "inheritable", "permitted", "ambient")}
c["process"]["noNewPrivileges"] = True
c["root"]["readonly"] = True
for m in c["mounts"]:
    if m["destination"] == "/data":  # as the volume of a pod with fsGroup
        m["options"] += ["uid=65532", "gid=65532", "mode=0700"]
json.dump(c, open(path, "w"))
PYTHON
runc run --bundle "$tmp/bundle" "$name" >"$tmp/log" 2>&1 &
container=$!
for _ in $(seq 100); do grep -q listening "$tmp/log" && break; sleep 0.1; done
grep listening "$tmp/log" || { cat "$tmp/log"; exit 1; }
pid=$(runc state "$name" | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
ask() { nsenter --target "$pid" --net curl -sS --fail-with-body "$@"; }
ask localhost:8080/healthz
ask localhost:8080/readyz
ask -X PUT localhost:8080/v1/collections/c --json '{"ngram":2}'
echo
ask localhost:8080/v1/collections/c/check --json '{"id":"a","text":"one two three"}'
grep -E '^(Uid|CapEff|NoNewPrivs)' "/proc/$pid/status"
awk '$2 == "/" { print "root is mounted", substr($4, 1, 2) }' "/proc/$pid/mounts"
runc kill "$name" TERM
wait "$container"
echo "SIGTERM: ended with status 0"
