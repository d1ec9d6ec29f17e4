package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAResultIsHeldAgainstTruthAndTexts(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		full := filepath.Join(dir, name)
		if err := os.WriteFile(full, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return full
	}
	corpus := file("corpus.jsonl", `{"id":"a","text":"one two three four five six"}
{"id":"b","text":"one two three four five six"}
{"id":"c","text":"one two three four five six"}
{"id":"d","text":"one two three four five seven"}
{"id":"e","text":"eins zwei drei"}
`)
	truth := file("truth.csv", "id1,id2,similarity\na,b,1.000000\na,d,0.333333\nb,d,0.333333\n")
	for name, test := range map[string]struct {
		pairs string
		want  score
		wrong int
	}{
		"everything is found":           {"b,a,1.000000\n", score{planted: 1, found: 1, reported: 1}, 0},
		"nothing is found":              {"", score{planted: 1}, 0},
		"a pair that nobody planted":    {"a,b,1.000000\na,c,1.000000\n", score{planted: 1, found: 1, reported: 2, chance: 1}, 0},
		"a pair that is not alike":      {"a,e,1.000000\n", score{planted: 1, reported: 1}, 1},
		"a similarity that is wrong":    {"a,b,0.900000\n", score{planted: 1, found: 1, reported: 1}, 1},
		"a pair below the threshold":    {"a,d,0.333333\n", score{planted: 1, reported: 1}, 1},
		"a pair twice":                  {"a,b,1.000000\nb,a,1.000000\n", score{planted: 1, found: 1, reported: 2}, 1},
		"an unplanted pair, too little": {"c,d,0.333333\n", score{planted: 1, reported: 1}, 1},
	} {
		got, err := judge(corpus, truth, file("pairs.csv", "a,b,similarity\n"+test.pairs), 0.8)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.wrong) != test.wrong {
			t.Errorf("%s: wrong are %q", name, got.wrong)
		}
		wrong := got.wrong
		got.wrong = nil
		if got.planted != test.want.planted || got.found != test.want.found || got.reported != test.want.reported || got.chance != test.want.chance {
			t.Errorf("%s: %+v, not %+v (wrong: %q)", name, got, test.want, wrong)
		}
	}
}
