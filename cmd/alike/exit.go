package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/noclobber"
	"github.com/alike-dev/alike/vfs"
)

// Exit codes, a stable contract.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitSkipped   = 3 // done, but some input was skipped
	exitAlike     = 4 // of check: something is alike
	exitUndecided = 5 // records were grouped and none removed: the data do not tell
)

// errAlike says that a text is not new.
var errAlike = errors.New("something is alike")

// errSkipped says that a command has done its work but left some input out.
var errSkipped = errors.New("some input was skipped")

// errUndecided says that records were grouped and none was removed.
var errUndecided = errors.New("the data do not tell which records are the same: it is not known how many of the pairs found are right, or less than two thirds may be. " +
	"Nothing was removed; clusters.csv has the clusters. " +
	"What helps: --source COLUMN, if a source has a thing once; --same COLUMNS, in which one thing agrees; labels (alike label, then alike learn) and --model FILE; " +
	"--precision 0.9, for the surest clusters only. --accept removes records all the same")

// exitCode reports what has ended a command and returns the exit code.
func exitCode(cmd *cobra.Command, err error) int {
	stderr := cmd.ErrOrStderr()
	if noclobber.Mutes(err) {
		stderr = io.Discard
	}
	say := func(message string) {
		var said []string // several workers may fail for one reason
		for line := range strings.SplitSeq(message, "\n") {
			if !slices.Contains(said, line) {
				said = append(said, line)
			}
		}
		fmt.Fprintf(stderr, "alike: %s\n", strings.Join(said, "\nalike: "))
	}
	var usage usageError
	var file *fs.PathError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errUndecided):
		say(errUndecided.Error())
		return exitUndecided
	case errors.Is(err, errAlike):
		return exitAlike
	case errors.Is(err, errSkipped):
		return exitSkipped
	case errors.As(err, &usage) || errors.Is(err, alike.ErrUsage):
		say(alike.Explain(err, flagOf))
		say("see " + cmd.CommandPath() + " --help")
		return exitUsage
	case errors.Is(err, context.Canceled):
		say("interrupted; " + leftBehind(cmd))
	case errors.Is(err, syscall.EPIPE):
		// The reader of the output has closed it.
	case vfs.IsNoSpace(err):
		remedy := "; make room, or name another disk"
		if work := resumes(cmd); work != "" {
			remedy = "; make room: finished work is in " + fault.Shown(work) + ", and the same command continues from there"
		} else if cmd.Flags().Lookup("work") != nil {
			remedy += " (temporary files: --work)"
		}
		say(strings.ReplaceAll(alike.Explain(err, flagOf), "\n", remedy+"\n") + remedy)
	case errors.As(err, &file) && errors.Is(file, fs.ErrNotExist):
		// The operating system's error names its call, and no remedy.
		say(strings.Replace(alike.Explain(err, flagOf), file.Error(), file.Path+": "+fault.File(file).Error(), 1))
	default:
		say(alike.Explain(err, flagOf))
	}
	return exitFailed
}

// resumes returns the work folder from which the same command continues; "": there is none.
func resumes(cmd *cobra.Command) string {
	work := cmd.Flags().Lookup("work")
	if work == nil || cmd.Flags().Lookup("fresh") == nil || cmd.Flags().Changed("records") {
		return ""
	}
	return work.Value.String()
}

// leftBehind says what an interrupted command leaves.
func leftBehind(cmd *cobra.Command) string {
	if work := resumes(cmd); work != "" {
		return "finished work is in " + fault.Shown(work) + ": the same command continues from there"
	}
	left := "no output was left behind"
	switch out, _ := cmd.OutOrStdout().(*standardOutput); {
	case cmd.CommandPath() == "alike stream":
		left = "what was decided until then is written"
	case cmd.CommandPath() == "alike index add":
		left = "documents that were added until then stay, and the same command replaces them"
	case out != nil && out.wrote.Load():
		left = "what was printed is not all"
	}
	if grown := cmd.Flags().Lookup("index"); grown != nil && grown.Changed && cmd.CommandPath() == "alike dedup" {
		left += "; what " + grown.Value.String() + " has of this run stays until the same command ends it, or --fresh undoes it"
	}
	return left
}
