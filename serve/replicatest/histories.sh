#!/usr/bin/env bash
# histories.sh [N]: N histories, 200 unless it is said, one after the other; each of the failures comes every seventh time.
set -euo pipefail
cd "$(dirname "$0")"
ALIKE_HISTORIES=${1:-200} go test -count=1 -timeout 0 -v -run '^TestHistoriesAreLinearizable$' .
