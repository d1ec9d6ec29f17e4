package linkage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// slowParts are records that are connected, by the smallest one of each part. Every question goes through all pairs.
type slowParts map[string]string

func partsOf(pairs [][2]string) slowParts {
	p := slowParts{}
	for changed := true; changed; {
		changed = false
		for _, pair := range pairs {
			least := min(p.of(pair[0]), p.of(pair[1]))
			for _, record := range pair {
				if p.of(record) != least {
					p[record], changed = least, true
				}
			}
		}
	}
	return p
}

func (p slowParts) of(record string) string {
	if first, ok := p[record]; ok {
		return first
	}
	return record
}

// holds tells whether no pair of different is connected.
func (p slowParts) holds(different [][2]string) bool {
	return !slices.ContainsFunc(different, func(d [2]string) bool { return p.of(d[0]) == p.of(d[1]) })
}

// TestVerdictsHoldThroughThirdRecords draws verdicts at random, about records that are alike and others, and holds links
// and clusters of every rule against what they say.
func TestVerdictsHoldThroughThirdRecords(t *testing.T) {
	l, x := people(60, 0.7)
	x = "id" + strings.ReplaceAll(x[2:], "\n", "\nx") // ids of its own
	x = strings.TrimSuffix(x, "x")
	left, right := write(t, "l.csv", l), write(t, "r.csv", x)
	both := write(t, "both.csv", l+strings.SplitN(x, "\n", 2)[1])
	random := rand.New(rand.NewPCG(8, 9))
	ids := func(table string) (ids []string) {
		for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
			ids = append(ids, strings.SplitN(line, ",", 2)[0])
		}
		return ids
	}
	lefts, rights := ids(l), ids(x)
	refused := 0
	for i := range 24 {
		c := Config{Left: left, Right: right, Match: []Match{Mutual, OneToOne, Best, All}[i%4], Threads: 1}
		from, to := lefts, rights
		if i >= 12 {
			c.Left, c.Right, c.Clusters = both, "", true
			from = append(slices.Clone(lefts), rights...)
			to = from
		}
		if i%3 == 0 {
			c.Threshold = 0.2
		}
		for range 30 { // of few records, so that they meet
			a, b := from[random.IntN(12)], to[len(to)-1-random.IntN(12)]
			if i%2 == 0 {
				a, b = from[random.IntN(12)], to[random.IntN(12)]
			}
			if a != b {
				c.Verdicts = append(c.Verdicts, Label{a, b, random.IntN(3) > 0})
			}
		}
		refused += checkVerdicts(t, &c, join(t, c))
	}
	if refused == 0 {
		t.Error("no verdicts contradict each other: nothing is tested")
	}
}

// checkVerdicts returns the number of verdicts that were refused.
func checkVerdicts(t *testing.T, c *Config, r *Result) int {
	t.Helper()
	node := func(side, id string) string {
		if c.Right == "" {
			side = ""
		}
		return side + id
	}
	last := map[[2]string]bool{}
	for _, v := range c.Verdicts {
		p := [2]string{node("l", v.A), node("r", v.B)}
		delete(last, [2]string{p[1], p[0]})
		last[p] = v.Match
	}
	var different [][2]string
	for p, match := range last {
		if !match {
			different = append(different, p)
		}
	}
	refused := map[[2]string]bool{}
	for _, p := range r.Refused {
		refused[[2]string{node("l", p.A), node("r", p.B)}] = true
		refused[[2]string{node("r", p.B), node("l", p.A)}] = true
	}
	var links [][2]string
	linked := map[[2]string]bool{}
	for link := range r.Links.All() {
		p := [2]string{node("l", string(link.A)), node("r", string(link.B))}
		links = append(links, p)
		linked[p], linked[[2]string{p[1], p[0]}] = true, true
	}
	what := fmt.Sprintf("%s, one table %v, threshold %v", c.Match, c.Right == "", c.Threshold)
	if !partsOf(links).holds(different) {
		t.Errorf("%s: links connect records that were called different", what)
	}
	var same [][2]string
	for p, match := range last {
		if match && linked[p] == refused[p] {
			t.Errorf("%s: %v was called the same; linked: %v, refused: %v", what, p, linked[p], refused[p])
		}
		if match && !refused[p] {
			same = append(same, p)
		}
	}
	for _, p := range r.Refused { // not without need
		if partsOf(append(slices.Clone(same), [2]string{node("l", p.A), node("r", p.B)})).holds(different) {
			t.Errorf("%s: %v contradicts nothing, and is refused", what, p)
		}
	}
	if r.Entities != nil {
		checkClusters(t, r, same, different)
	}
	return len(r.Refused)
}

// checkClusters holds clusters against verdicts.
func checkClusters(t *testing.T, r *Result, same, different [][2]string) {
	t.Helper()
	of := map[string]int{}
	for i, c := range r.Entities.Clusters {
		for _, m := range c.Members {
			of[string(r.ID(int(m)))] = i + 1
		}
	}
	for _, p := range different {
		if of[p[0]] > 0 && of[p[0]] == of[p[1]] {
			t.Errorf("%v were called different, and share a cluster", p)
		}
	}
	for _, p := range same {
		if of[p[0]] == 0 || of[p[0]] != of[p[1]] {
			t.Errorf("%v were called the same, and share no cluster", p)
		}
	}
}

func TestAVerdictAboutARepeatedIDIsRefused(t *testing.T) {
	table := write(t, "t.csv", "id,name\n1,anna berg\n1,bob carter\n2,anna berg\n3,clara dietz\n")
	_, err := Join(t.Context(), Config{Left: table, Verdicts: []Label{{"1", "2", true}}})
	if err == nil || !strings.Contains(err.Error(), `"1"`) {
		t.Errorf("error %v, want one that names the id", err)
	}
}
