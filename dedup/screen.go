package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/internal/splice"
	"github.com/alike-dev/alike/measure"
)

// A Screener judges each document by itself, by the references of a run, instead of comparing documents with each other.
// Its steps are called one after the other; what NewScan and NewJudge return belongs to one goroutine each.
type Screener interface {
	// Identity names the command and all settings that the result depends on: a killed run continues only with the same.
	Identity() string
	// Load reads the references, and returns their number. skip reports what cannot be used of them.
	Load(ctx context.Context, references []corpus.Source, skip func(*corpus.Problem) error) (n int64, err error)
	// NewScan returns a function that looks at a document: it returns what must be known of it later, until its next
	// call; nil: nothing. words is the number of its words; 0: it has none.
	NewScan() func(r *corpus.Record) (note []byte, words int)
	// Count is called with the number of all documents, and the notes of those that have one.
	Count(documents int64, notes iter.Seq[[]byte]) error
	// NewJudge returns a function that judges a document by its note.
	NewJudge() func(note []byte) ([]Found, error)
}

// Found is a part of a document that a Screener has found.
type Found struct {
	Item, Set, Part string  // what was found, where it comes from, and which parts of it stand there
	Score           float64 // in (0,1]
	Start, End      int     // bytes of the document's text, or of its file if the text is all of it
	Place           any     // what the Screener knows besides, for OnFound; valid until the next document
}

// Screening says what a run does with documents in which something was found.
type Screening struct {
	Screener  Screener
	FoundOnly bool // documents are only listed
	Cut       bool // what was found is cut out of documents, instead of removing these
	// OnFound, when set, is called for each row of FoundFile, in its order, with the name of the document.
	OnFound func(document string, f *Found)
	// Details, when set, returns what the summary says besides, when all is found.
	Details func() any
	// Page, when set, returns a page about the result; see NewPage.
	Page func(s *ScreenSummary) (*Page, error)
}

// ScreenSummary is the report of Screen. read = kept + removed + skipped, always.
type ScreenSummary struct {
	Read    int64 `json:"read"`
	Kept    int64 `json:"kept"`
	Removed int64 `json:"removed"` // 0 if documents are only listed, or cut
	Cut     int64 `json:"cut"`     // documents out of which something was cut; they are kept
	Skipped int64 `json:"skipped"`
	Empty   int64 `json:"empty"` // documents without words

	Found     int64 `json:"found"`     // rows of FoundFile
	Documents int64 `json:"documents"` // in which something was found

	References        int64            `json:"references"`
	ReferencesSkipped int64            `json:"references_skipped"`
	SkippedKinds      map[string]int64 `json:"skipped_kinds,omitempty"`
	Details           any              `json:"details,omitempty"` // of Screening.Details

	Stages          []Stage `json:"stages"`
	Seconds         float64 `json:"seconds"`
	PeakMemoryBytes int64   `json:"peak_memory_bytes"`
	SpilledBytes    int64   `json:"spilled_bytes"`
}

// take fills in what the account of the run has.
func (s *ScreenSummary) take(a *Summary) {
	s.Read, s.Kept, s.Removed, s.Skipped, s.Empty = a.Read, a.Kept, a.Removed, a.Skipped, a.Empty
	s.ReferencesSkipped, s.SkippedKinds = a.ReferencesSkipped, a.SkippedKinds
	s.Stages, s.Seconds, s.PeakMemoryBytes, s.SpilledBytes = a.Stages, a.Seconds, a.PeakMemoryBytes, a.SpilledBytes
}

// Costs returns the parts of the summary that every run has.
func (s *ScreenSummary) Costs() *Summary {
	return &Summary{
		Read: s.Read, Kept: s.Kept, Removed: s.Removed, Skipped: s.Skipped, ReferencesSkipped: s.ReferencesSkipped, SkippedKinds: s.SkippedKinds,
		Stages: s.Stages, Seconds: s.Seconds, PeakMemoryBytes: s.PeakMemoryBytes, SpilledBytes: s.SpilledBytes,
	}
}

// Screen removes the documents of config.Inputs in which the screener has found something, and writes the rest, and
// FoundFile, to config.Output, as Run does. config.Beside must be Against.
func Screen(ctx context.Context, config Config, o Screening) (summary *ScreenSummary, err error) {
	if config.Output == "" {
		return nil, fmt.Errorf("%w: no output folder", ErrUsage)
	}
	config.Decide = Similarity{Candidates: Exact{}} // neither keys nor signatures are made
	s, err := settle(config)
	if err != nil {
		return nil, err
	}
	s.screen = &o
	out, err := write.Open(ctx, s.fs, s.Output, s.Corpus)
	if err != nil {
		return nil, err
	}
	out.Needs = []string{FoundFile, write.SummaryFile}
	j, in, err := begin(ctx, s, o.Screener.Identity(), func() error { return out.CheckEmpty(ctx, s.Folder != "") })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.close(err == nil)) }()
	return runInto(ctx, j, in, out, o.written(in.own()), &ScreenSummary{}, func(in *inputs) (*ScreenSummary, error) { return screen(ctx, j, in, &o, out) }, nothing)
}

