package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

const documents = 200

// texts makes a corpus and returns the words of its documents.
func texts(t *testing.T, kind string) (words [][]string, size int) {
	t.Helper()
	var out bytes.Buffer
	if err := run([]string{"-kind", kind, "-documents", strconv.Itoa(documents), "-words", "100"}, &out, t.Output()); err != nil {
		t.Fatal(err)
	}
	size = out.Len()
	ids := map[string]bool{}
	for line := range bytes.Lines(out.Bytes()) {
		var document struct{ ID, Text string }
		if err := json.Unmarshal(line, &document); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		ids[document.ID] = true
		words = append(words, strings.Split(document.Text, " "))
	}
	if len(ids) != documents || len(words) != documents {
		t.Fatalf("%d documents with %d ids", len(words), len(ids))
	}
	return words, size
}

// shingles returns the set of 5-word shingles.
func shingles(words []string) map[string]bool {
	set := map[string]bool{}
	for i := range len(words) - 4 {
		set[strings.Join(words[i:i+5], " ")] = true
	}
	return set
}

func jaccard(a, b map[string]bool) float64 {
	common := 0
	for s := range a {
		if b[s] {
			common++
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

func TestDocumentsAreAsSimilarAsTheirKindSays(t *testing.T) {
	for kind, want := range map[string]struct{ least, most float64 }{
		"distinct":    {0, 0},
		"size":        {0, 0},
		"copies":      {1, 1},
		"template":    {0.90, 0.91},
		"edits":       {0.81, 1},
		"boilerplate": {0.58, 0.60},
	} {
		words, size := texts(t, kind)
		if size < documents*600 || size > documents*800 {
			t.Errorf("%s: %d bytes: corpora ought to be of about the same size", kind, size)
		}
		var sets []map[string]bool
		for _, w := range words {
			sets = append(sets, shingles(w))
		}
		for i := range sets {
			for j := range i {
				if s := jaccard(sets[i], sets[j]); s < want.least || s > want.most {
					t.Fatalf("%s: documents %d and %d have similarity %g", kind, j, i, s)
				}
			}
		}
	}
}

func TestDocumentsOfOneSizeAre(t *testing.T) {
	words, _ := texts(t, "size")
	for _, w := range words {
		if len(w) != 100 || len(strings.Join(w, " ")) != 699 {
			t.Fatalf("%d words of %d bytes", len(w), len(strings.Join(w, " ")))
		}
	}
}

func TestWhatCannotBeMadeIsRefused(t *testing.T) {
	for _, args := range [][]string{{}, {"-kind", "cold"}, {"-kind", "size", "-words", "1"}, {"-kind", "size", "-documents", "0"}} {
		if err := run(args, new(bytes.Buffer), t.Output()); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
