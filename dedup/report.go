package dedup

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/bitset"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/overview"
	"github.com/alike-dev/alike/dedup/internal/reread"
)

// Report is the outcome of Run, for people to look at. It is the same for any number of threads and
// any amount of memory, and for a run that was killed and resumed.
type Report struct {
	overview.Overview
	Summary Summary // without Stages and the cost of the run
	// Recall has, for similarities from 0 to 1 in equal steps, the probability that a pair is
	// found; nil where bands do not decide.
	Recall []float64
}

// Parts of a Report.
type (
	ReportSizes   = overview.Sizes
	ReportCluster = overview.Cluster
	ReportExample = overview.Example
	ReportInput   = overview.Input
)

// pageMaker gathers a report while the output is written, so that no input must be read once more
// for it. Its zero value gathers nothing.
type pageMaker struct {
	r       *run
	page    *Report
	docs    []uint32      // documents whose texts are shown
	decoded bitset.Set    // those of them whose files are decoded anyway to be copied
	records *reread.Store // has these, and reads the others in place
}

// report begins the report; nil: none is wanted.
func (r *run) report(c *clusters.Result) (*pageMaker, error) {
	if r.config.Report == nil {
		return &pageMaker{}, nil
	}
	o := overview.Options{Table: r.table, Clusters: c}
	if r.links == nil {
		o.Shown = r.classes.Representatives // one of several equal documents is enough
	}
	found, err := overview.Find(o)
	if err != nil {
		return nil, err
	}
	docs, err := found.Documents(r.table)
	if err != nil {
		return nil, err
	}
	page := &Report{Overview: *found, Summary: *r.summary, Recall: r.recallBySimilarity()}
	s := &page.Summary
	s.Stages, s.Seconds, s.PeakMemoryBytes, s.SpilledBytes = nil, 0, 0, 0
	store := r.storeOptions()
	store.Kept = nil // its memory is given back now
	p := &pageMaker{r: r, page: page, decoded: bitset.New(r.table.Docs), records: reread.New(store)}
	for _, doc := range docs {
		switch file := r.table.FileOf(doc); {
		case p.records.InPlace(doc):
		case file < r.table.ReferenceFiles, r.config.IDsOnly, r.sources[file].Format == corpus.Text, r.sources[file].Format == corpus.Parquet:
			continue // nothing decodes it
		default:
			p.decoded.Add(doc)
		}
		p.docs = append(p.docs, doc)
	}
	return p, nil
}

// put stores the record of a document in decoded.
func (p *pageMaker) put(doc uint32, raw []byte) error { return p.records.Put(doc, raw) }

// finish reads the texts and returns the function that writes the page; nil: there is no report.
func (p *pageMaker) finish(ctx context.Context) (func(io.Writer) error, error) {
	if p.page == nil {
		return nil, nil
	}
	// If the run was killed and resumed, files may have been copied before: they are decoded once
	// more.
	if err := p.records.PrepareAll(ctx, slices.Clone(p.decoded)); err != nil {
		return nil, err
	}
	f := p.records.NewFetcher(ctx)
	defer f.Close()
	fetch := f.Text
	if p.r.links != nil {
		fetch = f.Raw // records have no text
	}
	texts := map[uint32][]byte{}
	for _, doc := range p.docs {
		text, err := fetch(doc)
		if err != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		texts[doc] = slices.Clone(text)
	}
	p.page.Show(texts)
	return func(w io.Writer) error { return p.r.config.Report(w, p.page) }, nil
}

func (p *pageMaker) close() {
	if p.records != nil {
		p.records.Close()
	}
}

// recallBySimilarity returns the S-curve of the bands.
func (r *run) recallBySimilarity() (curve []float64) {
	if r.summary.Bands == 0 || r.summary.CandidateMethod != string(CandidatesLSH) {
		return nil
	}
	for i := range overview.Bins + 1 {
		curve = append(curve, r.recipe.Banding().Probability(r.recipe.Agreement(float64(i)/overview.Bins)))
	}
	return curve
}
