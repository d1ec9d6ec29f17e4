package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const holdHelp = `Keep an index open, and run commands about it that come one a line.

A line of standard input is a JSON array of arguments: those of alike search DIR,
alike check --index DIR or alike index add, delete, info, check and compact DIR, as they would
stand in a shell. Each is answered by one line, an object with status (the exit status), output
(what it prints) and errors (its lines of standard error).

So a program asks again and again without the time that opening takes. The index is opened
for reading, as it is then, and for writing from the first command that changes it: until the
end of input no other process can write to it.

  $ printf '["search","news.index","a.txt","--json"]\n' | alike index hold news.index
  {"status":0,"output":"{\"query\":\"a.txt\",\"matches\":[…]}\n","errors":[…]}`

// holdable are the commands that an index is held for; those of index by their second word.
var holdable = []string{"search", "check", "index add", "index delete", "index info", "index check", "index compact"}

func newIndexHold() *cobra.Command {
	var memory string
	cmd := &cobra.Command{
		Use:     "hold DIR",
		Short:   "Keep an index open, and run commands about it that come one a line",
		Long:    holdHelp,
		Example: "  alike index hold news.index < commands.jsonl",
		Args:    arguments(1, 1, "name the folder of the index"),
		RunE: func(cmd *cobra.Command, args []string) error {
			budget, err := budgetOf(memory)
			if err != nil {
				return err
			}
			if _, err := keepApart([]string{"-"}, filesBelow(args[0])); err != nil {
				return err
			}
			h := &holder{dir: args[0], memory: budget}
			if err := h.open(true); err != nil { // here, and not with the first line, where a mistake is noticed
				return err
			}
			err = answerLines(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), func(line []byte) answered { return h.answer(cmd.Context(), line) })
			return errors.Join(err, h.close())
		},
	}
	cmd.Flags().StringVar(&memory, "memory", "", "memory of the whole process, a `size` such as 256MiB (default: half of what the machine or its control group has)")
	return cmd
}

// answer runs the command of a line.
func (h *holder) answer(ctx context.Context, line []byte) answered {
	var args []string
	if err := json.Unmarshal(line, &args); err != nil || !slices.ContainsFunc(holdable, begins(args)) {
		return answered{exitUsage, "", []string{"alike: a line is a JSON array of arguments that begins with one of: " + strings.Join(holdable, ", ")}}
	}
	if slices.Contains(args, "-") {
		return answered{exitUsage, "", []string{"alike: standard input has the commands: put texts into files"}}
	}
	var out, errs bytes.Buffer
	root := newRoot(args)
	root.SetIn(strings.NewReader(""))
	root.SetOut(&out)
	root.SetErr(&errs)
	status := exitCode(execute(context.WithValue(ctx, heldKey{}, h), root))
	return newAnswered(status, &out, &errs)
}

// begins returns whether a command, of one word or two, is what arguments begin with.
func begins(args []string) func(command string) bool {
	return func(command string) bool {
		words := strings.Fields(command)
		return len(args) >= len(words) && slices.Equal(args[:len(words)], words)
	}
}
