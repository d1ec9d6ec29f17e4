package main

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/stage/runner"
)

// eachStage is the name that runs the tasks which standard input names, in place of a stage.
const eachStage = "each"

// runEach runs the tasks that standard input names, STAGE TASK a line, and answers each by a line. A task that fails ends
// nothing but itself.
func runEach(cmd *cobra.Command, plan string, p *runner.Plan, o runner.Options, quiet bool) error {
	ctx := cmd.Context()
	var end error
	err := answerLines(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), func(line []byte) answered {
		done := answerTask(ctx, plan, p, string(line), o, quiet)
		if err := endAfter(done.Status); end != errTask && err != nil {
			end = err
		}
		return done
	})
	if err != nil {
		return err
	}
	return end
}

var errTask = errors.New("a task has failed, and its answer says why")

// endAfter returns how a process ends that has run a task of this status.
func endAfter(status int) error {
	switch status {
	case exitDone:
		return nil
	case exitSkipped:
		return errSkipped
	case exitUndecided:
		return errUndecided
	}
	return errTask
}

// answerTask runs the task of a line, as a command of its own. An empty line is answered, so that a program knows that this
// one has begun.
func answerTask(ctx context.Context, plan string, p *runner.Plan, line string, o runner.Options, quiet bool) answered {
	var out, errs bytes.Buffer
	cmd := &cobra.Command{Use: "stage"}
	(&cobra.Command{Use: "alike"}).AddCommand(cmd)
	cmd.SetContext(ctx)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	status := exitDone
	if words := strings.Fields(line); len(words) > 0 {
		skipped := newSkips(&errs, quiet, nil)
		o.OnSkip = skipped.add
		err := usagef("%.40q is no task: a line names a stage and the number of a task", line)
		if len(words) == 2 {
			if number, wrong := strconv.Atoi(words[1]); wrong == nil {
				asJSON := words[0] == stage.Publish || words[0] == stage.Match
				err = skipped.end(asTask(plan, runStage(cmd, p, words[0], number, false, asJSON, quiet, o)))
			}
		}
		status = exitCode(cmd, err)
	}
	return newAnswered(status, &out, &errs)
}
