package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/text"
)

func dedupHTMLOf(t *testing.T, r *dedup.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Dedup(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThePageOfARemovalEscapesWhatTheCorpusHolds(t *testing.T) {
	r := &dedup.Report{Summary: dedup.Summary{Read: 4, Kept: 3, Removed: 1, Clusters: 1, Threshold: 0.8, CandidateMethod: "exact"}}
	r.Similarities[45] = 1
	r.Sizes = []dedup.ReportSizes{{Least: 2, Most: 3, Clusters: 1}}
	r.Summary.Within = &dedup.Within{Field: evil, Values: []dedup.ValueCounts{{Value: "rare", Documents: 1}, {Value: evil, Documents: 3, Removed: 1}}}
	r.Repeated, r.Sampled = []passage.Repeated{{Text: []byte(evil + "\xff"), Tokens: 9, Texts: 4321}}, 5678
	r.Suspicious = []dedup.ReportSuspect{
		{Size: 2, Members: []dedup.ReportMember{{Name: evil}, {Name: "b", Similarity: 0.91}}, Least: dedup.ReportExample{Removed: evil, Kept: "b", Similarity: 0.91, RemovedText: []byte("one two three four " + evil), KeptText: []byte("one two three four five")}},
		{Size: 3, Members: []dedup.ReportMember{{Name: evil}, {Name: evil, Similarity: 1}}},
	}
	r.Inputs = []dedup.ReportInput{{Name: evil + ".jsonl", Documents: 4, Removed: 1}}
	r.Examples = []dedup.ReportExample{{Removed: evil, Kept: "b", Similarity: 0.91, RemovedText: []byte("one two three four " + evil + "\xff"), KeptText: []byte("one two three four five")}}
	html := dedupHTMLOf(t, r)
	if !strings.Contains(html, "data-counts=\"0 0 ") {
		t.Error("the page has no counts for the slider")
	}
	html = strings.Replace(html, "<script>"+dedupJS+"</script>", "", 1)
	for _, never := range []string{"<script", "http:", "https:", "src=", "<b>", "\xff"} {
		if strings.Contains(html, never) {
			t.Errorf("the page has %q", never)
		}
	}
	for _, want := range []string{"1 of 4 documents removed (25.0 %)", "0.910000", "0.90 to 0.92: 1", "one two three four", "<mark>", ".jsonl", "all copies", "and 1 others", "33.3 %", "4,321", "In 5,678 kept documents", "stand in at least 28:"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func TestThePageOfARunThatRemovedNothingIsWhole(t *testing.T) {
	html := dedupHTMLOf(t, &dedup.Report{Summary: dedup.Summary{Read: 2, Kept: 2, Threshold: 0.8, CandidateMethod: "lsh", Bands: 16, Rows: 6}, Recall: []float64{0, 0.5, 1}})
	if !strings.Contains(html, "0 of 2 documents removed (0.0 %)") || !strings.Contains(html, `points="0.0,100.0 50.0,50.0 100.0,0.0"`) || !strings.HasSuffix(strings.TrimSpace(html), "</html>") {
		t.Errorf("the page is %s", html)
	}
}

func TestShortTextsAreShownWholeAndEqualOnesWithoutMarks(t *testing.T) {
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "dd", "é", "中文", ",", "\n"}), 0, 40)
		a, b := strings.Join(words.Draw(t, "a"), " "), strings.Join(words.Draw(t, "b"), " ")
		partsA, partsB := differences(tokenizer, []byte(a), []byte(b))
		for of, parts := range map[string][]part{a: partsA, b: partsB} {
			shown := ""
			for _, p := range parts {
				shown += p.Text
			}
			if of != shown {
				t.Errorf("%q is shown as %q", of, shown)
			}
		}
		if a == b && slices.ContainsFunc(partsA, func(p part) bool { return p.Alone }) {
			t.Errorf("%q is marked against itself: %v", a, partsA)
		}
	})
}

func TestLongTextsAreShownInParts(t *testing.T) {
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := strings.Repeat("the same old words of a long text ", 300)
	partsA, _ := differences(tokenizer, []byte(a+"one more"), []byte(a+"another"))
	shown, left := 0, 0
	for _, p := range partsA {
		shown += len([]rune(p.Text))
		left += p.Left
	}
	if shown > mostShown || shown+left != len(a)+len("one more") {
		t.Errorf("%d characters shown and %d left out, of %d", shown, left, len(a)+len("one more"))
	}
	if last := partsA[len(partsA)-1]; !last.Alone || !strings.Contains(last.Text, "one more") {
		t.Errorf("the end is %v", last)
	}
}
