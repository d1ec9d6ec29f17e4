package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func doc(name string, text uint64) Document { return Document{Name: name, Path: name, Text: text} }

// line is a record of a file without an id.
func line(n int64, text uint64) Document {
	return Document{Name: fmt.Sprintf("notes.jsonl:%d", n), Path: "notes.jsonl", Line: n, Text: text}
}

func names(pairs []Pair, fresh []bool) (all []string) {
	for i, p := range pairs {
		if fresh[i] {
			all = append(all, p.A.Name+" "+p.B.Name)
		}
	}
	return all
}

func TestABaselineKnowsPairsThatMovedOrWereEdited(t *testing.T) {
	a, b, c := doc("a", 1), doc("b", 2), doc("c", 3)
	for what, of := range map[string]struct {
		before, today []Pair
		fresh         string
		gone          int
	}{
		"nothing changed":               {[]Pair{{A: a, B: b}}, []Pair{{A: a, B: b}}, "", 0},
		"one was renamed":               {[]Pair{{A: a, B: b}}, []Pair{{A: b, B: doc("z", 1)}}, "", 0},
		"one was edited":                {[]Pair{{A: a, B: b}}, []Pair{{A: doc("a", 9), B: b}}, "", 0},
		"one was renamed, one edited":   {[]Pair{{A: a, B: b}}, []Pair{{A: doc("b", 9), B: doc("z", 1)}}, "", 0},
		"one was copied":                {[]Pair{{A: a, B: b}}, []Pair{{A: a, B: b}, {A: a, B: doc("z", 1)}, {A: b, B: doc("z", 1)}}, "[a z b z]", 0},
		"one of two equal was copied":   {[]Pair{{A: a, B: doc("b", 1)}}, []Pair{{A: a, B: doc("b", 1)}, {A: a, B: doc("z", 1)}, {A: doc("b", 1), B: doc("z", 1)}}, "[a z b z]", 0},
		"the copy of an edited one":     {[]Pair{{A: a, B: doc("b", 1)}}, []Pair{{A: a, B: doc("b", 7)}, {A: a, B: doc("z", 1)}, {A: doc("b", 7), B: doc("z", 1)}}, "[a z b z]", 0},
		"another pair":                  {[]Pair{{A: a, B: b}}, []Pair{{A: a, B: c}}, "[a c]", 1},
		"a pair has gone":               {[]Pair{{A: a, B: b}, {A: b, B: c}}, []Pair{{A: a, B: b}}, "", 1},
		"lines have moved":              {[]Pair{{A: line(1, 1), B: line(2, 2)}, {A: line(2, 2), B: line(3, 3)}}, []Pair{{A: line(2, 1), B: line(3, 2)}, {A: line(3, 2), B: line(4, 3)}}, "", 0},
		"a line is copied to the front": {[]Pair{{A: line(1, 1), B: line(2, 2)}}, []Pair{{A: line(1, 2), B: line(2, 1)}, {A: line(1, 2), B: line(3, 2)}, {A: line(2, 1), B: line(3, 2)}}, "[notes.jsonl:1 notes.jsonl:3 notes.jsonl:2 notes.jsonl:3]", 0},
	} {
		fresh, gone := Of("", of.before).Match(of.today)
		got := ""
		if all := names(of.today, fresh); len(all) > 0 {
			got = fmt.Sprint(all)
		}
		if got != of.fresh || gone != of.gone {
			t.Errorf("%s: new are %s, want %s; %d gone, want %d", what, got, of.fresh, gone, of.gone)
		}
	}
}

// Whatever happens, an entry knows one pair at most, and what a baseline was written of is known.
func TestAnEntryKnowsOnePair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Pair {
			any := func() Document {
				return doc(string(rune('a'+rapid.IntRange(0, 4).Draw(t, "name"))), rapid.Uint64Range(1, 4).Draw(t, "text"))
			}
			return Pair{A: any(), B: any()}
		}), 0, 12)
		before, today := some.Draw(t, "before"), some.Draw(t, "today")
		var file bytes.Buffer
		if err := Of("texts", before).Write(&file); err != nil {
			t.Fatal(err)
		}
		b, err := Read(&file)
		if err != nil || b.Texts != "texts" {
			t.Fatalf("%+v, %v", b, err)
		}
		fresh, gone := b.Match(today)
		known := len(today) - len(names(today, fresh))
		if known+gone != len(before) {
			t.Fatalf("%d of %d entries know a pair, and %d do not", known, len(before), gone)
		}
		if fresh, gone := b.Match(before); slices.Contains(fresh, true) || gone != 0 {
			t.Fatalf("it does not know what it was written of")
		}
	})
}

func TestWhatIsNoBaselineIsRefused(t *testing.T) {
	for _, text := range []string{"", "a,b\n", "[]", `{"alike_baseline":2,"pairs":[]}`, `{"pairs":[]}`} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// A reader of SARIF finds both documents of a pair, whatever their names.
func TestSARIFLeadsToBothDocuments(t *testing.T) {
	hostile := "dir/we[i]rd %20\n\xff\"</script>.md"
	pairs := []Pair{{A: doc(hostile, 1), B: Document{"id 7", "a b/ü.jsonl", 7, 2}, Similarity: 0.9}, {A: doc("s3://bucket/x", 1), B: doc("./a:b.md", 1), Similarity: 1}}
	var out bytes.Buffer
	if err := WriteSARIF(&out, "1", pairs, true); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	decoder := json.NewDecoder(&out)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&log); err != nil {
		t.Fatal(err)
	}
	results := log.Runs[0].Results
	if log.Version != "2.1.0" || len(results) != 2 || log.Runs[0].Tool.Driver.Rules[results[0].RuleIndex].ID != results[0].RuleID {
		t.Errorf("%+v", log)
	}
	at := results[0].Locations[0].Physical
	if at.Artifact.URI != "a%20b/%C3%BC.jsonl" || at.Region.StartLine != 7 || results[0].Baseline != "new" {
		t.Errorf("%+v", at)
	}
	if uri := results[0].Related[0].Physical.Artifact.URI; uri != "dir/we%5Bi%5Drd%20%2520%0A%FF%22%3C/script%3E.md" || results[0].Related[0].ID != 1 {
		t.Errorf("%q", uri)
	}
	if a, b := results[1].Related[0].Physical.Artifact.URI, results[1].Locations[0].Physical.Artifact.URI; a != "s3://bucket/x" || b != "./a:b.md" {
		t.Errorf("%q, %q", a, b)
	}
}
