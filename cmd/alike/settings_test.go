package main

import (
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/setting"
)

func TestEverySettingThatMessagesNameIsAFlag(t *testing.T) {
	known := map[string]bool{}
	commands := newRoot().Commands()
	for _, c := range commands {
		commands = append(commands, c.Commands()...)
	}
	for _, c := range commands {
		for name := range flags {
			flag, _, _ := strings.Cut(flagOf(string(name)), " ")
			if c.Flags().Lookup(strings.TrimPrefix(flag, "--")) != nil {
				known[string(name)] = true
			}
		}
	}
	for _, name := range setting.Names {
		if !known[string(name)] {
			t.Errorf("messages name the setting %s, and no command has a flag %q", name, flagOf(string(name)))
		}
	}
}
