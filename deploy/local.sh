#!/usr/bin/env bash
# Runs a plan on this machine: local.sh PLAN
set -euo pipefail
plan=${1:?usage: local.sh PLAN}
at_once=${AT_ONCE:-$(nproc)}

alike stage list --plan "$plan" | while read -r stage tasks; do
  seq 0 $((tasks - 1)) | xargs -P "$at_once" -I{} alike stage "$stage" --task {} --plan "$plan"
done
