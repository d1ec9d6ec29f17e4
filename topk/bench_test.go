package topk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// people makes records of fields with few values and many, weighted by how rare these are; a
// fifth are copies with one to four fields changed.
func people(b *testing.B, n int) *simjoin.Vectors {
	fields := []uint32{8, 30, 400, 2500, 2500, 3500, 20000, 30000, 9000000}
	r := rand.New(rand.NewPCG(1, 2))
	v := new(simjoin.Vectors)
	all := make([][9]uint32, n)
	weights := make([]uint32, len(fields))
	for f, values := range fields {
		weights[f] = uint32(1024 * math.Log(float64(min(values, uint32(n)))))
	}
	for i := range all {
		draw := func(f int) uint32 { x := r.Float64(); return uint32(x * x * float64(fields[f])) }
		p := &all[i]
		copied := i > 0 && r.IntN(5) == 0
		if copied {
			*p = all[r.IntN(i)]
		}
		for f := range fields {
			if !copied || r.IntN(4) == 0 {
				p[f] = draw(f)
			}
		}
		features, base := make([]uint32, len(fields)), uint32(0)
		for f, value := range p {
			features[f], base = base+value, base+fields[f]
		}
		if err := v.Append(features, weights); err != nil {
			b.Fatal(err)
		}
	}
	return v
}

func BenchmarkOthers(b *testing.B) {
	vectors := people(b, 300000)
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"k=10", Options{Measure: measure.Cosine, K: 10}},
		{"k=10,least=0.3", Options{Measure: measure.Cosine, K: 10, MinSimilarity: 0.3}},
		{"least=0.7", Options{Measure: measure.Cosine, MinSimilarity: 0.7}},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, err := NewIndex(vectors, c.o)
			if err != nil {
				b.Fatal(err)
			}
			s := x.NewSearcher()
			var dst []Match
			i := 0
			for b.Loop() {
				dst = s.Others(dst[:0], i)
				i = (i + 7919) % x.Len()
			}
			b.ReportMetric(float64(s.Work().Entries)/float64(b.N), "entries/op")
			b.ReportMetric(float64(s.Work().Compared)/float64(b.N), "compared/op")
		})
	}
}

// BenchmarkAccumulate is the textbook's way beside it: a score for each vector, to which
// every list of the query adds, and then the best of those that have one.
func BenchmarkAccumulate(b *testing.B) {
	vectors := people(b, 300000)
	x, err := NewIndex(vectors, Options{Measure: measure.Cosine, K: 10})
	if err != nil {
		b.Fatal(err)
	}
	scores := make([]uint64, x.Len())
	var touched []uint32
	i := 0
	for b.Loop() {
		for _, e := range x.at(i) {
			for _, id := range x.ids[x.starts[e.rank]:x.starts[e.rank+1]] {
				if scores[id] == 0 {
					touched = append(touched, id)
				}
				scores[id] += uint64(e.weight) * uint64(e.weight) // fields have one weight
			}
		}
		best := make([]uint64, 0, 11)
		for _, id := range touched {
			if s := measure.Cosine.Score(scores[id], x.sizes[i], x.sizes[id]); len(best) < 10 || s > best[0] {
				best = append(best, s)
				slices.Sort(best)
				best = best[max(0, len(best)-10):]
			}
			scores[id] = 0
		}
		touched = touched[:0]
		i = (i + 7919) % x.Len()
	}
}

// BenchmarkSums searches among long texts of random words, cut into grams, of which each text shares several with any
// other one: by lists with a sieve alone, and as a searcher does it.
func BenchmarkSums(b *testing.B) {
	vectors := zipf(b, 2000, 400, 17576)
	x, err := NewIndex(vectors, Options{Measure: measure.Cosine, K: 10})
	if err != nil {
		b.Fatal(err)
	}
	for _, even := range []bool{false, true} {
		b.Run(fmt.Sprintf("even=%v", even), func(b *testing.B) {
			x.even = even
			s := x.NewSearcher()
			var dst []Match
			i := 0
			for b.Loop() {
				dst = s.Others(dst[:0], i)
				i = (i + 7919) % x.Len()
			}
		})
	}
}

func BenchmarkNewIndex(b *testing.B) {
	vectors := people(b, 100000)
	for b.Loop() {
		if _, err := NewIndex(vectors, Options{Measure: measure.Cosine, K: 10}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(vectors.Features()), "ns/feature")
}
