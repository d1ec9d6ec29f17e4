package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// usageError marks an error of the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// knownCommand refuses an argument where a command was expected.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2 // cobra's own default where it words the message itself
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return usagef("unknown command %q: choose one of %s", args[0], strings.Join(names, ", "))
}

// inputs asks for one argument or more.
func inputs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("no input: name files, folders or - for standard input")
	}
	return nil
}

// arguments asks for a number of arguments, or more where most is 0; what says which ones.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			return usagef("%s: %s", count(int64(len(args)), "argument"), what)
		}
		return nil
	}
}

// none asks for no arguments; why says why not.
func none(why string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("%s: %s", count(int64(len(args)), "argument"), why)
		}
		return nil
	}
}

// unless calls work, which has nothing to clean up, and does not wait for it when the command is
// interrupted.
func unless[T any](interrupted context.Context, work func() (T, error)) (result T, err error) {
	type outcome struct {
		result T
		err    error
	}
	ended := make(chan outcome, 1)
	go func() {
		result, err := work()
		ended <- outcome{result, err}
	}()
	select {
	case o := <-ended:
		return o.result, o.err
	case <-interrupted.Done():
		return result, interrupted.Err()
	}
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// named returns the files that have a name.
func named(files ...string) []string {
	return slices.DeleteFunc(files, func(name string) bool { return name == "" })
}
