package dedup

import (
	"fmt"
	"math"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/measure"
)

// byParts tells whether m says how much of one document is in another. By such a
// measure Run removes what is inside a document that it keeps, see largestFirst.
func byParts(m measure.Measure) bool { return m == measure.Containment || m == measure.MaxContainment }

// checkMeasure checks what the measure asks of the rest of the configuration.
func (c *Config) checkMeasure() error {
	t, err := c.threshold()
	if err != nil {
		return err
	}
	estimated := c.Measure == measure.Jaccard || c.Measure == measure.WeightedJaccard
	if (c.Verify != VerifyExact || c.Shared) && !estimated {
		return fmt.Errorf("signatures estimate the similarities jaccard and weighted-jaccard only: by measure %s leave verify at exact, and shared out", c.Measure)
	}
	if _, bounded := t.LeastJaccard(); !bounded && c.Candidates == CandidatesLSH {
		return setting.Errorf("pairs of measure %s may have any Jaccard similarity, so bands of signatures can miss them: "+
			"take %s exact or auto, and no %s", c.Measure, setting.Candidates, setting.Banding)
	}
	return nil
}

// threshold returns the measure with the value that a pair must reach.
func (c *Config) threshold() (measure.Threshold, error) {
	if c.Measure != measure.Overlap && !(c.Threshold > 0 && c.Threshold <= 1) {
		return measure.Threshold{}, fmt.Errorf("threshold %v is not in (0,1]: take 0.8 for near-duplicates", c.Threshold)
	}
	return measure.NewThreshold(c.Measure, c.Threshold)
}

// errRemovalByOverlap says why nothing is removed by Overlap.
var errRemovalByOverlap = fmt.Errorf("%w: a number of common features does not say that a document can be done without: "+
	"remove by measure jaccard or containment, or list pairs by overlap", ErrUsage)

// removal makes a run one that removes documents.
func (r *run) removal() (err error) {
	if r.config.Measure == measure.Overlap {
		return errRemovalByOverlap
	}
	if byParts(r.config.Measure) {
		r.removesParts, r.config.Star = true, true
		r.threshold, err = measure.NewThreshold(measure.Containment, r.config.Threshold)
	}
	return err
}

// largestFirst is the order in which stars by containment are made: documents with more
// features first, then by the keep rule. So no document is removed in favour of a part
// of it.
func largestFirst(c *cursor, prefer func(a, b uint32) bool) func(a, b uint32) bool {
	return func(a, b uint32) bool {
		if x, y := c.setSize(a), c.setSize(b); x != y {
			return x > y
		}
		return prefer(a, b)
	}
}

// matchEdges adds the edges between two documents whose sets have the counts of m, with
// m.A < m.B. By a directed measure they are one for each direction that reaches the
// threshold; its Key is the document inside, then the other.
func (r *run) matchEdges(to *extsort.Appender, m measure.Match) error {
	of := r.threshold.Measure()
	switch {
	case of.Symmetric():
		return to.Add(edgeKey(m), math.Float64bits(m.Similarity(of)))
	case r.removesParts:
		return r.partEdge(to, m)
	}
	for _, m := range [...]measure.Match{m, turned(m)} {
		if r.threshold.Reached(m.Intersection, m.SizeA, m.SizeB) {
			if err := to.Add(edgeKey(m), math.Float64bits(m.Similarity(of))); err != nil {
				return err
			}
		}
	}
	return nil
}

// partEdge adds the edge between what can be removed and what would be kept for it:
// how much of a document is in a reference, or of the smaller document in the larger.
func (r *run) partEdge(to *extsort.Appender, m measure.Match) error {
	similarity := m.Similarity(measure.MaxContainment)
	if r.sides.Reference(uint32(m.A)) {
		inside := turned(m)
		if !r.threshold.Reached(inside.Intersection, inside.SizeA, inside.SizeB) {
			return nil
		}
		similarity = inside.Similarity(measure.Containment)
	}
	return to.Add(edgeKey(m), math.Float64bits(similarity))
}

func edgeKey(m measure.Match) uint64 { return pair{uint32(m.A), uint32(m.B)}.key() }

// turned returns the match in the other direction.
func turned(m measure.Match) measure.Match {
	return measure.Match{A: m.B, B: m.A, Intersection: m.Intersection, SizeA: m.SizeB, SizeB: m.SizeA}
}
