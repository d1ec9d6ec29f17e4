package dedup

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/extsort"
)

// findSources looks up the inputs, references first.
func (r *run) findSources(ctx context.Context) error {
	c := &r.config
	var skipped []corpus.Problem
	if len(c.Against) > 0 {
		refs, problems, err := corpus.Find(c.Against, c.Corpus)
		if err != nil {
			return err
		}
		r.sources, r.refSources = refs, len(refs)
		r.summary.ReferencesSkipped = int64(len(problems))
		skipped = problems
	}
	inputs, problems, err := corpus.Find(c.Inputs, c.Corpus)
	if err != nil {
		return err
	}
	r.summary.Skipped = int64(len(problems))
	for _, p := range append(skipped, problems...) {
		if c.OnError == OnErrorFail {
			return &p
		}
		c.OnSkip(&p)
	}
	r.sources = append(r.sources, inputs...)
	return nil
}

// spoolStreams copies the streams among the sources to the work folder, since
// they are read more than once.
func (r *run) spoolStreams(ctx context.Context) error {
	for i, s := range r.sources {
		if !s.Stream {
			continue
		}
		path, err := r.work.pathOf(fmt.Sprintf("input-%d", i))
		if err != nil {
			return err
		}
		if spooled, err := s.Spooled(r.work.fs, path); err == nil && r.work.log.Resumed() {
			r.sources[i] = spooled
			r.config.OnNotice(corpus.Shown(s.Label()) + " was read before: this run goes on with the copy in the work folder")
			continue
		}
		if r.sources[i], err = r.spool(ctx, s, path); err != nil {
			return err
		}
	}
	return nil
}

// spool copies a stream to a file. Its other end may neither write nor close it,
// so an interrupted run does not wait.
func (r *run) spool(ctx context.Context, s corpus.Source, path string) (corpus.Source, error) {
	r.config.Progress.Stage("spool", 0)
	type result struct {
		source corpus.Source
		err    error
	}
	copied := make(chan result, 1)
	go func() {
		source, err := corpus.Spool(r.work.fs, s, r.config.Corpus, path, r.work.log != nil)
		copied <- result{source, err}
	}()
	select {
	case <-ctx.Done():
		return s, ctx.Err()
	case c := <-copied:
		return c.source, c.err
	}
}

func (r *run) inputBytes() (n int64) {
	for _, s := range r.sources {
		n += s.Size
	}
	return n
}

// read runs the first stage and accounts for what could not be used.
func (r *run) read(ctx context.Context) error {
	c := &r.config
	reader := &reader{
		config: c, work: r.work, banding: r.banding, sources: r.sources,
		keepSigs: c.keepsSignatures(), meter: r.clock.meter, parts: r.partLog(),
		keepAll: r.banding.Bands == 0 || r.banding.Rows <= 1 && c.Candidates == CandidatesAuto && c.Verify == VerifyExact,
	}
	reader.keepSets.Store(c.Verify == VerifyExact)
	err := r.clock.stage("read", r.inputBytes(), func() (items, bytes int64, err error) {
		r.table, err = reader.read(ctx, r.refSources)
		return reader.items.Load(), reader.bytes.Load(), err
	})
	if err != nil {
		return err
	}
	repeated, err := r.markRepeated(ctx)
	if err != nil {
		return err
	}
	return errors.Join(r.account(repeated), r.work.release(repeated))
}

// account reports what could not be used, in input order, and counts documents.
func (r *run) account(repeated *extsort.Sorted) error {
	t := r.table
	report := r.newReporter(repeated)
	defer report.close()
	for i := range t.blocks {
		b := &t.blocks[i]
		problems := b.problems
		if problems == nil && b.problemsLen > 0 {
			var err error
			if problems, err = readProblems(t.parts[t.segments[b.segment].part].file, b); err != nil {
				return err
			}
		}
		for len(problems) > 0 {
			line, cause, rest, err := nextProblem(problems)
			if err != nil {
				return err
			}
			problems = rest
			p := &corpus.Problem{Path: t.sources[b.file].Label(), Err: cause}
			if line < 0 {
				p.Line = ^line
				line = math.MaxInt64 // of a whole file: after all its records
			} else {
				line += b.firstLine + 1
				p.Line = line
			}
			if err := report.record(int(b.file), line, p); err != nil {
				return err
			}
		}
	}
	if err := report.rest(); err != nil {
		return err
	}
	if err := r.countDocuments(); err != nil {
		return err
	}
	r.notice()
	return nil
}

// reporter reports problems of records and repeated ids, both of which come in
// order, as one.
type reporter struct {
	r        *run
	repeated *extsort.Reader
	c        *cursor
}

func (r *run) newReporter(repeated *extsort.Sorted) *reporter {
	return &reporter{r, repeated.Reader(), r.table.cursor()}
}

func (p *reporter) close() { _ = p.repeated.Close() }

// record reports a record's problem, and the repeated ids before it.
func (p *reporter) record(file int, line int64, problem *corpus.Problem) error {
	err := p.until(func(doc uint32) bool {
		at := p.r.table.fileOf(doc)
		return at > file || at == file && p.c.line(doc) > line
	})
	if err != nil {
		return err
	}
	return p.report(file, problem)
}

// rest reports the repeated ids that are left.
func (p *reporter) rest() error { return p.until(func(uint32) bool { return false }) }

func (p *reporter) until(behind func(doc uint32) bool) error {
	for {
		e, ok := p.repeated.Peek()
		if !ok {
			return p.repeated.Err()
		}
		doc := uint32(e.Key)
		if behind(doc) {
			return p.c.err
		}
		problem := repeatedProblem(p.c, doc, uint32(e.Value))
		if p.c.err != nil {
			return p.c.err
		}
		if err := p.report(p.r.table.fileOf(doc), problem); err != nil {
			return err
		}
		p.repeated.Next()
	}
}

func (p *reporter) report(file int, problem *corpus.Problem) error {
	r := p.r
	if r.config.OnError == OnErrorFail {
		return problem
	}
	r.config.OnSkip(problem)
	if file < r.refSources {
		r.summary.ReferencesSkipped++
	} else {
		r.summary.Skipped++
	}
	return nil
}

// countDocuments fills in what was read.
func (r *run) countDocuments() error {
	s, t := r.summary, r.table
	usable := int64(0)
	s.Empty = 0
	c := t.scanner()
	for i := t.refs; i < t.n; i++ {
		doc := uint32(i)
		if t.skipped.has(doc) {
			continue
		}
		usable++
		if c.doc(doc).features == 0 {
			s.Empty++
		}
	}
	s.Read = usable + s.Skipped
	s.References = int64(t.refs)
	return c.err
}

// notice tells what is no error but may surprise.
func (r *run) notice() {
	s, c := r.summary, &r.config
	if s.Read == 0 {
		c.OnNotice("the input holds no records")
	}
	switch {
	case s.Empty == 1:
		c.OnNotice("1 document has no text to compare: it matches nothing")
	case s.Empty > 1:
		c.OnNotice(fmt.Sprintf("%d documents have no text to compare: they match nothing", s.Empty))
	}
}
