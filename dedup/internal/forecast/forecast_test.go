package forecast

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/dedup/internal/bitset"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/roomtest"
	"github.com/alike-dev/alike/dedup/internal/sides"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/simjoin"
)

func TestForecastIsNearTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	var docs []roomtest.Doc
	for i := range 1500 {
		set := map[uint64]bool{}
		for range 60 {
			set[1+uint64(rng.IntN(120))] = true
		}
		d := roomtest.Doc{Set: slices.Sorted(maps.Keys(set))}
		if i%20 > 16 { // families
			d.Set = append(slices.Clone(docs[i-1].Set), 1000+uint64(i))
		}
		d.Features = uint32(len(d.Set))
		docs = append(docs, d)
	}
	all := bitset.New(len(docs))
	for doc := range uint32(len(docs)) {
		all.Add(doc)
	}
	policy, r := sides.Self(), roomtest.Recipe(t, 0.3, 0.9)
	space := scratch.New(scratch.Options{Threads: 1})
	f, err := Of(t.Context(), Options{
		Records: reread.New(reread.Options{Table: roomtest.Table(t, 0, true, docs), Recipe: r, Space: space}),
		Sides:   &policy, Threshold: r.Threshold(), Cap: 1000,
	}, all)
	if err != nil {
		t.Fatal(err)
	}
	edges, met := 0.0, 0.0
	for i, a := range docs {
		for _, b := range docs[i+1:] {
			inter := simjoin.Intersection(a.Set, b.Set)
			union := len(a.Set) + len(b.Set) - inter
			if r.Threshold().Reached(uint64(inter), uint64(len(a.Set)), uint64(len(b.Set))) {
				edges++
			}
			met += r.Banding().Probability(float64(inter) / float64(union))
		}
	}
	if f.docs != float64(len(docs)) || f.Edges < edges/2 || f.Edges > edges*2 || f.met < met/2 || f.met > met*2 || f.metAlike > f.Edges {
		t.Errorf("forecast %+v; in truth %d documents, %.0f edges, %.0f pairs met", f, len(docs), edges, met)
	}
}
