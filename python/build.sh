#!/usr/bin/env bash
# Builds the wheel of this platform into python/dist/, or with --all the wheels of all
# platforms. Needs Go and Python 3.11 or later; installs nothing.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/build_wheel.py" "$@"
