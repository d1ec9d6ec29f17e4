package linkage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
)

// knownOf returns the links of a join as known ones.
func knownOf(r *Result) (known []Known) {
	for l := range r.Links.All() {
		known = append(known, Known{string(l.A), string(l.B)})
	}
	return known
}

// TestKnownLinksAreRespectedByEveryRule draws links that are settled, of records that are there
// and others.
func TestKnownLinksAreRespectedByEveryRule(t *testing.T) {
	l, x := people(60, 0.7)
	left, right := write(t, "l.csv", l), write(t, "r.csv", strings.ReplaceAll(x, "\nr", "\n"))
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 16 {
		c := Config{Left: left, Right: right, Match: []Match{Mutual, OneToOne, Best, All}[i%4], Threshold: 0.05, Threads: 1}
		if c.Match == All {
			c.Top = random.IntN(4)
		}
		if i >= 8 {
			c.Right = ""
		}
		for range 15 * (1 + i/4%2) {
			c.Known = append(c.Known, Known{fmt.Sprint(random.IntN(70)), fmt.Sprint(random.IntN(70))})
		}
		checkRule(t, &c, join(t, c))
	}
}

// checkRule holds known and new links together against the rule.
func checkRule(t *testing.T, c *Config, r *Result) {
	isKnown, degree := map[Known]bool{}, [2]map[string]int{{}, {}}
	if c.Right == "" {
		degree[1] = degree[0]
	}
	for _, k := range c.Known {
		if isKnown[k] = true; c.Right == "" {
			isKnown[Known{k.B, k.A}] = true
		}
		degree[0][k.A]++
		degree[1][k.B]++
	}
	for l := range r.Links.All() {
		a, b := string(l.A), string(l.B)
		if isKnown[Known{a, b}] {
			t.Errorf("%s: %s and %s are linked again", c.Match, a, b)
		}
		one := c.Match == Mutual || c.Match == OneToOne
		if (one || c.Match == Best) && degree[0][a] > 0 || one && degree[1][b] > 0 {
			t.Errorf("%s: %s and %s are linked, and one of them has its partner", c.Match, a, b)
		}
		if c.Top > 0 && degree[0][a] >= c.Top {
			t.Errorf("%s has more than %d links", a, c.Top)
		}
		if degree[0][a]++; c.Right != "" || one {
			degree[1][b]++
		}
	}
}

// TestATableThatGrowsIsLinkedAsIfItHadBeenWhole joins a half of the left table first, then all
// of it with the links so far. All of them together are about as good as those of one join.
func TestATableThatGrowsIsLinkedAsIfItHadBeenWhole(t *testing.T) {
	l, x := people(500, 0.8)
	matches := 0
	for _, line := range strings.Split(x, "\n")[1:] {
		if line != "" && line[0] != 'r' {
			matches++
		}
	}
	lines := strings.SplitAfter(l, "\n")
	half, left, right := write(t, "half.csv", strings.Join(lines[:251], "")), write(t, "l.csv", l), write(t, "r.csv", x)
	for _, match := range []Match{Mutual, OneToOne} {
		whole := join(t, Config{Left: left, Right: right, Match: match})
		first := join(t, Config{Left: half, Right: right, Match: match})
		rest := join(t, Config{Left: left, Right: right, Match: match, Known: knownOf(first)})
		if rest.Known != first.Links.Len() {
			t.Errorf("%s: %d links are known of %d", match, rest.Known, first.Links.Len())
		}
		all := slices.Concat(slices.Collect(first.Links.All()), slices.Collect(rest.Links.All()))
		joined := &Result{Links: Links{len(all), func(from, to int) []Link { return all[from:to] }}}
		precision, recall := scores(joined, matches)
		p, r := scores(whole, matches)
		if precision < p-0.02 || recall < r-0.02 {
			t.Errorf("%s: in two steps precision is %.3f and recall %.3f, in one %.3f and %.3f", match, precision, recall, p, r)
		}
		again := join(t, Config{Left: left, Right: right, Match: match, Known: knownOf(joined)})
		if again.Links.Len()*100 > joined.Links.Len() {
			t.Errorf("%s: nothing is new, and %d of %d links are found once more", match, again.Links.Len(), joined.Links.Len())
		}
	}
}

func TestKnownLinksOfOtherRecordsChangeNothing(t *testing.T) {
	l, x := people(200, 0.8)
	c := Config{Left: write(t, "l.csv", l), Right: write(t, "r.csv", x)}
	want := join(t, c)
	c.Known = []Known{{"no", "none"}, {"nobody", "nowhere"}}
	got := join(t, c)
	if !slices.Equal(knownOf(got), knownOf(want)) || got.Known != 0 {
		t.Errorf("%d links, %d of them known, want %d and none", got.Links.Len(), got.Known, want.Links.Len())
	}
}

func TestKnownLinksAreReadFromAnyTableOfPairs(t *testing.T) {
	want := []Known{{"1", "a"}, {"2", "b,c"}}
	for name, content := range map[string]string{
		"links.csv":   "left_id,right_id,similarity\n1,a,0.5\n2,\"b,c\",1\n",
		"links.tsv":   "x\tright_id\tleft_id\n-\ta\t1\n-\tb,c\t2\n",
		"pairs.csv":   "similarity,a,b\n1,1,a\n1,2,\"b,c\"\n",
		"other.csv":   "mine,yours\n1,a\n2,\"b,c\"\n",
		"links.jsonl": "{\"left_id\":\"1\",\"right_id\":\"a\"}\n{\"right_id\":\"b,c\",\"left_id\":\"2\"}\n",
	} {
		got, err := ReadKnown(t.Context(), write(t, name, content), corpus.Options{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	for name, content := range map[string]string{"one.csv": "id\n1\n", "ragged.csv": "a,b\n1\n", "empty.csv": ""} {
		if got, err := ReadKnown(t.Context(), write(t, name, content), corpus.Options{}); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	_, err := ReadKnown(t.Context(), filepath.Join(t.TempDir(), "none.csv"), corpus.Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
}
