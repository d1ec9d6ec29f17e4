package alike

import (
	"context"

	"github.com/alike-dev/alike/cluster"
)

// A Group is documents that similar pairs connect.
type Group struct {
	IDs     []string // in the order in which pairs name them
	Weakest float64  // similarity of the pair without which they fall apart
}

// Groups returns the groups of the inputs, the largest first: what Pairs finds, held in memory.
func Groups(ctx context.Context, c Config) ([]Group, error) {
	number, ids := map[string]uint32{}, []string{}
	var links []cluster.Link
	_, err := Pairs(ctx, c, func(p Pair) error {
		var e [2]uint32
		for i, id := range []string{string(p.A), string(p.B)} {
			n, known := number[id]
			if !known {
				n = uint32(len(ids))
				number[id], ids = n, append(ids, id)
			}
			e[i] = n
		}
		links = append(links, cluster.Link{Edge: cluster.Edge{A: e[0], B: e[1]}, Similarity: p.Similarity})
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []Group
	for _, g := range cluster.Groups(len(ids), links) {
		of := Group{Weakest: g.Weakest.Similarity}
		for _, d := range g.Members {
			of.IDs = append(of.IDs, ids[d])
		}
		all = append(all, of)
	}
	return all, nil
}
