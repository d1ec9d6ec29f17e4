#!/usr/bin/env bash
# Submits a plan to Slurm: slurm.sh PLAN. Each stage is an array job that begins when the one
# before has succeeded. Options of sbatch (partition, account, time) go into SBATCH_OPTIONS.
set -euo pipefail
plan=$(realpath "${1:?usage: slurm.sh PLAN}")
memory=${MEMORY:-1200M}             # a little more than the plan's --memory
at_once=${AT_ONCE:-1000}            # tasks of a stage at once
most=${MAX_ARRAY:-1000}             # MaxArraySize of the cluster
read -r -a options <<<"${SBATCH_OPTIONS:-}"

# A stage of more tasks than an array may have gives each element several of them.
stages=$(alike stage list --plan "$plan")
after=()
while read -r stage tasks; do
  elements=$((tasks < most ? tasks : most))
  job=$(sbatch --parsable --requeue --job-name "alike-$stage" --cpus-per-task 1 --mem "$memory" \
    --array "0-$((elements - 1))%$at_once" ${after[@]+"${after[@]}"} ${options[@]+"${options[@]}"} <<EOF
#!/usr/bin/env bash
set -euo pipefail
for ((task = SLURM_ARRAY_TASK_ID; task < $tasks; task += $elements)); do
  status=0
  alike stage $stage --task "\$task" --plan "$plan" || status=\$?
  # Publish ends with 3 if some input was skipped: its message says what, and the job has succeeded.
  [ "\$status" = 0 ] || [ "$stage \$status" = 'publish 3' ]
done
EOF
  )
  echo "$stage: job ${job%%;*}, $tasks tasks"
  after=(--dependency "afterok:${job%%;*}" --kill-on-invalid-dep=yes)
done <<<"$stages"
