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
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
)

// Links are the pairs of records that belong together, decided outside the run (see Config.Link).
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

// Linked is Summary.CandidateMethod of a run with links; then Decision says in words how
// they were decided.
const Linked = "records"

// validateLink checks what Config.Link requires of the other settings.
func (c *Config) validateLink() error {
	switch {
	case c.Link == nil:
		return nil
	case len(c.Against) > 0 || len(c.With) > 0:
		return errors.New("links are those within one table: leave references and a second side out")
	case c.Work != "":
		return setting.Errorf("links are found in memory, and a killed run cannot continue: leave %s out", setting.Work)
	case c.Fingerprints || c.Distance != nil:
		return errors.New("links decide by themselves: leave fingerprints and distance out")
	}
	return nil
}

// link finds the links.
func (r *run) link(ctx context.Context) error {
	return r.clock.stage("link", r.inputBytes(), func() (items, bytes int64, err error) {
		if r.links, err = r.config.Link(ctx); err != nil {
			return 0, 0, err
		}
		return int64(r.links.Records), r.inputBytes(), nil
	})
}

// takeLinks makes edges of the links. Nothing else connects records: not even equal ones form a
// class.
func (r *run) takeLinks(ctx context.Context) (err error) {
	if r.table.Docs != r.links.Records {
		return r.changed(fmt.Sprintf("it had %d records when they were linked, and has %d now", r.links.Records, r.table.Docs))
	}
	r.records = reread.New(r.storeOptions())
	r.classes, err = copies.Find(ctx, copies.Options{Space: r.work, Table: r.table, Sides: &r.sides})
	if err != nil {
		return err
	}
	ids := r.table.Cursor()
	same := func(doc uint32) bool {
		id := ids.OwnID(doc)
		return len(id) == 0 || bytes.Equal(id, r.links.ID(doc))
	}
	r.edges, err = r.work.Sorted(ctx, r.graph().Sorting("edges", 8), func(to *extsort.Appender) error {
		for l := range r.links.All {
			if !same(l.A) || !same(l.B) {
				return errors.Join(ids.Err, r.changed("its records have other ids than when they were linked"))
			}
			if r.table.Skipped.Has(l.A) || r.table.Skipped.Has(l.B) {
				continue
			}
			if err := to.Add(graph.Key(l.A, l.B), math.Float64bits(l.Similarity)); err != nil {
				return err
			}
		}
		return ids.Err
	})
	if err != nil {
		return err
	}
	s := r.summary
	s.CandidateMethod, s.Decision, s.ExpectedRecall, s.Threshold = Linked, r.links.By, r.links.ExpectedRecall, r.links.Threshold
	s.TextScheme, s.SketchScheme = "", ""
	s.Candidates, s.Verified = r.links.Candidates, r.edges.Len()
	s.Rejected = s.Candidates - s.Verified
	return nil
}

func (r *run) changed(how string) error {
	return fmt.Errorf("%w: %s: %s", corpus.ErrChanged, r.sources[0].Label(), how)
}
