package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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
	answers := json.NewEncoder(cmd.OutOrStdout())
	answers.SetEscapeHTML(false)
	var end error
	lines := eachLine(ctx, cmd.InOrStdin())
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-lines:
			if !more {
				return end
			}
			done := answerTask(ctx, plan, p, line, o, quiet)
			if err := endAfter(done.Status); end != errTask && err != nil {
				end = err
			}
			if err := answers.Encode(done); err != nil {
				return err
			}
		}
	}
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

// eachLine hands over lines until the input or the context ends.
func eachLine(ctx context.Context, in io.Reader) <-chan string {
	all := make(chan string)
	go func() {
		defer close(all)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			select {
			case all <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return all
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
	said := strings.FieldsFunc(errs.String(), func(r rune) bool { return r == '\n' })
	return answered{status, out.String(), append([]string{}, said...)}
}
