package topk_test

import (
	"fmt"
	"log"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/topk"
)

// Three firms by the words of their names: 0 acme, 1 tools, 2 ltd, 3 berlin. "ltd" is
// frequent and weighs little.
func Example() {
	var firms simjoin.Vectors
	for _, f := range []simjoin.Vector{
		{Features: []uint32{0, 1, 2}, Weights: []uint32{90, 50, 10}},
		{Features: []uint32{2, 3}, Weights: []uint32{10, 80}},
		{Features: []uint32{1, 2, 3}, Weights: []uint32{50, 10, 80}},
	} {
		if err := firms.Append(f.Features, f.Weights); err != nil {
			log.Fatal(err)
		}
	}
	x, err := topk.NewIndex(&firms, topk.Options{Measure: measure.Cosine, K: 2})
	if err != nil {
		log.Fatal(err)
	}
	query := simjoin.Vector{Features: []uint32{0, 2}, Weights: []uint32{90, 10}} // acme ltd
	s := x.NewSearcher()
	for _, m := range s.Search(nil, query) {
		fmt.Printf("%d: %.3f\n", m.Index, measure.Cosine.Similarity(m.Overlap, query.Square(), m.Size))
	}
	// Output:
	// 0: 0.875
	// 1: 0.014
}
