package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fakes are programs in place of alike and of schedulers, for the examples in deploy. alike notes the tasks that it
// is asked to run, fails in stage $FAIL, and has skipped input; schedulers run what they are given at once, the last task first, and refuse
// a stage that does not wait for the one before.
var fakes = map[string]string{
	"alike": `[ "$2" != "${FAIL-}" ] || exit 1
case "$2 $*" in
"list "*--json*) echo ' "plan": "0123456789abcdef",' ;;
"list "*) printf 'sketch 3\nlabels 1\nwrite 5\npublish 1\n' ;;
*) [ "$3 $5 $6" = "--task --plan plan.json" ] || [ "$3 $5 $6" = "--task --plan $PWD/plan.json" ] || exit 2; echo "$2 $4" >> ran; [ "$2" != publish ] || exit 3 ;;
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
  echo looks > looks # at the first look the job runs
  echo 'SuccessCriteriaMet Complete' > state
  for ((i = n - 1; i >= 0; i--)); do JOB_COMPLETION_INDEX=$i sh -c "$command" || echo 'FailureTarget Failed' > state; done ;;
get) grep -q "^  name: $2\$" <(sed 's/name: /name: job\//' job)
  if [ -e looks ]; then rm looks; else cat state; fi ;;
esac`,
}

// examples is the folder of the examples.
const examples = "../../deploy"

// exampleNeeds are the examples, with the programs that each needs.
var exampleNeeds = map[string][]string{
	"local.sh": {"bash", "xargs"}, "slurm.sh": {"bash"}, "aws-batch.sh": {"bash", "jq"}, "kubernetes.sh": {"bash"}, "argo.yaml": {"bash", "awk"},
}

// fakeRun returns a folder with the fakes, and what runs a command there; it skips the test if a program is missing.
func fakeRun(t *testing.T, example string, env ...string) (folder string, run func(command ...string) (string, error)) {
	t.Helper()
	for _, program := range exampleNeeds[example] {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s here", program)
		}
	}
	folder = t.TempDir()
	for name, text := range map[string]string{"plan.json": "{}", "expected": "-\n", "jobs": "0\n", "ran": ""} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range fakes {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/usr/bin/env bash\nset -eu\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder, func(command ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = folder
		// Arrays of at most two elements, so that each of a stage has several tasks.
		cmd.Env = append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"), "MAX_ARRAY=2", "QUEUE=q", "DEFINITION=d", "IMAGE=i", "AT_ONCE=2", "PAUSE=0")
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// script returns the path of an example, for a command in another folder.
func script(t *testing.T, example string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(examples, example))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheExamplesOfSchedulersRunEveryTaskOnceAndStagesInOrder(t *testing.T) {
	want := map[string]int{"local.sh": 3} // the status of publish; others leave it to the scheduler's log
	for example := range exampleNeeds {
		t.Run(example, func(t *testing.T) {
			folder, run := fakeRun(t, example)
			if example == "argo.yaml" {
				runWorkflow(t, script(t, example), run)
			} else if out, err := run("bash", script(t, example), "plan.json"); status(err) != want[example] {
				t.Fatalf("%v: %s", err, out)
			}
			checkRan(t, filepath.Join(folder, "ran"))
		})
	}
}

// status returns the exit status of a command that has ended with an error, or 0.
func status(err error) int {
	if ended := new(exec.ExitError); errors.As(err, &ended) {
		return ended.ExitCode()
	}
	return 0
}

func TestAScriptEndsWhenAPlanCannotBeRead(t *testing.T) {
	for example := range exampleNeeds {
		if example == "argo.yaml" {
			continue
		}
		t.Run(example, func(t *testing.T) {
			_, run := fakeRun(t, example, "FAIL=list")
			if out, err := run("bash", script(t, example), "plan.json"); err == nil {
				t.Errorf("no failure: %s", out)
			}
		})
	}
}

func TestAFailedStageEndsTheScriptThatWaitsForIt(t *testing.T) {
	for example, hint := range map[string]string{"local.sh": "", "kubernetes.sh": "stage labels has failed: see kubectl logs --selector=job-name=alike-0123456789abcdef-labels"} {
		t.Run(example, func(t *testing.T) {
			folder, run := fakeRun(t, example, "FAIL=labels")
			out, err := run("bash", script(t, example), "plan.json")
			if err == nil || !strings.Contains(out, hint) {
				t.Errorf("%v: %s", err, out)
			}
			ran, err := os.ReadFile(filepath.Join(folder, "ran"))
			if err != nil || strings.Count(string(ran), "sketch") != 3 || strings.Contains(string(ran), "write") {
				t.Errorf("ran %q, %v", ran, err)
			}
		})
	}
}

// Before version 4.4, bash takes an empty array for a variable that is not set, which set -u refuses. macOS has 3.2.
func TestTheExamplesExpandEmptyArraysAsOldShellsNeedIt(t *testing.T) {
	safe := regexp.MustCompile(`\$\{(\w+)\[@\]\+"\$\{(\w+)\[@\]\}"\}`)
	newer := regexp.MustCompile(`\[[@*]\]|\bmapfile\b|\breadarray\b|\bdeclare -A\b|\bwait -n\b`)
	paths, err := filepath.Glob(filepath.Join(examples, "*.sh"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rest := safe.ReplaceAllStringFunc(string(text), func(found string) string {
			if names := safe.FindStringSubmatch(found); names[1] != names[2] {
				return found
			}
			return ""
		})
		for i, line := range strings.Split(rest, "\n") {
			if newer.MatchString(line) {
				t.Errorf("%s:%d: %s: write ${a[@]+\"${a[@]}\"}, and nothing that bash 3.2 does not know", path, i+1, line)
			}
		}
	}
}

// runWorkflow does what Argo would: it runs the script that lists stages, and the command of a task for each.
func runWorkflow(t *testing.T, file string, run func(command ...string) (string, error)) {
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
		Tasks int // a number, since Argo hands it on from each stage to the next
	}
	listed, err := run("sh", "-c", source)
	if err == nil {
		err = json.Unmarshal([]byte(listed), &stages)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, listed)
	}
	if !strings.Contains(workflow, `withSequence:
              count: "{{=toJson(jsonpath(inputs.parameters.left, '$[0].tasks'))}}"`) {
		t.Error("the tasks of a stage are not counted by its number of them")
	}
	_, command, _ := strings.Cut(workflow, "command: [sh, -c, '")
	command, _, _ = strings.Cut(command, "', ")
	if !strings.Contains(workflow, command+"', '{{inputs.parameters.stage}}', '{{inputs.parameters.task}}', 'plan.json']") {
		t.Error("the command of a task does not get stage, task and plan")
	}
	for _, s := range stages {
		for task := range s.Tasks {
			if out, err := run("sh", "-c", command, s.Stage, fmt.Sprint(task), "plan.json"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
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
	}{{"sketch", 3}, {"labels", 1}, {"write", 5}, {"publish", 1}} {
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
