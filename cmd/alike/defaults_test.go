package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/countmin"
	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/lsh"
)

// A use is a command line.
type use struct {
	line   string
	before string   // a command before it
	then   string   // a command whose output tells what it has made
	made   []string // files and folders that it makes
	only   []string // the flags whose defaults are used; nil: all
}

// uses are command lines that end without an error, by the kind of input where a command takes several.
// What --config, --model and --preset say is in place of defaults, as their help says.
var uses = []use{
	{line: "dedup docs.jsonl -o out", made: []string{"out"}},
	{line: "dedup docs.jsonl -o out --recipe auto", made: []string{"out"}},
	{line: "dedup left.csv --records -o out", made: []string{"out"}},
	{line: "dedup left.csv --records -o out --idf sketch", made: []string{"out"}},
	{line: "dedup left.csv --records -o out --accept", made: []string{"out"}},
	{line: "dedup docs.jsonl -o out --scheme simhash --distance 3", made: []string{"out"}},
	{line: "dedup docs.jsonl -o out --preset exlsh-word --distance 3", made: []string{"out"}, only: ofPresets},
	{line: "dedup docs.jsonl -o out --preset hash4j-simhash --distance 3", made: []string{"out"}, only: ofPresets},
	{line: "decontaminate docs.jsonl --against docs.jsonl -o out", made: []string{"out"}},
	{line: "pairs docs.jsonl"},
	{line: "pairs docs.jsonl --tokens ascii --ngram 9"},
	{line: "pairs docs.jsonl --recipe auto"},
	{line: "pairs docs.jsonl --bands 8 --rows 4"},
	{line: "pairs docs.jsonl --with docs.jsonl --measure containment"},
	{line: "pairs docs.jsonl --preset exlsh-word --distance 3", only: ofPresets},
	{line: "pairs docs.jsonl --preset hash4j-simhash --distance 3", only: ofPresets},
	{line: "pairs prints.jsonl"},
	{line: "pairs left.csv --records"},
	{line: "pairs left.csv --records --idf sketch"},
	{line: "pairs left.csv --text-field name --idf sketch"},
	{line: "pairs left.csv --records --audit 1 --audit-labels said.csv", made: []string{"said.csv"}},
	{line: "join left.csv right.csv --audit 1 --audit-labels said.csv", made: []string{"said.csv"}},
	{line: "pairs left.csv --records --clusters groups.csv", made: []string{"groups.csv"}},
	{line: "pairs left.csv --records --match mutual --precision 0.9"},
	{line: "pairs left.csv --records --threshold 0.5 --candidates lsh"},
	{line: "join left.csv right.csv"},
	{line: "join left.csv right.csv --match all --threshold 0.5 --candidates lsh"},
	{line: "join left.csv right.csv --idf sketch"},
	{line: "entities left.csv right.csv"},
	{line: "entities left.csv right.csv --idf sketch"},
	{before: "entities left.csv -o known.csv", line: "entities left.csv right.csv --known known.csv --changes changes.csv", made: []string{"known.csv", "changes.csv"}},
	{before: "join left.csv right.csv --save-config model.json", line: "match model.json right.csv", made: []string{"model.json"}},
	{line: "learn left.csv right.csv --truth pairs.csv"},
	{line: "learn left.csv --truth copies.csv"},
	{line: "label left.csv right.csv -o said.csv", made: []string{"said.csv"}},
	{line: "label left.csv -o said.csv", made: []string{"said.csv"}},
	{line: "stream"},
	{line: "stream --window-docs 2"},
	{line: "stream --preset exlsh-word --distance 3", only: ofPresets},
	{line: "stream --preset hash4j-simhash --distance 3", only: ofPresets},
	{line: "stream --recipe auto --sample docs.jsonl"},
	{line: "stream --state out", made: []string{"out"}},
	{line: "passages docs.jsonl -o out --unit line", made: []string{"out"}},
	{before: "dedup docs.jsonl -o out", line: "report out", made: []string{"out"}},
	{line: "index build out docs.jsonl --recipe auto", then: "index info out", made: []string{"out"}},
	{line: "index build out docs.jsonl", then: "index info out", made: []string{"out"}},
	{line: "index build out docs.jsonl --preset exlsh-word --distance 3", then: "index info out", made: []string{"out"}, only: ofPresets},
	{line: "index build out docs.jsonl --preset hash4j-simhash --distance 3", then: "index info out", made: []string{"out"}, only: ofPresets},
	{before: "index build out docs.jsonl", line: "index add out docs.jsonl", then: "search out docs.jsonl", made: []string{"out"}},
	{line: "index delete ix 1", then: "index info ix"},
	{line: "index compact ix", then: "index info ix"},
	{line: "index check ix"},
	{line: "index hold ix"},
	{line: "index info ix"},
	{line: "search ix docs.jsonl"},
	{line: "search ix docs.jsonl --measure dice"},
	{line: "check new.txt --index ix"},
	{line: "check new.txt --among docs.jsonl"},
	{line: "mcp --index ix"},
	{line: "mcp --among docs.jsonl"},
	{line: "compare a.txt b.txt"},
	{line: "sketch docs.jsonl"},
	{line: "sketch docs.jsonl --preset exlsh-word", only: ofPresets},
	{line: "sketch docs.jsonl --preset hash4j-simhash", only: ofPresets},
	{line: "plan dedup docs.jsonl --results clean --work work"},
	{line: "plan dedup docs.jsonl --results clean --work work --recipe auto"},
	{line: "plan pairs docs.jsonl --results out.csv --work work"},
	{line: "plan pairs docs.jsonl --results out.csv --work work --recipe auto"},
	{line: "plan passages docs.jsonl --results clean --work work --unit line"},
	{line: "plan dedup docs.jsonl --results clean --work work --preset exlsh-word --distance 3", only: ofPresets},
	{line: "plan dedup docs.jsonl --results clean --work work --preset hash4j-simhash --distance 3", only: ofPresets},
	{line: "plan pairs docs.jsonl --results out.csv --work work --preset exlsh-word --distance 3", only: ofPresets},
	{line: "plan pairs docs.jsonl --results out.csv --work work --preset hash4j-simhash --distance 3", only: ofPresets},
	{line: "plan dedup left.csv --records --results clean --work work"},
	{line: "plan dedup left.csv --records --results clean --work work --idf sketch"},
	{line: "plan pairs left.csv --records --results out.csv --work work"},
	{line: "plan pairs left.csv --records --results out.csv --work work --idf sketch"},
	{line: "plan join left.csv right.csv --results out.csv --work work"},
	{line: "plan join left.csv right.csv --results out.csv --work work --idf sketch"},
	{line: "stage list --plan plan.json"},
	{line: "tune"},
	{line: "tune docs.jsonl"},
	{line: "eval pairs.csv pairs.csv"},
	{line: "eval pairs.csv pairs.csv --clusters"},
	{line: "eval spans.csv spans.csv --spans"},
	{line: "schema summary"},
	{line: "version"},
}

