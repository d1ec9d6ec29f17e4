package engine

import "github.com/alike-dev/alike/measure"

// Edge says that two documents are similar. By a directed measure A is inside B.
type Edge struct {
	A, B       uint64
	Similarity float64
}

// Edges says which edges two documents get after their sets were compared.
type Edges struct {
	Threshold measure.Threshold
	// RemovesParts makes one edge between the document that can be removed and the one that would
	// be kept for it, instead of one for each direction of a directed measure. Its similarity is
	// how much of a document is in a reference, or of the smaller document in the larger.
	RemovesParts bool
}

// Of returns the edges between two documents whose sets have the counts of m, with m.A < m.B, and
// reach the threshold in at least one direction. With a directed measure there is one edge for each
// direction that reaches it. reference tells whether m.A is a reference.
func (e *Edges) Of(m measure.Match, reference bool) (edges [2]Edge, n int) {
	of := e.Threshold.Measure()
	switch {
	case of.Symmetric():
		edges[0] = Edge{m.A, m.B, m.Similarity(of)}
		return edges, 1
	case e.RemovesParts && reference:
		if inside := Turned(m); e.reached(inside) {
			edges[0] = Edge{m.A, m.B, inside.Similarity(measure.Containment)}
			return edges, 1
		}
		return edges, 0
	case e.RemovesParts:
		edges[0] = Edge{m.A, m.B, m.Similarity(measure.MaxContainment)}
		return edges, 1
	}
	for _, m := range [...]measure.Match{m, Turned(m)} {
		if e.reached(m) {
			edges[n] = Edge{m.A, m.B, m.Similarity(of)}
			n++
		}
	}
	return edges, n
}

func (e *Edges) reached(m measure.Match) bool {
	return e.Threshold.Reached(m.Intersection, m.SizeA, m.SizeB)
}

// Turned returns the match in the other direction.
func Turned(m measure.Match) measure.Match {
	return measure.Match{A: m.B, B: m.A, Intersection: m.Intersection, SizeA: m.SizeB, SizeB: m.SizeA}
}

// OfCopies returns the similarity of two documents with equal sets of that size: 1, but by Overlap the size.
func OfCopies(m measure.Measure, size uint64) float64 { return m.Similarity(size, size, size) }
