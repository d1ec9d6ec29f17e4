package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakes are programs in place of alike and of schedulers, for the examples in deploy. alike notes the tasks that it
// is asked to run; schedulers run what they are given at once, the last task first, and refuse a stage that does not
// wait for the one before.
var fakes = map[string]string{
	"alike": `case "$2 $*" in
"list "*--json*) echo ' "plan": "0123456789abcdef",' ;;
"list "*) printf 'sketch 3\nlabels 1\nwrite 5\n' ;;
*) [ "$3 $5 $6" = "--task --plan plan.json" ] || [ "$3 $5 $6" = "--task --plan $PWD/plan.json" ] || exit 2; echo "$2 $4" >> ran ;;
esac`,
	"sbatch": `cat > job; after=-
while [ $# -gt 0 ]; do
  case "$1" in --array) array=$2; shift ;; --dependency) after=$2; shift ;; esac; shift
done
[ "$after" = "$(cat expected)" ] || exit 1
array=${array%%%*}
for ((i = ${array#0-}; i >= 0; i--)); do SLURM_ARRAY_TASK_ID=$i bash job; done
n=$(($(cat jobs) + 1)); echo $n > jobs; echo "afterok:$n" > expected; echo "$n;cluster"`,
	"aws": `after=- size=1
while [ $# -gt 0 ]; do
  case "$1" in --array-properties) size=${2#size=}; shift ;; --depends-on) after=$2; shift ;; --container-overrides) json=$2; shift ;; esac; shift
done
[ "$after" = "$(cat expected)" ] || exit 1
mapfile -t command < <(jq -r '.command[]' <<<"$json")
for ((i = size - 1; i >= 0; i--)); do
  if [ $size = 1 ]; then "${command[@]}"; else AWS_BATCH_JOB_ARRAY_INDEX=$i "${command[@]}"; fi
done
n=$(($(cat jobs) + 1)); echo $n > jobs; echo "jobId=$n" > expected; echo $n`,
	"kubectl": `case "$1" in
apply) cat > job
  n=$(sed -n 's/^ *completions: //p' job) command=$(sed -n "s/^ *command: \[sh, -c, '\(.*\)'\]\$/\1/p" job)
  for ((i = n - 1; i >= 0; i--)); do JOB_COMPLETION_INDEX=$i sh -c "$command"; done ;;
wait) grep -q "^  name: ${@: -1}" <(sed 's/name: /name: job\//' job) ;;
esac`,
}

func TestTheExamplesOfSchedulersRunEveryTaskOnceAndStagesInOrder(t *testing.T) {
	examples, err := filepath.Abs("../../deploy")
	if err != nil {
		t.Fatal(err)
	}
	for script, needs := range map[string][]string{
		"local.sh": {"bash", "xargs"}, "slurm.sh": {"bash"}, "aws-batch.sh": {"bash", "jq"}, "kubernetes.sh": {"bash"}, "argo.yaml": {"bash", "awk"},
	} {
		t.Run(script, func(t *testing.T) {
			for _, program := range needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("no %s here", program)
				}
			}
			folder := t.TempDir()
			for name, text := range map[string]string{"plan.json": "{}", "expected": "-\n", "jobs": "0\n"} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range fakes {
				if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/usr/bin/env bash\nset -eu\n"+text+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			run := func(command ...string) string {
				cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
				cmd.Dir = folder
				// Arrays of at most two elements, so that each of a stage has several tasks.
				cmd.Env = append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"), "MAX_ARRAY=2", "QUEUE=q", "DEFINITION=d", "IMAGE=i", "AT_ONCE=2")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				return string(out)
			}
			if script == "argo.yaml" {
				runWorkflow(t, filepath.Join(examples, script), run)
			} else {
				run("bash", filepath.Join(examples, script), "plan.json")
			}
			checkRan(t, filepath.Join(folder, "ran"))
		})
	}
}

// runWorkflow does what Argo would: it runs the script that lists stages, and the command of a task for each.
func runWorkflow(t *testing.T, file string, run func(command ...string) string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	workflow := strings.ReplaceAll(string(text), "{{workflow.parameters.plan}}", "plan.json")
	_, source, _ := strings.Cut(workflow, "source: |\n")
	source, _, _ = strings.Cut(source, "\n\n")
	var stages []struct {
		Stage string
		Tasks []int
	}
	if err := json.Unmarshal([]byte(run("sh", "-c", source)), &stages); err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(workflow, "command: [alike,")
	command, _, _ = strings.Cut(command, "]\n")
	for _, s := range stages {
		for _, task := range s.Tasks {
			line := strings.NewReplacer("{{inputs.parameters.stage}}", s.Stage, "{{inputs.parameters.task}}", fmt.Sprint(task), "'", "", ",", "").Replace(command)
			run(append([]string{"env", "alike"}, strings.Fields(line)...)...)
		}
	}
}

// checkRan checks that each task of the fake plan has run once, behind all of the stage before.
func checkRan(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ran := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, s := range []struct {
		stage string
		tasks int
	}{{"sketch", 3}, {"labels", 1}, {"write", 5}} {
		if len(ran) < s.tasks {
			t.Fatalf("no task of stage %s has run: %q", s.stage, ran)
		}
		got := slices.Sorted(slices.Values(ran[:s.tasks]))
		for i, line := range got {
			if want := fmt.Sprintf("%s %d", s.stage, i); line != want {
				t.Errorf("%q ran where %q should have", line, want)
			}
		}
		ran = ran[s.tasks:]
	}
	if len(ran) > 0 {
		t.Errorf("ran too much: %q", ran)
	}
}
