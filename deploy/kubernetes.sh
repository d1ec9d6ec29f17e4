#!/usr/bin/env bash
# Runs a plan on Kubernetes: kubernetes.sh s3://BUCKET/PLAN. Each stage is an Indexed Job, which
# the cluster retries by itself; the next one begins when it is complete. If it fails, this ends at once.
set -euo pipefail
plan=${1:?usage: kubernetes.sh URL-OF-PLAN}
image=${IMAGE:?set IMAGE to an image with alike}
account=${SERVICE_ACCOUNT:-default} # one that may read and write the bucket
at_once=${AT_ONCE:-500}
memory=${MEMORY:-1200Mi}            # a little more than the plan's --memory
timeout=${TIMEOUT:-86400}           # of a stage, in seconds
pause=${PAUSE:-5}                   # seconds between two looks at a stage

# The digest of the plan is part of the names of its jobs, so that several plans may run at once.
digest=$(alike stage list --plan "$plan" --json | sed -n 's/.*"plan": *"\([0-9a-f]*\)".*/\1/p')

# finish JOB STAGE waits until the job has ended, and ends the script if it has failed.
finish() {
  local state lost=0
  while :; do
    if state=$(kubectl get "job/$1" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}'); then
      lost=0
    elif ((++lost == 10)); then
      exit 1 # kubectl has said why
    fi
    case " $state " in
    *' Complete '*) return ;;
    *' Failed '*)
      echo "stage $2 has failed: see kubectl logs --selector=job-name=$1 --prefix --tail=20 and kubectl describe job/$1" >&2
      echo "then run this again: tasks that are done are not repeated" >&2
      exit 1
      ;;
    esac
    sleep "$pause"
  done
}

stages=$(alike stage list --plan "$plan")
while read -r stage tasks; do
  job=alike-$digest-$stage
  kubectl delete job "$job" --ignore-not-found --wait=true
  kubectl apply -f - <<EOF
apiVersion: batch/v1
kind: Job
metadata:
  name: $job
spec:
  completionMode: Indexed
  completions: $tasks
  parallelism: $((tasks < at_once ? tasks : at_once))
  backoffLimitPerIndex: 5
  maxFailedIndexes: 0 # the first task that has failed so often ends the stage
  activeDeadlineSeconds: $timeout
  template:
    spec:
      restartPolicy: Never
      serviceAccountName: $account
      containers:
        - name: alike
          image: $image
          # Publish ends with 3 if some input was skipped: its log says what, and the job has succeeded.
          command: [sh, -c, 'alike stage $stage --task "\$JOB_COMPLETION_INDEX" --plan "$plan" || [ "$stage \$?" = "publish 3" ]']
          resources:
            requests: {cpu: "1", memory: $memory}
            limits: {memory: $memory}
EOF
  finish "$job" "$stage"
done <<<"$stages"
