package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command that prints JSON is named by a schema that says what.
func TestEveryCommandThatPrintsJSONHasASchema(t *testing.T) {
	said := map[string]bool{}
	for i := range jsonKinds {
		for _, word := range regexp.MustCompile(`[a-z]+`).FindAllString(jsonKinds[i].what, -1) {
			said[word] = true
		}
	}
	n := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Flags().Lookup("json") != nil {
			n++
			for _, word := range strings.Fields(cmd.CommandPath())[1:] {
				if !said[word] {
					t.Errorf("%s --json: no schema names %q", cmd.CommandPath(), word)
				}
			}
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot(nil))
	if n < 15 {
		t.Errorf("only %d commands print JSON", n)
	}
}
