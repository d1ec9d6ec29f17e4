#!/usr/bin/env bash
# Runs a plan on this machine: local.sh PLAN. It ends with the status of publish: 3 if some input was skipped.
set -euo pipefail
plan=${1:?usage: local.sh PLAN}
at_once=${AT_ONCE:-$(nproc)}

alike stage list --plan "$plan" | while read -r stage tasks; do
  if [ "$stage" = publish ]; then
    alike stage publish --task 0 --plan "$plan" || exit
    continue
  fi
  seq 0 $((tasks - 1)) | xargs -P "$at_once" -I{} alike stage "$stage" --task {} --plan "$plan"
done
