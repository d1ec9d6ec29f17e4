package graph

import (
	"math"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
)

// Edges says which edges two documents get after their sets were compared.
type Edges struct {
	Threshold measure.Threshold
	Sides     *sides.Policy
	// RemovesParts makes one edge between the document that can be removed and the one that would
	// be kept for it, instead of one for each direction of a directed measure. Its similarity is
	// how much of a document is in a reference, or of the smaller document in the larger.
	RemovesParts bool
}

// Add adds the edges between two documents whose sets have the counts of m, with m.A < m.B, and
// reach the threshold in at least one direction. With a directed measure there is one edge for each
// direction that reaches it; its Key is the document inside, then the other.
func (o *Edges) Add(to *extsort.Appender, m measure.Match) error {
	of := o.Threshold.Measure()
	switch {
	case of.Symmetric():
		return addEdge(to, m, m.Similarity(of))
	case o.RemovesParts:
		return o.addPart(to, m)
	}
	for _, m := range [...]measure.Match{m, Turned(m)} {
		if o.Threshold.Reached(m.Intersection, m.SizeA, m.SizeB) {
			if err := addEdge(to, m, m.Similarity(of)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addPart adds the edge between the document that can be removed and the one kept for it.
func (o *Edges) addPart(to *extsort.Appender, m measure.Match) error {
	if !o.Sides.Reference(uint32(m.A)) {
		return addEdge(to, m, m.Similarity(measure.MaxContainment))
	}
	inside := Turned(m)
	if !o.Threshold.Reached(inside.Intersection, inside.SizeA, inside.SizeB) {
		return nil
	}
	return addEdge(to, m, inside.Similarity(measure.Containment))
}

func addEdge(to *extsort.Appender, m measure.Match, similarity float64) error {
	return to.Add(Key(uint32(m.A), uint32(m.B)), math.Float64bits(similarity))
}

// Turned returns the match in the other direction.
func Turned(m measure.Match) measure.Match {
	return measure.Match{A: m.B, B: m.A, Intersection: m.Intersection, SizeA: m.SizeB, SizeB: m.SizeA}
}
