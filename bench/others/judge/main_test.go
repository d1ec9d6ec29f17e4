package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Documents a, b and c are one group, d and e another; f is like nothing, and g
// was planted beside a, but below the threshold. h and i are the same by chance.
const (
	testCorpus = `{"id":"h","text":"one two three four five six seven"}
{"id":"i","text":"One two three, four five six seven."}
{"id":"j","text":"something else that nobody has said before"}
`
	testTruth = "id1,id2,similarity\na,b,0.9\nb,c,0.8\na,c,0.79\nd,e,1\na,g,0.5\n"
)

func TestJudge(t *testing.T) {
	tests := []struct {
		name, kind, result string
		want               score
	}{
		{"all pairs, and one by chance", "pairs", "a,b\nb,a\nb,c\nd,e\nh,i\n",
			score{Wanted: 3, Found: 3, Named: 4, Right: 4, Recall: 1, Precision: 1}},
		{"a pair below the threshold is wrong", "pairs", "a,b\na,b\na,c\n",
			score{Wanted: 3, Found: 1, Named: 2, Right: 1, Recall: 1. / 3, Precision: 0.5}},
		{"an unrelated pair is wrong", "pairs", "a,b\nh,j\na,b\n",
			score{Wanted: 3, Found: 1, Named: 2, Right: 1, Recall: 1. / 3, Precision: 0.5}},
		{"any two of three and one of two are removed", "removed", "id,kept_id\nb,a\na,c\ne,d\n",
			score{Wanted: 3, Found: 3, Named: 3, Right: 3, Recall: 1, Precision: 1}},
		{"the last of a group must stay", "removed", "id\nd\ne\n",
			score{Wanted: 3, Found: 1, Named: 2, Right: 1, Recall: 1. / 3, Precision: 0.5}},
		{"what is like nothing must stay", "removed", "id\nf\nb\n",
			score{Wanted: 3, Found: 1, Named: 2, Right: 1, Recall: 1. / 3, Precision: 0.5}},
		{"flags name all of a group", "flags", "id\na\nb\nc\nd\nf\n",
			score{Wanted: 5, Found: 4, Named: 5, Right: 4, Recall: 0.8, Precision: 0.8}},
		{"nothing named is nothing wrong", "removed", "id\n",
			score{Wanted: 3, Recall: 0, Precision: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := judgeText(t, test.kind, test.result)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestJudgeRefusesRepetitions(t *testing.T) {
	for kind, result := range map[string]string{"pairs": "a,b\nx,y\ny,x\n", "removed": "id\nx\nx\n"} {
		if _, err := judgeText(t, kind, result); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: got error %v, want one that names the repetition", kind, err)
		}
	}
}

func judgeText(t *testing.T, kind, result string) (score, error) {
	t.Helper()
	dir := t.TempDir()
	path := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return judge(path("corpus.jsonl", testCorpus), path("truth.csv", testTruth), path("result.csv", result), kind, 0.8)
}
