package main

import (
	"testing"
)

func TestSizesAreReadAsPeopleWriteThem(t *testing.T) {
	cases := []struct {
		s    string
		want int64 // 0: refused
	}{
		{"64MiB", 64 << 20}, {"64mib", 64 << 20}, {"1.5 kB", 1500}, {"4G", 4e9}, {"100", 100},
		{"", 0}, {"0", 0}, {"-1", 0}, {"64 apples", 0}, {"99999EB", 0}, {"16EiB", 0}, {"9EiB", 0},
	}
	for _, c := range cases {
		got, err := parseSize("memory", c.s)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%q is %d (%v), want %d", c.s, got, err, c.want)
		}
	}
}

func TestMemoryBudgetIsHalfOfWhatThereIs(t *testing.T) {
	var f inputFlags
	got, err := f.budget()
	if err != nil || got < 0 {
		t.Errorf("budget %d (%v)", got, err)
	}
	f.memory = "3GiB"
	if got, err := f.budget(); err != nil || got != 3<<30 {
		t.Errorf("budget %d (%v), want 3 GiB", got, err)
	}
}

func TestMistypedFlagsAreGuessed(t *testing.T) {
	cmd := newDedup()
	cases := []struct{ name, want string }{
		{"treshold", "threshold"}, {"thresholds", "threshold"}, {"theshhold", "threshold"},
		{"textfield", "text-field"}, {"normalise", "normalize"}, {"ngrams", "ngram"}, {"thread", "threads"},
		{"frobnicate", ""}, {"x", ""},
	}
	for _, c := range cases {
		if got := nearestFlag(cmd, c.name); got != c.want {
			t.Errorf("--%s is guessed to be %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	cases := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}}
	for _, c := range cases {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("distance of %q and %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
