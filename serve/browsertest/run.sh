#!/usr/bin/env bash
# Runs the tests in Chromium with axe-core, which comes from PyPI; screenshots are left in a folder:
#   serve/browsertest/run.sh [FOLDER]
set -euo pipefail
folder=$(realpath -m "${1:-screenshots}")
cd "$(dirname "$0")"
mkdir -p "$folder"
axe=$(mktemp -d)
trap 'rm -rf "$axe"' EXIT
python3 -m pip download -q --no-deps --disable-pip-version-check -d "$axe" axe-playwright-python==0.1.8
(cd "$axe" && python3 -m zipfile -e ./*.whl .)
ALIKE_AXE=$axe/axe_playwright_python/axe.min.js go test -count=1 -v -artifacts -outputdir "$folder" .
