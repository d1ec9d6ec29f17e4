package alike

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/shingle"
)

func writeTemp(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompareOfEqualAndOfEmptyTexts(t *testing.T) {
	schemes, err := ComparisonSchemes(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	long := []byte(strings.Repeat("one two three four five six seven\n", 3))
	for _, c := range []struct {
		name     string
		a, b     []byte
		want     float64
		passages int
	}{
		{"equal texts are alike", long, long, 1, 1},
		{"an empty text is like nothing", long, nil, 0, 0},
		{"two empty texts are like nothing", nil, nil, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Compare(c.a, c.b, shingle.Options{}, schemes...)
			if err != nil {
				t.Fatal(err)
			}
			if got.Jaccard != c.want || len(got.Passages) != c.passages {
				t.Errorf("similarity %v with %d passages", got.Jaccard, len(got.Passages))
			}
			for _, e := range got.Estimates {
				if e.Similarity != c.want {
					t.Errorf("%s estimates %v", e.Scheme, e.Similarity)
				}
			}
		})
	}
}

func TestPassagesAreTheSameTextInBothPlaces(t *testing.T) {
	a := []byte("first line\nThe ﬁne old house by the river stood empty")
	b := []byte("Nobody knew why\nthe FINE old house by\nthe river was sold")
	got, err := Compare(a, b, shingle.Options{N: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Passages) != 1 {
		t.Fatalf("passages %+v", got.Passages)
	}
	p := got.Passages[0]
	if p.Tokens != 7 || p.A.Line != 2 || p.B.Line != 2 || p.Text != "The ﬁne old house by the river" {
		t.Errorf("passage %+v", p)
	}
	if in := string(b[p.B.Start:p.B.End]); in != "the FINE old house by\nthe river" {
		t.Errorf("in b: %q", in)
	}
}

func TestRowsOfPairFiles(t *testing.T) {
	cases := []struct {
		name, file, content string
		pairs               int
		err                 string
	}{
		{"a header is left out", "p.csv", "id1,id2,intersection,union\nx,y,1,2\n", 1, ""},
		{"a byte order mark belongs to no id", "p.csv", "\uFEFFid1,id2\nx,y\n", 1, ""},
		{"without a header every row counts", "p.csv", "x,y\nz,w\n", 2, ""},
		{"JSON lines", "p.jsonl", `{"a":"x","b":"y","similarity":0.5}` + "\n", 1, ""},
		{"JSON with a number", "p.jsonl", `{"a":1,"b":"y"}`, 1, ""},
		{"links of two tables", "p.jsonl", `{"similarity":1,"left_id":"1","right_id":"1"}`, 1, ""},
		{"TSV", "p.tsv", "x\ty\nz\tw\n", 2, ""},
		{"semicolons", "p.csv", "id1;id2\nx;y\n", 1, ""},
		{"an empty file has no pairs", "p.csv", "", 0, ""},
		{"nor has one of JSON lines", "p.jsonl", "", 0, ""},
		{"one column is too few", "p.csv", "a,b\nx\n", 0, "one column"},
		{"JSON without b", "p.jsonl", `{"a":"x"}`, 0, "no two columns of ids, such as a and b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := writeTemp(t, c.file, c.content)
			r, _, err := newScoring(nil).readTwo(path, path)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("err = %v, want %q in it", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			pairs, err := r.pairs(0)
			if err != nil || len(pairs) != c.pairs {
				t.Errorf("%d pairs, err %v", len(pairs), err)
			}
		})
	}
}

func TestPairsBelowTheLeastSimilarityAreNotAskedFor(t *testing.T) {
	found := writeTemp(t, "found.csv", "a,b\n1,2\n")
	truth := writeTemp(t, "truth.csv", "id1,id2,similarity\n1,2,0.9\n3,4,0.5\n")
	s, err := ScorePairs(found, truth, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	if s.Recall != 1 || s.TruePositives != 1 || s.FalseNegatives != 0 {
		t.Errorf("scores %+v", s)
	}
}

func TestClusterScoresReadClustersAndPairs(t *testing.T) {
	clusters := writeTemp(t, "clusters.csv", "id,cluster\n1,1\n2,1\n3,1\n4,4\n5,4\n")
	pairs := writeTemp(t, "pairs.csv", "a,b\n1,2\n2,3\n4,5\n")
	s, err := ScoreClusters(clusters, pairs)
	if err != nil {
		t.Fatal(err)
	}
	if s.AdjustedRand != 1 || s.Pairs.TruePositives != 4 || s.Documents != 5 {
		t.Errorf("scores %+v", s)
	}
	twice := writeTemp(t, "twice.csv", "id,cluster\n1,1\n1,2\n")
	if _, err := ScoreClusters(twice, pairs); err == nil || !strings.Contains(err.Error(), "two clusters") {
		t.Errorf("err = %v, want one about two clusters", err)
	}
}
