package serve

import (
	"bytes"
	"math"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/passage"
)

// foundEvidence is why a check or a search has its answer.
type foundEvidence struct {
	// Rule is the part of the recipe that decides, such as jaccard>=0.8.
	Rule string `json:"rule"`
	// Reason says in words why the document is new, or is not.
	Reason string `json:"reason"`
	// Compared says with which documents: all, or those that share a key with it.
	Compared string `json:"compared,omitempty"`
	// Nearest is the first document that it is like or, of a new one, the most similar one, which the rule does not take.
	Nearest *foundDocument `json:"nearest,omitempty"`
}

// The reasons of evidence.
const (
	reasonAlike = "nearest is like it by the rule, and came first"
	reasonBelow = "nearest is the most similar document, and is not alike by the rule"
	reasonNone  = "no document that the filter accepts has anything in common with it"
	reasonKeys  = "no document that the filter accepts shares a key with it"
	reasonFound = "all matches reach the threshold asked for"

	comparedAll  = "all"
	comparedKeys = "keys"
)

// evidence returns the evidence of a verdict as JSON. The collection may have grown since.
func (c *collection) evidence(d *document, v *index.Verdict) ([]byte, error) {
	if v.New || v.Known {
		return c.nearest(d.Text, v.Slot, d.Accepts)
	}
	e := foundEvidence{Rule: ruleOf(c.index.Options()), Reason: reasonAlike, Nearest: &foundDocument{Similarity: v.Similarity}}
	if err := c.complete(e.Nearest, v.Of, d.Text); err != nil {
		return nil, err
	}
	return e.line()
}

// nearest returns the evidence for a text that is like no document below a slot.
func (c *collection) nearest(text []byte, before uint64, accepts func([][]byte) bool) ([]byte, error) {
	s := c.searchers.Get().(*index.Searcher)
	defer c.searchers.Put(s)
	m, all, ok, err := s.Nearest(text, before, accepts)
	if err != nil {
		return nil, err
	}
	e := foundEvidence{Rule: ruleOf(c.index.Options()), Reason: reasonBelow, Compared: comparedAll}
	if !all {
		e.Compared = comparedKeys
	}
	switch {
	case ok:
		e.Nearest = &foundDocument{Similarity: m.Similarity}
		if err := c.complete(e.Nearest, m.ID, text); err != nil {
			return nil, err
		}
	case all:
		e.Reason = reasonNone
	default:
		e.Reason = reasonKeys
	}
	return e.line()
}

func (c *collection) evidenceOf(s *searching, matches int) ([]byte, error) {
	if matches == 0 {
		return c.nearest(s.text, math.MaxUint64, s.o.Accepts)
	}
	e := foundEvidence{Rule: ruleOf(c.index.Options()), Reason: reasonFound}
	return e.line()
}

// line returns the evidence as JSON without the end of a line.
func (e *foundEvidence) line() ([]byte, error) {
	out, err := marshal(e)
	return bytes.TrimSuffix(out, []byte("\n")), err
}

// complete fills in a document that evidence names. One that has gone meanwhile keeps its id.
func (c *collection) complete(n *foundDocument, id, query []byte) error {
	n.ID = string(id)
	stored, ok, err := c.index.Get(id)
	if err != nil || !ok {
		return err
	}
	n.Metadata = metadata(stored.Columns)
	if c.hasPassages() {
		var spans []passage.Span
		spans, err = c.passages(query, stored.Text)
		n.Passages = sharedOf(spans)
	}
	return err
}
