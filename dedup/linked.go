package dedup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/copies"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
)

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
func takeLinks(ctx context.Context, j *job, in *inputs, docs *documents) (classes *copies.Classes, edges *extsort.Sorted, err error) {
	t, links := docs.table, docs.links
	if t.Docs != links.Records {
		return nil, nil, changed(in, fmt.Sprintf("it had %d records when they were linked, and has %d now", links.Records, t.Docs))
	}
	classes, err = copies.Find(ctx, copies.Options{Space: j.space, Table: t, Sides: &docs.sides})
	if err != nil {
		return nil, nil, err
	}
	ids := t.Cursor()
	same := func(doc uint32) bool {
		id := ids.OwnID(doc)
		return len(id) == 0 || bytes.Equal(id, links.ID(doc))
	}
	of := graph.Graph{Space: j.space, Docs: t.Docs}
	edges, err = j.space.Sorted(ctx, of.Sorting("edges", 8), func(to *extsort.Appender) error {
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
		links.tell(j.account, edges.Len())
		err = links.tellLargest(j.account, t.Cursor())
	}
	return classes, edges, err
}

func changed(in *inputs, how string) error {
	return fmt.Errorf("%w: %s: %s", corpus.ErrChanged, in.sources[0].Label(), how)
}

// tell fills in how records were linked.
func (l *Links) tell(a *account, edges int64) {
	a.CandidateMethod, a.Decision, a.Threshold = MethodRecords, l.By, l.Threshold
	a.ExpectedRecall, a.ExpectedPrecision, a.Columns, a.LeftOut = l.ExpectedRecall, l.ExpectedPrecision, l.Columns, l.LeftOut
	a.TextScheme, a.SketchScheme = "", ""
	a.Candidates, a.Verified = l.Candidates, edges
	a.Rejected = a.Candidates - a.Verified
}

// tellLargest fills in the largest clusters by the names of their records.
func (l *Links) tellLargest(a *account, ids *doctable.Cursor) error {
	a.Undecided, a.DoubtfulClusters, a.LargestEntities = l.Undecided, l.Doubtful, nil
	for _, c := range l.Largest {
		weakest := EntityLink{ids.ID(c.Weakest.A), ids.ID(c.Weakest.B), c.Weakest.Similarity}
		a.LargestEntities = append(a.LargestEntities, Entity{ids.ID(c.First), c.Size, c.Probability, weakest})
	}
	return ids.Err
}
