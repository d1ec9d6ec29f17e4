#!/usr/bin/env bash
# Runs a plan on Kubernetes: kubernetes.sh s3://BUCKET/PLAN. Each stage is an Indexed Job, which
# the cluster retries by itself; the next one begins when it is complete.
set -euo pipefail
plan=${1:?usage: kubernetes.sh URL-OF-PLAN}
image=${IMAGE:?set IMAGE to an image with alike}
account=${SERVICE_ACCOUNT:-default} # one that may read and write the bucket
at_once=${AT_ONCE:-500}
memory=${MEMORY:-1200Mi}            # a little more than the plan's --memory
timeout=${TIMEOUT:-24h}             # of a stage

# The digest of the plan is part of the names of its jobs, so that several plans may run at once.
digest=$(alike stage list --plan "$plan" --json | sed -n 's/.*"plan": *"\([0-9a-f]*\)".*/\1/p')

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
  template:
    spec:
      restartPolicy: Never
      serviceAccountName: $account
      containers:
        - name: alike
          image: $image
          command: [sh, -c, 'exec alike stage $stage --task "\$JOB_COMPLETION_INDEX" --plan "$plan"']
          resources:
            requests: {cpu: "1", memory: $memory}
            limits: {memory: $memory}
EOF
  kubectl wait --for=condition=complete --timeout="$timeout" "job/$job"
done < <(alike stage list --plan "$plan")
