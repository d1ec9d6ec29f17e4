#!/usr/bin/env bash
# Submits a plan to AWS Batch: aws-batch.sh s3://BUCKET/PLAN. Each stage is an array job that
# begins when the one before has succeeded. An array has at least two children and at most
# 10,000: a stage of one task is a plain job, one of more tasks than that is cut.
set -euo pipefail
plan=${1:?usage: aws-batch.sh URL-OF-PLAN}
queue=${QUEUE:?set QUEUE to a job queue}
definition=${DEFINITION:?set DEFINITION to a job definition whose image has alike}
most=10000

stages=$(alike stage list --plan "$plan")
after=()
while read -r stage tasks; do
  elements=$((tasks < most ? tasks : most))
  array=()
  if ((elements > 1)); then
    array=(--array-properties "size=$elements")
  fi
  # A child runs every task whose number is its own modulo the number of children. Publish ends with 3
  # if some input was skipped: its log says what, and the job has succeeded.
  # shellcheck disable=SC2016 # the child expands it
  loop='task=${AWS_BATCH_JOB_ARRAY_INDEX:-0}; while [ "$task" -lt "$0" ]; do alike stage "$2" --task "$task" --plan "$3" || [ "$2 $?" = "publish 3" ] || exit 1; task=$((task + $1)); done'
  overrides=$(jq -cn --arg loop "$loop" --arg tasks "$tasks" --arg elements "$elements" --arg stage "$stage" --arg plan "$plan" \
    '{command: ["sh", "-c", $loop, $tasks, $elements, $stage, $plan]}')
  job=$(aws batch submit-job --job-name "alike-$stage" --job-queue "$queue" --job-definition "$definition" \
    --retry-strategy attempts=5 --container-overrides "$overrides" ${array[@]+"${array[@]}"} ${after[@]+"${after[@]}"} --query jobId --output text)
  echo "$stage: job $job, $tasks tasks"
  after=(--depends-on "jobId=$job")
done <<<"$stages"
