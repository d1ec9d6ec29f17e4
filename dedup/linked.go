package dedup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/copies"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
)

// Links are the pairs of records that belong together, decided outside the run (see ByLinks).
// Records are numbered from 0 in input order, without those that cannot be read.
type Links struct {
	Records int // number of records that could be read
	// All ranges over the links, each once and in any order.
	All iter.Seq[Link]
	// Similarity returns the similarity of any two records: it is used for those that are in one
	// cluster only through others.
	Similarity func(a, b uint32) float64
	// ID returns the id of a record that has one. It serves to check that the table is still the
	// one that was linked.
	ID func(record uint32) []byte

	Threshold      float64 // least similarity, for Summary; 0: another rule decided
	By             string  // how the links were decided, for Summary.Decision
	Candidates     int64   // pairs that were examined
	ExpectedRecall float64 // share of the true links that were found, as far as that is known
}

// Link is two records that belong together, A before B.
type Link struct {
	A, B       uint32
	Similarity float64
}

// link finds the links; nil: similar texts are looked for.
func link(ctx context.Context, j *job, in *inputs) (links *Links, err error) {
	if j.Link == nil {
		return nil, nil
	}
	err = j.account.stage("link", in.bytes(), func() (items, bytes int64, err error) {
		if links, err = j.Link(ctx); err != nil {
			return 0, 0, err
		}
		return int64(links.Records), in.bytes(), nil
	})
	return links, err
}

// takeLinks makes edges of the links. Nothing else connects records: not even equal ones form a
// class.
func takeLinks(ctx context.Context, in *inputs, f *found) (err error) {
	t, links := f.docs.table, f.docs.links
	if t.Docs != links.Records {
		return changed(in, fmt.Sprintf("it had %d records when they were linked, and has %d now", links.Records, t.Docs))
	}
	f.classes, err = copies.Find(ctx, copies.Options{Space: f.space, Table: t, Sides: &f.sides})
	if err != nil {
		return err
	}
	ids := t.Cursor()
	same := func(doc uint32) bool {
		id := ids.OwnID(doc)
		return len(id) == 0 || bytes.Equal(id, links.ID(doc))
	}
	f.edges, err = f.space.Sorted(ctx, f.graph().Sorting("edges", 8), func(to *extsort.Appender) error {
		for l := range links.All {
			if !same(l.A) || !same(l.B) {
				return errors.Join(ids.Err, changed(in, "its records have other ids than when they were linked"))
			}
			if t.Skipped.Has(l.A) || t.Skipped.Has(l.B) {
				continue
			}
			if err := to.Add(graph.Key(l.A, l.B), math.Float64bits(l.Similarity)); err != nil {
				return err
			}
		}
		return ids.Err
	})
	if err == nil {
		f.account.linked(links, f.edges.Len())
	}
	return err
}

func changed(in *inputs, how string) error {
	return fmt.Errorf("%w: %s: %s", corpus.ErrChanged, in.sources[0].Label(), how)
}
