package entities

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// twin is average linkage as it is defined: it looks at all pairs of clusters before each join. g has no Same.
func twin(g *Graph, cut float64) [][]uint32 {
	known := map[uint64]int64{}
	for _, p := range g.Pairs {
		known[key(p.A, p.B)] = steps(p.Evidence)
	}
	apart := func(a, b uint32) bool {
		different := slices.ContainsFunc(g.Different, func(p [2]uint32) bool { return key(p[0], p[1]) == key(a, b) })
		return different || g.Sources != nil && g.Sources[a] != 0 && g.Sources[a] == g.Sources[b]
	}
	mean := func(x, y []uint32) (evidence float64, allowed bool) {
		var sum, compared int64
		for _, a := range x {
			for _, b := range y {
				if apart(a, b) {
					return 0, false
				}
				if e, ok := known[key(a, b)]; ok {
					sum, compared = sum+e, compared+1
				}
			}
		}
		all := int64(len(x) * len(y))
		return (float64(sum)*unit + Uncompared*float64(all-compared)) / float64(all), true
	}
	var clusters [][]uint32 // by their first records
	for i := range uint32(g.Records) {
		clusters = append(clusters, []uint32{i})
	}
	for {
		best, x, y := math.Inf(-1), 0, 0
		for i := range clusters {
			for j := i + 1; j < len(clusters); j++ {
				if e, allowed := mean(clusters[i], clusters[j]); allowed && e > best {
					best, x, y = e, i, j
				}
			}
		}
		if best < cut {
			return slices.DeleteFunc(clusters, func(c []uint32) bool { return len(c) < 2 })
		}
		clusters[x] = slices.Sorted(slices.Values(slices.Concat(clusters[x], clusters[y])))
		clusters = slices.Delete(clusters, y, y+1)
	}
}

func TestClustersAreThoseOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t, 10)
		g.Same = nil
		cut := rapid.Float64Range(-0.49, 2).Draw(t, "cut")
		if got, want := members(find(t, g, Options{Cut: &cut})), twin(g, cut); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("clusters %v, by definition %v", got, want)
		}
	})
}

// agreement is what correlation clustering maximises: the evidence of all pairs that share a cluster.
func agreement(g *Graph, of []int) (sum float64) {
	known := map[uint64]float64{}
	for _, p := range g.Pairs {
		known[key(p.A, p.B)] = bounded(p.Evidence)
	}
	for a := range of {
		for b := range a {
			if of[a] != of[b] {
				continue
			}
			if e, ok := known[key(uint32(a), uint32(b))]; ok {
				sum += e
			} else {
				sum += Uncompared
			}
		}
	}
	return sum
}

// bestPartition tries all partitions.
func bestPartition(g *Graph) (best float64) {
	of := make([]int, g.Records)
	var try func(i, clusters int)
	try = func(i, clusters int) {
		if i == len(of) {
			best = max(best, agreement(g, of))
			return
		}
		for c := range clusters + 1 {
			of[i] = c
			try(i+1, max(clusters, c+1))
		}
	}
	try(0, 0)
	return best
}

func partition(r *Result, records int) []int {
	of := make([]int, records)
	for i, c := range r.Of(records) {
		if of[i] = int(c); c < 0 {
			of[i] = -1 - i
		}
	}
	return of
}

// planted returns records of things of up to three records, and evidence of pairs around ±mean.
func planted(random *rand.Rand, records int, mean, spread float64) *Graph {
	g := &Graph{Records: records}
	for a := range uint32(records) {
		for b := range a {
			e := mean
			if a/3 != b/3 {
				e = -mean
			}
			g.Pairs = append(g.Pairs, Pair{b, a, e + spread*random.NormFloat64()})
		}
	}
	return g
}

func TestClustersComeCloseToTheBestPartition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var got, best, links float64
	for range 100 {
		g := planted(random, 8, 1, 1.5)
		got += agreement(g, partition(find(t, g, Options{Even: true}), g.Records))
		best += bestPartition(g)
		all := Graph{Records: g.Records, Pairs: slices.DeleteFunc(slices.Clone(g.Pairs), func(p Pair) bool { return p.Evidence <= 0 })}
		for _, p := range all.Pairs {
			all.Same = append(all.Same, [2]uint32{p.A, p.B})
		}
		links += agreement(g, partition(find(t, &all, Options{}), g.Records))
	}
	if got < 0.9*best {
		t.Errorf("agreement %.0f of clusters, %.0f of the best partitions, %.0f of components", got, best, links)
	}
	t.Logf("agreement %.0f of clusters, %.0f of the best partitions, %.0f of components", got, best, links)
}

func TestClearClustersAreTheBestPartition(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		g := planted(random, 7, 3, 0.8)
		if got, best := agreement(g, partition(find(t, g, Options{}), g.Records)), bestPartition(g); math.Abs(got-best) > 1e-6 {
			t.Fatalf("agreement %v, the best partition has %v", got, best)
		}
	}
}

func TestEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, planted(rand.New(rand.NewPCG(5, 6)), 30, 1, 1), Options{}); err == nil {
		t.Error("no error after the context has ended")
	}
}

// BenchmarkFind: 10⁶ records, 10⁷ pairs, of which four in five are rejected; a tenth of the rest is wrong.
func BenchmarkFind(b *testing.B) {
	const records, pairs = 1_000_000, 10_000_000
	random := rand.New(rand.NewPCG(7, 8))
	g := &Graph{Records: records}
	seen := make(map[uint64]bool, pairs)
	for len(g.Pairs) < pairs {
		x := uint32(random.IntN(records))
		y := x/5*5 + uint32(random.IntN(5))
		e := 2 + 2*random.NormFloat64()
		if random.IntN(5) > 0 {
			y, e = uint32(random.IntN(records)), -4+2*random.NormFloat64()
		}
		if x != y && !seen[key(x, y)] {
			seen[key(x, y)] = true
			g.Pairs = append(g.Pairs, Pair{min(x, y), max(x, y), e})
		} else if x/5 == y/5 { // few are left
			x, y = uint32(random.IntN(records)), uint32(random.IntN(records))
			if x != y && !seen[key(x, y)] {
				seen[key(x, y)] = true
				g.Pairs = append(g.Pairs, Pair{min(x, y), max(x, y), -4})
			}
		}
	}
	b.ResetTimer()
	for b.Loop() {
		start := time.Now()
		find(b, g, Options{Threads: 1})
		b.ReportMetric(time.Since(start).Seconds(), "s/find")
	}
}
