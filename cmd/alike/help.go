package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addHelp adds the flags about help to a command and those below it.
func addHelp(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false // shells complete them, and errors name them, in the order of the work
	cmd.InitDefaultHelpFlag()     // so that the word behind --help is not taken for its value
	cmd.Flags().BoolFunc(helpAll, "help with all flags", func(string) error { return cmd.Flags().Set("help", "true") })
	for _, sub := range cmd.Commands() {
		addHelp(sub)
	}
}

// helpWidth is the width of lines about flags; --help-all has a line for each flag, for programs that read it.
const helpWidth = 100

func printHelp(cmd *cobra.Command) {
	w := printed(cmd)
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	use := cmd.UseLine()
	if len(topicsOf(cmd)) == 0 {
		use = strings.TrimSuffix(use, " [flags]")
	}
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", about, use)
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		printCommands(w, cmd)
		return
	}
	all, more := cmd.Flags().Changed(helpAll), false
	var names []string
	for _, t := range topicsOf(cmd) {
		names = append(names, t.name)
		if all {
			printTopic(w, cmd, t, 0)
			continue
		}
		shown := ofTopic(cmd, t, func(flag string) bool { return isCommon(cmd, flag) })
		printFlags(w, t, shown, helpWidth)
		more = more || noteOf(cmd, t) != "" || !sameFlags(shown, ofTopic(cmd, t, nil))
	}
	path := strings.TrimPrefix(cmd.CommandPath(), "alike ")
	switch {
	case more && len(names) == 1:
		fmt.Fprintf(w, "\nMore: alike help %s %s\n", path, names[0])
	case more:
		fmt.Fprintf(w, "\nMore by topic: alike help %s TOPIC, one of %s.\nAll flags: alike %s --%s\n", path, strings.Join(names, ", "), path, helpAll)
	}
}

// printCommands prints the commands below one, by their groups if it has any.
func printCommands(w io.Writer, cmd *cobra.Command) {
	width := 0
	for _, sub := range cmd.Commands() {
		width = max(width, len(sub.Name()))
	}
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands"}}
	}
	for _, g := range groups {
		fmt.Fprintf(w, "\n%s:\n", g.Title)
		for _, sub := range cmd.Commands() {
			if sub.GroupID == g.ID {
				fmt.Fprintf(w, "  %-*s  %s\n", width, sub.Name(), sub.Short)
			}
		}
	}
	fmt.Fprintf(w, "\nMore: %s COMMAND --help\n", cmd.CommandPath())
	if !cmd.HasParent() {
		fmt.Fprintf(w, "About published systems: alike help %s\n", presetsTopic)
	}
}

func sameFlags(a, b *pflag.FlagSet) bool {
	same := true
	b.VisitAll(func(f *pflag.Flag) { same = same && a.Lookup(f.Name) != nil })
	return same
}

func printFlags(w io.Writer, t topic, flags *pflag.FlagSet, width int) {
	if flags.HasFlags() {
		fmt.Fprintf(w, "\n%s:\n%s", t.title, flags.FlagUsagesWrapped(width))
	}
}

// printTopic prints what a command's help says about a topic: flags, in lines of a width, 0 for any, and its note.
func printTopic(w io.Writer, cmd *cobra.Command, t topic, width int) {
	printFlags(w, t, ofTopic(cmd, t, nil), width)
	if note := noteOf(cmd, t); note != "" {
		fmt.Fprintf(w, "\n%s\n", note)
	}
}

// noteOf returns the note of a topic: an annotation of the command, or what all commands say.
func noteOf(cmd *cobra.Command, t topic) string { return cmp.Or(cmd.Annotations[t.name], t.note) }

// helpOn prints the help on what args name: a command, a topic of a command, or the presets.
func helpOn(cmd *cobra.Command, args []string) error {
	if slices.Equal(args, []string{presetsTopic}) {
		printPresets(cmd)
		return nil
	}
	of, rest, err := cmd.Root().Find(args)
	switch {
	case err != nil:
		return err
	case of.HasSubCommands() && len(rest) > 0:
		return knownCommand(of, rest)
	case len(rest) > 0:
		return helpOnTopic(of, rest)
	}
	return of.Help()
}

func helpOnTopic(cmd *cobra.Command, args []string) error {
	var names []string
	for _, t := range topicsOf(cmd) {
		if len(args) == 1 && t.name == args[0] {
			printTopic(printed(cmd), cmd, t, helpWidth)
			return nil
		}
		names = append(names, t.name)
	}
	if len(names) == 0 {
		return usagef("%s has no topics: leave %q out", cmd.CommandPath(), args[0])
	}
	return usagef("%s has no topic %q: choose one of %s", cmd.CommandPath(), strings.Join(args, " "), strings.Join(names, ", "))
}

// printPresets prints the page on presets, with the flags that any command has for them.
func printPresets(cmd *cobra.Command) {
	t := topics[len(topics)-1]
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	for _, of := range []*cobra.Command{newPairs(), newJoin()} {
		flags.AddFlagSet(ofTopic(of, t, nil))
	}
	printFlags(printed(cmd), t, flags, helpWidth)
	fmt.Fprintf(printed(cmd), "\n%s\n", t.note)
}
