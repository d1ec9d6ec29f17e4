package dedup

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/overview"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/bitset"
)

// pageMaker gathers a report while the output is written, so that no input must be read once more
// for it. Its zero value gathers nothing.
type pageMaker struct {
	write   func(io.Writer, *Report) error
	raw     bool // documents have no text
	page    *Report
	docs    []uint32           // documents whose texts are shown, or sampled
	sample  []uint32           // in which repeated passages are looked for
	decoded bitset.Set[uint32] // those of them whose files are decoded anyway to be copied
	left    atomic.Int64       // of those that are not put
	ready   chan struct{}      // closed when all are put
	records *reread.Store      // has these, and reads the others in place
}

// PageOfRun is the kind of page that a Report is stored as.
const PageOfRun = "dedup"

// StoredPage is what ReportData holds: a page can be made again from it.
type StoredPage = write.StoredPage

// Page is a page about a run that is stored with its data, and NewPage makes one, which write writes.
type Page = write.Page

// NewPage returns a page of a kind that a function writes from data.
func NewPage[T any](kind string, data *T, to func(io.Writer, *T) error) (*Page, error) {
	return write.NewPage(kind, data, to)
}

// newReport begins the report, if one is wanted.
func newReport(j *job, in *inputs, f *found, c *clusters.Result) (*pageMaker, error) {
	if j.Report == nil {
		return &pageMaker{ready: make(chan struct{})}, nil
	}
	t := f.docs.table
	o := overview.Options{Table: t, Clusters: c}
	if f.docs.links == nil {
		o.Shown = f.classes.Representatives // one of several equal documents is enough
	}
	if w := j.account.By; w != nil {
		o.By = w.Field
		for _, v := range w.ByRemoved() {
			o.Values = append(o.Values, v.Value)
		}
	}
	found, err := overview.Find(o)
	if err != nil {
		return nil, err
	}
	docs, err := found.Documents(t)
	if err != nil {
		return nil, err
	}
	var sample []uint32
	if f.docs.links == nil && !j.Fingerprints {
		if sample, err = overview.Sample(t, c); err != nil {
			return nil, err
		}
		docs = slices.Concat(docs, sample)
		slices.Sort(docs)
		docs = slices.Compact(docs)
	}
	page := &Report{Overview: *found, Summary: *j.account.Summary, Recall: recallBySimilarity(j.account.Summary, f.how)}
	s := &page.Summary
	s.Stages, s.Seconds, s.PeakMemoryBytes, s.SpilledBytes = nil, 0, 0, 0
	store := f.docs.storeOptions(j, f.how)
	store.Kept = nil // its memory is given back now
	p := &pageMaker{write: j.Report, raw: f.docs.links != nil, page: page, sample: sample, decoded: bitset.New[uint32](t.Docs), ready: make(chan struct{}), records: reread.New(store)}
	for _, doc := range docs {
		switch file := t.FileOf(doc); {
		case p.records.InPlace(doc):
		case file < t.ReferenceFiles, j.IDsOnly, in.sources[file].Format == corpus.Text, in.sources[file].Format == corpus.Parquet:
			continue // nothing decodes it
		default:
			p.decoded.Add(doc)
			p.left.Add(1)
		}
		p.docs = append(p.docs, doc)
	}
	if p.left.Load() == 0 {
		close(p.ready)
	}
	return p, nil
}

// put stores the record of a document in decoded, once.
func (p *pageMaker) put(doc uint32, raw []byte) error {
	err := p.records.Put(doc, raw)
	if p.left.Add(-1) == 0 {
		close(p.ready)
	}
	return err
}

// gather reads the texts, and finds the passages that many have, when the page is ready or all is written.
func (p *pageMaker) gather(ctx context.Context) error {
	if p.page == nil {
		return nil
	}
	// If the run was killed and resumed, files may have been copied before: they are decoded once
	// more.
	if err := p.records.PrepareAll(ctx, slices.Clone(p.decoded)); err != nil {
		return err
	}
	f := p.records.NewFetcher(ctx)
	defer f.Close()
	fetch := f.Text
	if p.raw {
		fetch = f.Raw // records have no text
	}
	texts := map[uint32][]byte{}
	for _, doc := range p.docs {
		text, err := fetch(doc)
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		texts[doc] = slices.Clone(text)
	}
	p.page.Show(texts)
	var sampled [][]byte
	for _, doc := range p.sample {
		if text := texts[doc]; text != nil {
			sampled = append(sampled, text)
		}
	}
	return p.page.Repeat(sampled)
}

// finish returns the page; nil: there is no report.
func (p *pageMaker) finish() (*write.Page, error) {
	if p.page == nil {
		return nil, nil
	}
	return write.NewPage(PageOfRun, p.page, p.write)
}

func (p *pageMaker) close() {
	if p.records != nil {
		p.records.Close()
	}
}

// recallBySimilarity returns the S-curve of the bands.
func recallBySimilarity(s *Summary, how choice) (curve []float64) {
	if s.Bands == 0 || s.CandidateMethod != MethodLSH {
		return nil
	}
	for i := range overview.Bins + 1 {
		curve = append(curve, how.recipe.Banding().Probability(how.recipe.Agreement(float64(i)/overview.Bins)))
	}
	return curve
}
