package graph

import (
	"math"

	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
)

// Edges says which edges two documents get after their sets were compared.
type Edges struct {
	engine.Edges
	Sides *sides.Policy
}

// Add adds the edges between two documents whose sets have the counts of m, with m.A < m.B, and
// reach the threshold in at least one direction. The Key of an edge by a directed measure is the
// document inside, then the other.
func (o *Edges) Add(to *extsort.Appender, m measure.Match) error {
	edges, n := o.Of(m, o.RemovesParts && o.Sides.Reference(uint32(m.A)))
	for _, e := range edges[:n] {
		if err := to.Add(Key(uint32(e.A), uint32(e.B)), math.Float64bits(e.Similarity)); err != nil {
			return err
		}
	}
	return nil
}
