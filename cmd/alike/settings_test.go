package main

import (
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/setting"
)

func TestTheCommandThatIsAskedForIsMadeAlone(t *testing.T) {
	for _, c := range newRoot(nil).Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		alone := newRoot([]string{c.Name()})
		if found, _, err := alone.Find([]string{c.Name()}); err != nil || found.Name() != c.Name() {
			t.Errorf("%s is not made when it is asked for: %v", c.Name(), err)
		}
		for _, other := range alone.Commands() {
			if n := other.Name(); n != c.Name() && n != "help" && n != "completion" {
				t.Errorf("%s is made for %s", n, c.Name())
			}
		}
	}
}

func TestEverySettingThatMessagesNameIsAFlag(t *testing.T) {
	known := map[string]bool{}
	commands := newRoot(nil).Commands()
	for _, c := range commands {
		commands = append(commands, c.Commands()...)
	}
	for _, c := range commands {
		for _, name := range setting.Names {
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
