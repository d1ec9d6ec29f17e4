# shellcheck shell=bash
# The common part of the scripts beside this file; each of them sources it, and has checked its arguments. It sets
# the options of the shell, goes to the root of the repository, and sets
#
#   $inputs   the arguments of the script, as absolute paths
#   $dir      the folder for all files: ALIKE_OTHERS_DIR, which is kept, or a temporary one, removed at the end
#
#   install NAME REQUIREMENT…   makes the virtual environment $dir/venv/NAME, unless it exists. If a requirement
#                               cannot be installed, it says so
set -euo pipefail
export LC_ALL=C.UTF-8
inputs=()
for file in "$@"; do inputs+=("$(realpath "$file")"); done
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ -n "${ALIKE_OTHERS_DIR:-}" ]; then
  mkdir -p "$ALIKE_OTHERS_DIR"
  dir=$(realpath "$ALIKE_OTHERS_DIR")
else
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
fi

install() {
  local venv=$dir/venv/$1
  shift
  [ "$(cat "$venv/ready" 2>/dev/null)" != "$*" ] || return 0
  echo "installing $*" >&2
  rm -rf "$venv"
  python3 -m venv "$venv"
  if "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" >"$venv/log" 2>&1; then
    echo "$*" >"$venv/ready"
  else
    tail -n 5 "$venv/log" >&2
    echo "left out: $*" >&2
  fi
}