// screen finds what there is in the documents and writes the output. If rows cannot be copied, it does this once more.
func screen(ctx context.Context, j *job, in *inputs, o *Screening, out *write.Folder) (*ScreenSummary, error) {
	references := int64(0)
	err := j.account.stage("references", 0, func() (_, _ int64, err error) {
		skip := func(p *corpus.Problem) error { return j.account.skip(p, true) }
		references, err = o.Screener.Load(ctx, in.sources[:in.references], skip)
		return references, 0, err
	})
	if err != nil {
		return nil, err
	}
	own := *in
	own.sources, own.references = in.own(), 0
	docs, err := readAll(ctx, j, &own, choice{recipe: j.recipe}, nil)
	if err == nil {
		err = restoreLost(j, &own, docs)
	}
	if err != nil {
		return nil, err
	}
	w := &screened{in: &own, docs: docs.table, decoded: docs.decoded, o: o, summary: &ScreenSummary{References: references}}
	for {
		lost, err := w.write(ctx, j, out)
		if err != nil {
			return nil, err
		}
		if len(lost) == 0 {
			break
		}
		if err := skipLost(j, &own, docs, lost); err != nil {
			return nil, err
		}
	}
	w.summary.take(j.account.finish(j.space))
	if o.Details != nil {
		w.summary.Details = o.Details()
	}
	var page *Page
	if o.Page != nil {
		if page, err = o.Page(w.summary); err != nil {
			return nil, err
		}
	}
	return w.summary, publish(ctx, j, out, o.written(own.sources), w.summary, page, nothing)
}

// written returns the sources as those that are written: for cuts also those that are documents of their own.
func (o *Screening) written(sources []corpus.Source) []corpus.Source {
	if o.Cut {
		return write.AllWritten(sources)
	}
	return sources
}

type screened struct {
	in      *inputs
	docs    *doctable.Table
	decoded *reread.Kept
	o       *Screening
	summary *ScreenSummary
}

// notes calls visit for each document with a note that is not skipped.
func (s *screened) notes(ctx context.Context, visit func(doc uint32, note []byte) error) error {
	c := s.docs.Scanner()
	for i := range s.docs.Docs {
		doc := uint32(i)
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !c.Doc(doc).HasValue() || s.docs.Skipped.Has(doc) {
			if c.Err != nil {
				return c.Err
			}
			continue
		}
		note := c.Value(doc)
		if c.Err != nil {
			return c.Err
		}
		if err := visit(doc, note); err != nil {
			return err
		}
	}
	return c.Err
}

// write judges the documents and writes the output.
func (s *screened) write(ctx context.Context, j *job, out *write.Folder) (lost []write.LostRows, err error) {
	documents := int64(s.docs.Docs - s.docs.Skipped.Len())
	err = j.account.stage("judge", 0, func() (int64, int64, error) {
		var failed error
		err := s.o.Screener.Count(documents, func(yield func([]byte) bool) {
			failed = s.notes(ctx, func(_ uint32, note []byte) error {
				if !yield(note) {
					return errStop
				}
				return nil
			})
		})
		return documents, 0, errors.Join(err, failed)
	})
	if err != nil {
		return nil, err
	}
	holding := bitset.New[uint32](s.docs.Docs) // documents in which something was found
	s.summary.Found, s.summary.Documents = 0, 0
	err = j.account.stage("found", 0, func() (int64, int64, error) {
		header := []string{"document", "item", "set", "score", "start", "end", "part"}
		err := out.Rows(FoundFile, header, func(row func(...string)) error { return s.find(ctx, holding, row) })
		return s.summary.Found, 0, err
	})
	if err != nil {
		return nil, err
	}
	a := j.account
	o := write.Options{Table: s.docs, Removed: bitset.New[uint32](s.docs.Docs), Corpus: j.Corpus, Kept: s.decoded, Space: j.space, Log: j.log, NoteBytes: j.limits.output, Progress: j.Progress, Meter: j.account.meter}
	switch a.Removed, s.summary.Cut = 0, 0; {
	case s.o.Cut:
		s.summary.Cut, o.Cuts, o.Cut = s.summary.Documents, holding, s.newSpans
	case !s.o.FoundOnly:
		a.Removed, o.Removed = s.summary.Documents, holding
	}
	if a.Kept = a.Read - a.Skipped - a.Removed; s.o.FoundOnly {
		return nil, nil
	}
	err = a.stage("write", s.in.bytes(), func() (items, bytes int64, err error) {
		n, err := write.All(ctx, o, out)
		lost = n.Lost
		return n.Items, n.Bytes, err
	})
	return lost, err
}

// newSpans returns a function that returns the places of a document.
func (s *screened) newSpans() func(doc uint32) ([]splice.Span, error) {
	judge, notes := s.o.Screener.NewJudge(), s.docs.Scanner()
	var spans []splice.Span
	return func(doc uint32) ([]splice.Span, error) {
		note := notes.Value(doc)
		if notes.Err != nil {
			return nil, notes.Err
		}
		found, err := judge(note)
		spans = spans[:0]
		for i := range found {
			spans = append(spans, splice.Span{Start: found[i].Start, End: found[i].End})
		}
		return disjoint(spans), err
	}
}

// disjoint puts spans in order, and joins those that overlap or touch.
func disjoint(spans []splice.Span) []splice.Span {
	sorting.Func(spans, func(a, b splice.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.Start <= joined[n-1].End {
			joined[n-1].End = max(joined[n-1].End, s.End)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

var errStop = errors.New("stopped")

// find writes what was found, and marks the documents.
func (s *screened) find(ctx context.Context, holding bitset.Set[uint32], row func(...string)) error {
	judge, names := s.o.Screener.NewJudge(), s.docs.Scanner()
	return s.notes(ctx, func(doc uint32, note []byte) error {
		found, err := judge(note)
		if err != nil || len(found) == 0 {
			return err
		}
		holding.Add(doc)
		s.summary.Documents++
		name := names.ID(doc)
		for i := range found {
			f := &found[i]
			row(name, f.Item, f.Set, string(measure.AppendSimilarity(nil, f.Score)), strconv.Itoa(f.Start), strconv.Itoa(f.End), f.Part)
			s.summary.Found++
			if s.o.OnFound != nil {
				s.o.OnFound(name, f)
			}
		}
		return names.Err
	})
}
