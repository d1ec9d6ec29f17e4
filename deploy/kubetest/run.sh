#!/usr/bin/env bash
# Runs the chart in a cluster of one machine: see doc.go. Needs Go, root, umoci, runc, iproute2, openssl and cgroups of
# version 1; a pattern of tests may be said. Builds Kubernetes, eight minutes of processor time, unless it is in the cache of Go. It listens on the
# loopback interface and on addresses of 10.231.0.0/16 that only this machine reaches.
set -euo pipefail
cd "$(dirname "$0")"
export CGO_ENABLED=0 GOFLAGS=-trimpath
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

version=v1.34.4 operator=github.com/prometheus-operator/prometheus-operator@v0.85.0
in=k8s.io/component-base/version
(cd parts && go build -ldflags "-s -w -X $in.gitVersion=$version -X $in.gitMajor=1 -X $in.gitMinor=34" -o "$tmp/parts" .)
GOBIN=$tmp go install helm.sh/helm/v3/cmd/helm@v3.22.0
GOBIN=$tmp go install github.com/nats-io/nats-server/v2@v2.15.2
(cd ../.. && GOFLAGS='' go run ./deploy/image -o "$tmp/image")
umoci unpack --image "$tmp/image:latest" "$tmp/bundle"
crds=$(go mod download -json "$operator" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/example/prometheus-operator-crd
export KUBETEST_PARTS=$tmp/parts KUBETEST_HELM=$tmp/helm KUBETEST_NATS=$tmp/nats-server KUBETEST_BUNDLE=$tmp/bundle
export KUBETEST_CRDS="$crds/monitoring.coreos.com_servicemonitors.yaml $crds/monitoring.coreos.com_prometheusrules.yaml"
go test -count=1 -timeout 40m -run "${1:-TestCluster|TestReplicas}" -v .
