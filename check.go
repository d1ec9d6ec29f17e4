package alike

import (
	"fmt"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/fault"
)

// CheckOptions say when a text is not new.
type CheckOptions struct {
	Threshold float64 // in (0,1]; 0: 0.8
	Top       int     // nearest documents to be told; 0: 5
	Passages  int     // shared passages of each, the longest ones; 0: none
	// Encoding is that of the file if the text is all of it: places are then bytes of that file.
	Encoding bom.Encoding
	// Except, if set, tells which documents do not count, such as the text itself.
	Except func(id []byte) bool
}

// Checked is the answer to the question whether a text is new.
type Checked struct {
	New     bool      `json:"new"`
	Nearest []Nearest `json:"nearest"` // the one that has most in common first
	Why     string    `json:"why"`
}

// Nearest is a document that has something in common with a text.
type Nearest struct {
	ID         string          `json:"id"`
	Similarity float64         `json:"similarity"` // Jaccard
	AInB       float64         `json:"a_in_b"`     // how much of the text is in the document
	BInA       float64         `json:"b_in_a"`     // how much of the document is in the text
	Passages   []SharedPassage `json:"passages,omitempty"`
}

// SharedPassage is a run of tokens in a text, a, and in a document, b, with its places in bytes.
type SharedPassage struct {
	Tokens int  `json:"tokens"`
	A      Span `json:"a"`
	B      Span `json:"b"`
}

// Span is a place in a text.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Defaults of CheckOptions.
const (
	DefaultCheckThreshold = 0.8
	DefaultCheckTop       = 5
)

// Check tells whether a text is new among the documents that s searches: no document has a similarity, or a containment
// in either direction, of the threshold. It changes nothing. No document is missed; see index.Searcher.Neighbours for the
// cost.
func Check(s *index.Searcher, text []byte, o CheckOptions) (*Checked, error) {
	if o.Threshold == 0 {
		o.Threshold = DefaultCheckThreshold
	}
	if !(o.Threshold > 0 && o.Threshold <= 1) {
		return nil, fmt.Errorf("%w: the threshold is %v: take a number above 0, up to 1", ErrUsage, o.Threshold)
	}
	if o.Top == 0 {
		o.Top = DefaultCheckTop
	}
	search := index.SearchOptions{Top: o.Top, Passages: o.Passages > 0, Encoding: o.Encoding}
	if o.Except != nil {
		search.Top++ // for the document that does not count
	}
	near, err := s.Neighbours(text, search)
	if err != nil {
		return nil, err
	}
	c := &Checked{New: true, Nearest: []Nearest{}}
	for i := range near {
		if n := &near[i]; (o.Except == nil || !o.Except(n.ID)) && len(c.Nearest) < o.Top {
			c.New = c.New && n.Contained() < o.Threshold
			c.Nearest = append(c.Nearest, nearestOf(n, o.Passages))
		}
	}
	c.Why = c.why(o.Threshold)
	return c, nil
}

func nearestOf(n *index.Near, passages int) Nearest {
	out := Nearest{ID: string(n.ID), Similarity: n.Similarity, AInB: n.AInB, BInA: n.BInA}
	for _, p := range n.Passages[:min(passages, len(n.Passages))] {
		out.Passages = append(out.Passages, SharedPassage{p.Tokens, Span{p.StartA, p.EndA}, Span{p.StartB, p.EndB}})
	}
	return out
}

// why says in words what decided.
func (c *Checked) why(threshold float64) string {
	if len(c.Nearest) == 0 {
		return "no document has a run of words in common with it"
	}
	n := &c.Nearest[0]
	id := fault.Shown(n.ID)
	switch {
	case c.New:
		return fmt.Sprintf("the nearest document, %s, has %.0f %% of it, and it has %.0f %% of that one: from %.0f %% on they would be alike",
			id, 100*n.AInB, 100*n.BInA, 100*threshold)
	case n.Similarity >= threshold:
		return fmt.Sprintf("it is like %s: their similarity is %.2f", id, n.Similarity)
	case n.AInB >= n.BInA:
		return fmt.Sprintf("%.0f %% of it is in %s", 100*n.AInB, id)
	}
	return fmt.Sprintf("%.0f %% of %s is in it", 100*n.BInA, id)
}
