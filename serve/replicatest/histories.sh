#!/usr/bin/env bash
# histories.sh [N [POWER]]: N histories, 200 unless it is said, one after the other; each of the failures comes every seventh
# time. Then the power fails POWER times, 20 as root and else never.
set -euo pipefail
cd "$(dirname "$0")"
export ALIKE_HISTORIES=${1:-200} ALIKE_POWER=${2:-$([ "$(id -u)" != 0 ] || echo 20)}
go test -count=1 -timeout 0 -v -run '^Test(Histories|PowerFailures)' .
