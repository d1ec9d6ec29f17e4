package engine

import (
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// EachOfEqual visits the pairs of sets that are equal, in group g of an index. Places of sets are in Match.A
// and Match.B.
func EachOfEqual(x *simjoin.Index, g int, visit func(m measure.Match) error) error {
	own, size := x.Members(g), uint64(x.Size(g))
	for i, a := range own {
		for _, b := range own[i+1:] {
			if err := visit(measure.Match{A: uint64(a), B: uint64(b), Intersection: size, SizeA: size, SizeB: size}); err != nil {
				return err
			}
		}
	}
	return nil
}

// EachOfPiece visits the pairs of unequal sets of one of the index's pieces.
func EachOfPiece(x *simjoin.Index, p *simjoin.Prober, piece int, visit func(m measure.Match) error) error {
	for pair := range x.Pairs(p, piece) {
		m := measure.Match{Intersection: uint64(pair.Intersection), SizeA: uint64(x.Size(pair.B)), SizeB: uint64(x.Size(pair.A))}
		for _, a := range x.Members(pair.B) {
			for _, b := range x.Members(pair.A) {
				m.A, m.B = uint64(a), uint64(b)
				if err := visit(m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
