package entities

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func find(t interface{ Fatal(...any) }, g *Graph, o Options) *Result {
	r, err := Find(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// members returns the clusters as lists of records.
func members(r *Result) (list [][]uint32) {
	for _, c := range r.Clusters {
		list = append(list, c.Members)
	}
	return list
}

func TestRejectedPairsSplitAChain(t *testing.T) {
	even := Options{Even: true, Threads: 1}
	chain := []Pair{{0, 1, 3}, {1, 2, 3}, {2, 3, 3}}
	tests := []struct {
		name     string
		rejected []Pair
		want     [][]uint32
	}{
		{"nothing else was compared", nil, [][]uint32{{0, 1, 2, 3}}},
		{"the middle ones contradict", []Pair{{0, 2, -6}, {0, 3, -6}, {1, 3, -6}}, [][]uint32{{0, 1}, {2, 3}}},
		{"the last one belongs to nobody but its neighbour", []Pair{{0, 2, 4}, {0, 3, -6}, {1, 3, -6}}, [][]uint32{{0, 1, 2}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := find(t, &Graph{Records: 5, Pairs: append(slices.Clone(chain), test.rejected...)}, even)
			if got := members(r); !slices.EqualFunc(got, test.want, slices.Equal) {
				t.Errorf("clusters %v, want %v", got, test.want)
			}
		})
	}
}

func TestClusterHasItsWeakestJoin(t *testing.T) {
	g := &Graph{Records: 4, Pairs: []Pair{{0, 1, 5}, {2, 3, 4}, {0, 2, 1}, {1, 2, 2}, {0, 3, 1}, {1, 3, 0}}}
	r := find(t, g, Options{})
	if len(r.Clusters) != 1 {
		t.Fatalf("%d clusters, want 1", len(r.Clusters))
	}
	c := r.Clusters[0]
	if want := 1 / (1 + math.Exp(-1)); c.Weakest != (Pair{1, 2, 2}) || math.Abs(c.Probability-want) > 1e-9 || c.Believed != 5 || len(c.Joins) != 3 {
		t.Errorf("cluster %+v, want the weakest pair 1–2, probability %v, 5 pairs believed and 3 joins", c, want)
	}
}

func TestVerdictsHoldThroughThirdRecords(t *testing.T) {
	g := &Graph{
		Records: 5, Pairs: []Pair{{0, 1, 6}, {1, 2, 6}, {0, 2, 6}, {3, 4, -6}},
		Same: [][2]uint32{{4, 3}}, Different: [][2]uint32{{2, 0}},
	}
	r := find(t, g, Options{})
	if got, want := members(r), [][]uint32{{0, 1}, {3, 4}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("clusters %v, want %v", got, want)
	}
	want := []Contradiction{{Pair{0, 2, 6}, ByVerdict}, {Pair{1, 2, 6}, ByVerdict}}
	if !slices.Equal(r.Contradictions, want) {
		t.Errorf("contradictions %v, want %v", r.Contradictions, want)
	}
	g.Same = [][2]uint32{{0, 1}, {1, 2}}
	r = find(t, g, Options{})
	if i := slices.IndexFunc(r.Contradictions, func(c Contradiction) bool { return math.IsInf(c.Evidence, 1) }); i < 0 {
		t.Errorf("contradictions %v have no verdict that was refused", r.Contradictions)
	}
}

func TestPrecisionMovesTheCut(t *testing.T) {
	g := &Graph{Records: 8, Pairs: []Pair{{0, 1, 5}, {2, 3, 3}, {4, 5, 1}, {6, 7, 0.1}}}
	least := 0.9
	for _, test := range []struct {
		o    Options
		want int
	}{{Options{}, 4}, {Options{Precision: 0.99}, 1}, {Options{Precision: 0.9}, 2}, {Options{Cut: &least}, 3}} {
		if r := find(t, g, test.o); len(r.Clusters) != test.want {
			t.Errorf("%+v: %d clusters, want %d", test.o, len(r.Clusters), test.want)
		}
	}
}

// draw returns a random graph: compared pairs with evidence of few distinct values, so that there are ties.
func draw(t *rapid.T, most int) *Graph {
	g := &Graph{Records: rapid.IntRange(2, most).Draw(t, "records")}
	for a := range uint32(g.Records) {
		for b := range a {
			if rapid.IntRange(0, 2).Draw(t, "compared") > 0 {
				g.Pairs = append(g.Pairs, Pair{b, a, float64(rapid.IntRange(-28, 28).Draw(t, "evidence")) / 4})
			}
		}
	}
	record := rapid.Uint32Range(0, uint32(g.Records)-1)
	for range rapid.IntRange(0, 3).Draw(t, "verdicts") {
		p := [2]uint32{record.Draw(t, "a"), record.Draw(t, "b")}
		switch same := rapid.Bool().Draw(t, "same"); {
		case p[0] == p[1]:
		case same:
			g.Same = append(g.Same, p)
		default:
			g.Different = append(g.Different, p)
		}
	}
	if rapid.Bool().Draw(t, "sources") {
		for range g.Records {
			g.Sources = append(g.Sources, rapid.Uint32Range(0, 3).Draw(t, "source"))
		}
	}
	return g
}

func TestConstraintsAreNeverViolated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t, 9)
		g.Same = nil
		r := find(t, g, Options{})
		of := r.Of(g.Records)
		together := func(a, b uint32) bool { return of[a] >= 0 && of[a] == of[b] }
		for _, p := range g.Different {
			if together(p[0], p[1]) {
				t.Fatalf("%v are said to be different and share a cluster of %v", p, members(r))
			}
		}
		for a := range uint32(len(g.Sources)) {
			for b := range a {
				if g.Sources[a] != 0 && g.Sources[a] == g.Sources[b] && together(a, b) {
					t.Fatalf("%d and %d of source %d share a cluster of %v", a, b, g.Sources[a], members(r))
				}
			}
		}
	})
}

func TestVerdictsHoldOrAreListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t, 9)
		r := find(t, g, Options{})
		of := r.Of(g.Records)
		for _, p := range g.Same {
			listed := slices.ContainsFunc(r.Contradictions, func(c Contradiction) bool {
				return math.IsInf(c.Evidence, 1) && key(c.A, c.B) == key(p[0], p[1])
			})
			if held := of[p[0]] >= 0 && of[p[0]] == of[p[1]]; held == listed {
				t.Fatalf("%v are said to be the same: held %v, listed %v", p, held, listed)
			}
		}
	})
}

func TestResultsDependOnNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t, 12)
		first := find(t, g, Options{Threads: 1})
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffle := func(p [][2]uint32) [][2]uint32 {
			p = slices.Clone(p)
			random.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
			return p
		}
		other := &Graph{Records: g.Records, Pairs: slices.Clone(g.Pairs), Sources: g.Sources, Same: shuffle(g.Same), Different: shuffle(g.Different)}
		random.Shuffle(len(other.Pairs), func(i, j int) { other.Pairs[i], other.Pairs[j] = other.Pairs[j], other.Pairs[i] })
		second := find(t, other, Options{Threads: 3})
		same := func(x, y Cluster) bool {
			return slices.Equal(x.Members, y.Members) && x.Probability == y.Probability && x.Weakest == y.Weakest && slices.Equal(x.Joins, y.Joins)
		}
		if !slices.EqualFunc(first.Clusters, second.Clusters, same) || !slices.Equal(first.Contradictions, second.Contradictions) {
			t.Fatalf("one order gives %+v, another one %+v", first, second)
		}
	})
}

func TestWhatSourcesRuleOutTakesProbability(t *testing.T) {
	// 0 and 1 are of one register, 2 and 3 of another one, 4 of a third.
	g := &Graph{Records: 5, Sources: []uint32{1, 1, 2, 2, 3}, Pairs: []Pair{{0, 2, 4}, {1, 2, 4}, {1, 3, 2}, {0, 4, 4}, {1, 4, 1}, {2, 4, 4}}}
	probabilities := func(told bool) (p []float64) {
		g.Told = told
		for _, c := range find(t, g, Options{Even: true}).Clusters {
			p = append(p, c.Probability)
		}
		return p
	}
	odds := func(of, other float64) float64 { return math.Exp(of) / (1 + math.Exp(of) + math.Exp(other)) }
	// 1 and 3 could be one with 0, 2 and 4 by the mean of four pairs: 4, 1, and −1 of each that was not compared.
	if found, told := probabilities(false), probabilities(true); !near(found, []float64{probability(4), probability(2)}) ||
		!near(told, []float64{odds(4, 0.75), odds(2, 0.75)}) {
		t.Errorf("%v, and %v if somebody said that sources have things once", found, told)
	}
}

func near(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
}
