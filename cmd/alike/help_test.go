package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand calls visit for every command of this program's own, with its flags.
func eachCommand(visit func(cmd *cobra.Command)) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		visit(cmd)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	for _, cmd := range newRoot(nil).Commands() {
		if cmd.Name() != "help" && cmd.Name() != "completion" {
			walk(cmd)
		}
	}
}

// flagLine is a line of help about a flag.
var flagLine = regexp.MustCompile(`(?m)^(?:  -., |      )--([a-z-]+) `)

// flagsIn returns the flags that the help of a command line is about.
func flagsIn(t *testing.T, line string) (flags []string) {
	t.Helper()
	out, err := runLine(strings.Fields(line))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	for _, match := range flagLine.FindAllStringSubmatch(out, -1) {
		flags = append(flags, match[1])
	}
	slices.Sort(flags)
	return flags
}

func TestTheHelpOfACommandShowsFewFlagsAndThreeExamples(t *testing.T) {
	eachCommand(func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), "alike ")
		flags := flagsIn(t, path+" --help")
		if len(flags) > mostFlags {
			t.Errorf("%s shows %d flags, %d at most: %v", path, len(flags), mostFlags, flags)
		}
		if names, ok := common[path]; ok {
			if want := slices.Sorted(slices.Values(strings.Fields(names))); !slices.Equal(flags, want) {
				t.Errorf("%s shows %v, want %v", path, flags, want)
			}
		}
		if n := len(regexp.MustCompile(`(?m)^  \w.*\balike .*|^  alike `).FindAllString(cmd.Example, -1)); n > 3 {
			t.Errorf("%s has %d examples", path, n)
		}
	})
}

// TestEveryFlagIsInOneTopic also holds that no topic names a flag that is gone.
func TestEveryFlagIsInOneTopic(t *testing.T) {
	used := map[string]bool{}
	eachCommand(func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), "alike ")
		var want, got []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Name == helpAll {
				return
			}
			if own := cmd.Name() + ":" + f.Name; topicOf(cmd, f.Name) != topicOf(&cobra.Command{}, f.Name) {
				used[own] = true
			} else {
				used[f.Name] = true
			}
			if !f.Hidden {
				want = append(want, f.Name)
			}
		})
		for _, topic := range topicsOf(cmd) {
			got = append(got, flagsIn(t, "help "+path+" "+topic.name)...)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("the topics of %s have %v, want %v", path, got, want)
		}
		if all := flagsIn(t, path+" --help-all"); !slices.Equal(all, want) {
			t.Errorf("%s --help-all has %v, want %v", path, all, want)
		}
	})
	var named []string
	for _, topic := range topics {
		named = append(named, strings.Fields(topic.flags)...)
	}
	slices.Sort(named)
	for i, name := range named {
		if i > 0 && named[i-1] == name {
			t.Errorf("%s is in two topics", name)
		}
		if !used[name] {
			t.Errorf("%s is in a topic, and no command has it", name)
		}
	}
}

func TestFlagsForPublishedSystemsStandInTheirTopicOnly(t *testing.T) {
	page := flagsIn(t, "help presets")
	for _, flag := range []string{"preset", "bits", "hash", "permutations", "shingle-hash", "idf-epsilon", "idf-delta", "measure"} {
		if !slices.Contains(page, flag) {
			t.Errorf("alike help presets lacks --%s", flag)
		}
	}
	eachCommand(func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), "alike ")
		for _, flag := range flagsIn(t, path+" --help") {
			if topicOf(cmd, flag) == presetsTopic {
				t.Errorf("%s --help shows --%s", path, flag)
			}
		}
	})
}

// TestEveryFlagIsGivenInATest looks for flags in the scripts and in the tests' own command lines.
func TestEveryFlagIsGivenInATest(t *testing.T) {
	var lines strings.Builder
	for _, pattern := range []string{"*_test.go", filepath.Join("testdata", "script", "*.txtar")} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(data)
		}
	}
	eachCommand(func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			given := regexp.MustCompile(`--` + f.Name + `\b`)
			if f.Shorthand != "" {
				given = regexp.MustCompile(`--` + f.Name + `\b| -` + f.Shorthand + ` `)
			}
			ofEngines := cmd.Name() == "stage" && f.Name == "print" // which the tests of the Python package run
			if !given.MatchString(lines.String()) && !ofEngines {
				t.Errorf("%s --%s is given in no test", cmd.CommandPath(), f.Name)
			}
		})
	})
}

// Terminals are 80 to 100 columns wide; examples and lists are not wrapped.
func TestTheTextOfAHelpFitsATerminal(t *testing.T) {
	eachCommand(func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Long) {
			if line = strings.TrimRight(line, "\n"); len([]rune(line)) > 96 && !strings.HasPrefix(line, " ") {
				t.Errorf("%s: %q", cmd.CommandPath(), line)
			}
		}
	})
}
