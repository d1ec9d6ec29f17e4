package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTheRecipeThatTuneFindsIsTheOneThatRunsTake makes texts with copies that are so noisy that the default finds none.
func TestTheRecipeThatTuneFindsIsTheOneThatRunsTake(t *testing.T) {
	t.Chdir(t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	letters := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = "etaoin shrdlu"[random.IntN(13)]
		}
		return string(text)
	}
	var lines strings.Builder
	for i := range 60 {
		text := letters(600)
		for copy := range 2 {
			noisy := []byte(text)
			for range 30 * copy {
				noisy[random.IntN(len(noisy))] = 'x'
			}
			fmt.Fprintf(&lines, "{\"id\":\"%d-%d\",\"text\":%q}\n", i, copy, noisy)
		}
	}
	if err := os.WriteFile("in.jsonl", []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(words ...string) string {
		out, err := runLine(words)
		if err != nil {
			t.Fatalf("%v: %v", words, err)
		}
		return out
	}
	var advice struct {
		Told  bool
		Flags string
	}
	if err := json.Unmarshal([]byte(run("tune", "in.jsonl", "--json")), &advice); err != nil || !advice.Told {
		t.Fatalf("%+v: %v", advice, err)
	}
	want := run(slices.Concat([]string{"pairs", "in.jsonl"}, strings.Fields(advice.Flags))...)
	if got := run("pairs", "in.jsonl", "--recipe", "auto", "--threads", "3"); got != want || strings.Count(got, "\n") < 56 {
		t.Errorf("%s\nwant the pairs of %s:\n%s", got, advice.Flags, want)
	}
	run("index", "build", "ix", "in.jsonl", "--recipe", "auto")
	if info := run("index", "info", "ix"); !strings.Contains(info, "jaccard>=0.") || strings.Contains(info, "words n=5") {
		t.Errorf("the index has another recipe:\n%s", info)
	}
	if byDefault := run("pairs", "in.jsonl"); strings.Count(byDefault, "\n") != 1 {
		t.Errorf("the default finds\n%s", byDefault)
	}
}
