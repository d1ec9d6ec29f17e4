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

// TestAChosenRecipeRemovesOnlyWhatIsLikeTheKept: of texts that each have most of the one before, the default clusters connect
// the ends, which have nothing in common.
func TestAChosenRecipeRemovesOnlyWhatIsLikeTheKept(t *testing.T) {
	t.Chdir(t.TempDir())
	random := rand.New(rand.NewPCG(5, 6))
	var lines strings.Builder
	put := func(text string) {
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"text\":%q}\n", strings.Count(lines.String(), "\n"), text)
	}
	words := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			for range 3 + random.IntN(6) {
				all[i] += string("etaoinshrdlu"[random.IntN(12)])
			}
		}
		return all
	}
	for range 150 {
		text := []byte(strings.Join(words(120), " "))
		for range 2 {
			for range 15 {
				text[random.IntN(len(text))] = 'x'
			}
			put(string(text))
		}
	}
	moving := words(500)
	for from := 0; from+120 <= len(moving); from += 30 {
		put(strings.Join(moving[from:from+120], " "))
	}
	if err := os.WriteFile("in.jsonl", []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	removed := map[string]int{}
	for flags, says := range map[string]string{"--recipe auto": " --cluster whole (", "--recipe auto --cluster components": ""} {
		_, told, err := runTold(strings.Fields("dedup in.jsonl -o out --ids-only " + flags))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(told, "--threshold ")
		var least float64
		if _, err := fmt.Sscan(rest, &least); err != nil || !strings.Contains(told, says) || says == "" && strings.Contains(told, "--cluster") {
			t.Fatalf("%s: it says %s", flags, told)
		}
		rows, err := os.ReadFile("out/removed.csv")
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range strings.Split(strings.TrimSpace(string(rows)), "\n")[1:] {
			fields := strings.Split(row, ",")
			var similarity float64
			if _, err := fmt.Sscan(fields[2], &similarity); err != nil {
				t.Fatal(err)
			}
			if removed[flags]++; says != "" && similarity < least {
				t.Errorf("%s is removed, and is like the kept %s by %s only", fields[0], fields[1], fields[2])
			}
		}
		if err := os.RemoveAll("out"); err != nil {
			t.Fatal(err)
		}
	}
	if n := removed["--recipe auto"]; n < 100 || n >= removed["--recipe auto --cluster components"] {
		t.Errorf("removed %v", removed)
	}
}

// TestPagesOfOneTemplateStay: the default alone removes all but one, though each has words of its own.
func TestPagesOfOneTemplateStay(t *testing.T) {
	t.Chdir(t.TempDir())
	random := rand.New(rand.NewPCG(3, 4))
	words := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprint("w", random.IntN(5000))
		}
		return strings.Join(all, " ")
	}
	var lines strings.Builder
	template := words(300)
	const pages = 100
	for i := range pages {
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"text\":%q}\n", i, template+" "+words(15))
	}
	if err := os.WriteFile("in.jsonl", []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for flags, kept := range map[string]int{"": 1, "--recipe auto": pages, "--idf rare": pages} {
		line := strings.Fields("dedup in.jsonl -o out --ids-only --json " + flags)
		out, told, err := runTold(line)
		if err != nil {
			t.Fatal(err)
		}
		var summary struct{ Kept int }
		if err := json.Unmarshal([]byte(out), &summary); err != nil || summary.Kept != kept {
			t.Errorf("%q keeps %d, want %d: %v", flags, summary.Kept, kept, err)
		}
		if strings.Contains(flags, "auto") && !strings.Contains(told, " --threshold 0.8 --idf rare (") {
			t.Errorf("it says %s", told)
		}
		if err := os.RemoveAll("out"); err != nil {
			t.Fatal(err)
		}
	}
}
