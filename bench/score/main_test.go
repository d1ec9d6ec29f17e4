package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func judged(t *testing.T, corpus, truth, kind, result string, exact bool) (score, error) {
	t.Helper()
	dir := t.TempDir()
	file := func(name, content string) string {
		full := filepath.Join(dir, name)
		if err := os.WriteFile(full, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return full
	}
	q := question{file("corpus.jsonl", corpus), file("truth.csv", truth), kind, 0.8, exact}
	return q.judge(file("result.csv", result))
}

func TestAResultIsHeldAgainstTruthAndTexts(t *testing.T) {
	const (
		corpus = `{"id":"a","text":"one two three four five six"}
{"id":"b","text":"one two three four five six"}
{"id":"c","text":"one two three four five six"}
{"id":"d","text":"one two three four five seven"}
{"id":"e","text":"eins zwei drei"}
`
		truth = "id1,id2,similarity\na,b,1.000000\na,d,0.333333\nb,d,0.333333\n"
	)
	for name, test := range map[string]struct {
		pairs               string
		found, named, right int
	}{
		"everything is found":           {"b,a,1.000000\n", 1, 1, 1},
		"nothing is found":              {"", 0, 0, 0},
		"a pair that nobody planted":    {"a,b,1.000000\na,c,1.000000\n", 1, 2, 2},
		"a pair that is not alike":      {"a,e,1.000000\n", 0, 1, 0},
		"a similarity that is wrong":    {"a,b,0.900000\n", 1, 1, 0},
		"a pair below the threshold":    {"a,d,0.333333\n", 0, 1, 0},
		"an unplanted pair, too little": {"c,d,0.333333\n", 0, 1, 0},
	} {
		s, err := judged(t, corpus, truth, "pairs", "a,b,similarity\n"+test.pairs, true)
		if err != nil {
			t.Fatal(err)
		}
		if s.Wanted != 1 || s.Found != test.found || s.Named != test.named || s.Right != test.right || len(s.wrong) != test.named-test.right {
			t.Errorf("%s: %+v, not %+v (wrong: %q)", name, s, test, s.wrong)
		}
	}
}

// Documents a, b and c are one group, d and e another; f is like nothing, and g was planted beside a, but below the
// threshold. h and i are the same by chance.
const (
	testCorpus = `{"id":"h","text":"one two three four five six seven"}
{"id":"i","text":"One two three, four five six seven."}
{"id":"j","text":"something else that nobody has said before"}
`
	testTruth = "id1,id2,similarity\na,b,0.9\nb,c,0.8\na,c,0.79\nd,e,1\na,g,0.5\n"
)

func TestResultsOfAnyProgramAreJudged(t *testing.T) {
	for name, test := range map[string]struct {
		kind, result                string
		wanted, found, named, right int
	}{
		"all pairs, and one by chance":                {"pairs", "a,b\nb,a\nb,c\nd,e\nh,i\n", 3, 3, 4, 4},
		"a pair below the threshold is wrong":         {"pairs", "a,b\na,b\na,c\n", 3, 1, 2, 1},
		"an unrelated pair is wrong":                  {"pairs", "a,b\nh,j\na,b\n", 3, 1, 2, 1},
		"any two of three and one of two are removed": {"removed", "id,kept_id\nb,a\na,c\ne,d\n", 3, 3, 3, 3},
		"the last of a group must stay":               {"removed", "id\nd\ne\n", 3, 1, 2, 1},
		"what is like nothing must stay":              {"removed", "id\nf\nb\n", 3, 1, 2, 1},
		"flags name all of a group":                   {"flags", "id\na\nb\nc\nd\nf\n", 5, 4, 5, 4},
		"nothing named is nothing wrong":              {"removed", "id\n", 3, 0, 0, 0},
	} {
		s, err := judged(t, testCorpus, testTruth, test.kind, test.result, false)
		if err != nil {
			t.Fatal(err)
		}
		if s.Wanted != test.wanted || s.Found != test.found || s.Named != test.named || s.Right != test.right {
			t.Errorf("%s: %+v, not %+v", name, s, test)
		}
		if named := max(test.named, 1); s.Recall != float64(test.found)/float64(test.wanted) || test.named > 0 && s.Precision != float64(test.right)/float64(named) {
			t.Errorf("%s: recall %v, precision %v", name, s.Recall, s.Precision)
		}
	}
}

func TestRepetitionsAreRefused(t *testing.T) {
	for kind, result := range map[string]string{"pairs": "a,b\nx,y\ny,x\n", "removed": "id\nx\nx\n"} {
		if _, err := judged(t, testCorpus, testTruth, kind, result, false); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: got error %v, want one that names the repetition", kind, err)
		}
	}
}