// ofPresets are the flags about presets.
var ofPresets = []string{"bits", "hash"}

// TestTheDefaultsOfTheHelpAreThoseInUse gives every flag of every command the default that the help
// prints. A command may refuse a flag that is not about what it is given; else the result is that
// without the flag. In one use at least it is taken.
func TestTheDefaultsOfTheHelpAreThoseInUse(t *testing.T) {
	if testsize.Small() {
		t.Skip("runs a thousand commands")
	}
	makeInputs(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	taken := map[string]bool{} // by command and flag
	for _, use := range uses {
		words := strings.Fields(use.line)
		cmd, _, err := newRoot(words).Find(words)
		if err != nil {
			t.Fatal(err)
		}
		run := func(more ...string) (string, error) {
			for _, made := range use.made {
				if err := os.RemoveAll(made); err != nil {
					t.Fatal(err)
				}
			}
			if use.before != "" {
				if _, err := runLine(strings.Fields(use.before)); err != nil {
					t.Fatal(err)
				}
			}
			out, err := runLine(append(slices.Clone(words), more...))
			if words[0] == "plan" && err == nil {
				out = planned(t, out)
			}
			if use.then != "" && err == nil {
				then, err := runLine(strings.Fields(use.then))
				if err != nil {
					t.Fatal(err)
				}
				return then, nil
			}
			return out + contents(t, use.made), err
		}
		want, err := run()
		if err != nil {
			t.Errorf("%s: %v", use.line, err)
			continue
		}
		for name, value := range printedDefaults(cmd) {
			if slices.Contains(words, "--"+name) || use.only != nil && !slices.Contains(use.only, name) {
				continue
			}
			got, err := run(fmt.Sprintf("--%s=%s", name, value))
			switch key := cmd.CommandPath() + " --" + name; {
			case err != nil:
				if !taken[key] {
					taken[key] = false // seen, and refused so far
				}
			case got != want:
				t.Errorf("%s --%s=%s: the help prints this default, and the result is another one", use.line, name, value)
				fallthrough
			default:
				taken[key] = true
			}
		}
	}
	for flag, ok := range taken {
		if !ok && flag != "alike stage list --task" { // no task has the number of this default
			t.Errorf("%s refuses the default that the help prints", flag)
		}
	}
}

// TestTheDefaultsOfTheHelpAreInUseForManyRecords does the same for a join of so many records that other candidates are
// taken, with all defaults at once.
func TestTheDefaultsOfTheHelpAreInUseForManyRecords(t *testing.T) {
	if testsize.Small() {
		t.Skip("joins 30,002 records twice")
	}
	t.Chdir(t.TempDir())
	var table strings.Builder
	table.WriteString("id,name,town\n")
	for i := range 15_001 {
		fmt.Fprintf(&table, "%d,person%d of%d,town%d\n", i, i*7919%9973, i*104729%997, i%89)
	}
	for _, name := range []string{"left.csv", "right.csv"} {
		if err := os.WriteFile(name, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words := []string{"join", "left.csv", "right.csv", "--verbose"} // which says how candidates were found
	want, wantTold, err := runTold(words)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range printedDefaults(newJoin()) {
		if !strings.HasPrefix(name, "idf-") { // which are about --idf sketch
			words = append(words, fmt.Sprintf("--%s=%s", name, value))
		}
	}
	if got, told, err := runTold(words); err != nil || got != want || told != wantTold {
		t.Errorf("%v: the help prints these defaults, and without them it says\n%s\nwith them (%v)\n%s", words, wantTold, err, told)
	}
}

// TestEveryCommandIsUsed fails if uses lacks a command.
func TestEveryCommandIsUsed(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		path := strings.TrimPrefix(cmd.CommandPath(), "alike ")
		used := slices.ContainsFunc(uses, func(u use) bool { return u.line == path || strings.HasPrefix(u.line, path+" ") })
		used = used || path == "serve" // which does not end by itself: see serve_test.go
		if cmd.Runnable() && !used && cmd != cmd.Root() && !strings.HasPrefix(path, "completion") && !strings.HasPrefix(path, "help") {
			t.Errorf("%s is in no use", path)
		}
	}
	visit(newRoot(nil))
}

var printedDefault = regexp.MustCompile(`(?m)^ +(?:-., )?--([a-z-]+).*\(default "?(.*?)"?\)$`)

// printedDefaults returns the defaults that the help of a command prints, by flag.
func printedDefaults(cmd *cobra.Command) map[string]string {
	defaults := map[string]string{}
	for _, line := range printedDefault.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		defaults[line[1]] = line[2]
	}
	return defaults
}

// runLine runs a command and returns its standard output.
func runLine(words []string) (string, error) {
	out, _, err := runTold(words)
	return out, err
}

// runTold also returns the standard error.
func runTold(words []string) (stdout, stderr string, err error) {
	var out, told bytes.Buffer
	root := newRoot(words)
	root.SetOut(&out)
	root.SetErr(&told)
	root.SetIn(strings.NewReader(docs))
	if words[0] == "mcp" { // it is asked
		root.SetIn(strings.NewReader(asks))
	}
	err = root.Execute()
	return out.String(), told.String(), err
}

// asks are what an agent says to alike mcp.
const asks = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"check","arguments":{"text":"the quick brown fox jumps over the lazy dog"}}}
`

// planned returns a plan without what two plans of one run differ in: estimates from times, and settings that are
// written down if they are given.
func planned(t *testing.T, text string) string {
	var plan map[string]any
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		t.Fatal(err)
	}
	delete(plan, "estimate")
	delete(plan, "digest")
	given := map[string]any{"idf": "exact", "measure": "cosine", "recall": lsh.DefaultRecall, "idf_epsilon": countmin.DefaultEpsilon, "idf_delta": countmin.DefaultDelta}
	var strip func(v any)
	strip = func(v any) {
		object, _ := v.(map[string]any)
		for name, member := range object {
			if given[name] == member {
				delete(object, name)
			}
			strip(member)
		}
	}
	strip(plan)
	out, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// contents returns names and digests of files, but for those with times and those of a store.
func contents(t *testing.T, roots []string) string {
	var b strings.Builder
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "summary.json" || strings.Contains(path, "store") {
				return nil
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s %x\n", path, sha256.Sum256(data))
			return nil
		})
	}
	return b.String()
}

const docs = `{"id":"1","text":"the quick brown fox jumps over the lazy dog and runs away from it in the evening"}
{"id":"2","text":"The quick brown fox jumps over the lazy dog and runs away from it in the evening"}
{"id":"3","text":"the quick brown fox jumps over the lazy dog and runs away from it in the morning"}
{"id":"4","text":"something else altogether that has no word in common with what stands above here"}
`

// makeInputs makes the files of uses in a folder of the test, and goes there.
func makeInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	files := map[string]string{
		"docs.jsonl": docs,
		"a.txt":      "the quick brown fox jumps over the lazy dog and runs away",
		"new.txt":    "nothing of this stands in any other file of them",
		"b.txt":      "the quick brown fox jumps over the lazy dog and walks home",
		"spans.csv":  "document,start,end\nd,2,3\n",
		"pairs.csv":  "left_id,right_id\n",
		"copies.csv": "a,b\n",
	}
	files["left.csv"], files["right.csv"] = "part,id,name,town\n", "part,id,name,town\n" // ids are not in the first column
	for i := range 40 {
		name := fmt.Sprintf("person%c%c %c%cson", 'a'+i%7, 'a'+i%11, 'a'+i%13, 'a'+i%5)
		files["left.csv"] += fmt.Sprintf("p%d,%d,%s,town%d\n", i%4, i, name, i%9)
		if i%3 > 0 {
			files["right.csv"] += fmt.Sprintf("p%d,%d,%sn,town%d\n", i%4, i, name, i%9)
			files["left.csv"] += fmt.Sprintf("p%d,%d,%s,town%d\n", i%4, 100+i, name, i%9)
			files["pairs.csv"] += fmt.Sprintf("%d,%d\n", i, i)
			files["copies.csv"] += fmt.Sprintf("%d,%d\n", i, 100+i)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"sketch docs.jsonl -o prints.jsonl", "index build ix docs.jsonl", "plan pairs docs.jsonl --results out.csv --work work -o plan.json",
	} {
		if _, err := runLine(strings.Fields(line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}
