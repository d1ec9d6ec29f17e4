package dedup

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/corpus"
)

// placed is a problem with its place in the input order.
type placed struct {
	file int
	line int64
	*corpus.Problem
}

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
	for i, s := range r.sources {
		if !s.Stream {
			continue
		}
		if r.sources[i], err = r.spool(ctx, s, i); err != nil {
			return err
		}
	}
	return nil
}

// spool copies a stream to the work folder. Its other end may neither write nor
// close it, so an interrupted run does not wait.
func (r *run) spool(ctx context.Context, s corpus.Source, number int) (corpus.Source, error) {
	folder, err := r.dir.folder()
	if err != nil {
		return s, err
	}
	r.config.Progress.Stage("spool", 0)
	type result struct {
		source corpus.Source
		err    error
	}
	copied := make(chan result, 1)
	go func() {
		path := filepath.Join(folder, fmt.Sprintf("input-%d", number))
		source, err := corpus.Spool(vfs.Default, s, r.config.Corpus, path, false)
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
		config: c, banding: r.banding, sources: r.sources,
		keepSigs: c.Verify != VerifyExact,
		keepAll:  r.banding.Bands == 0 || r.banding.Rows <= 1 && c.Candidates == CandidatesAuto && c.Verify == VerifyExact,
	}
	reader.keepSets.Store(c.Verify == VerifyExact)
	var problems []placed
	err := r.clock.stage("read", r.inputBytes(), func() (int64, int64, error) {
		results, err := reader.read(ctx)
		if err == nil {
			r.table, problems, err = reader.merge(results, r.refSources)
		}
		return reader.items.Load(), reader.bytes.Load(), err
	})
	if err != nil {
		return err
	}
	repeated, err := r.markRepeated(ctx)
	if err != nil {
		return err
	}
	problems = append(problems, repeated...)
	slices.SortStableFunc(problems, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return r.account(problems)
}

// account reports problems and counts documents.
func (r *run) account(problems []placed) error {
	s := r.summary
	for _, p := range problems {
		if r.config.OnError == OnErrorFail {
			return p.Problem
		}
		r.config.OnSkip(p.Problem)
		if p.file < r.refSources {
			s.ReferencesSkipped++
		} else {
			s.Skipped++
		}
	}
	usable := int64(0)
	for i := r.table.refs; i < len(r.table.docs); i++ {
		if d := &r.table.docs[i]; !d.skipped {
			usable++
			if d.features == 0 {
				s.Empty++
			}
		}
	}
	s.Read = usable + s.Skipped
	s.References = int64(r.table.refs)
	r.notice()
	return nil
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
	if size := r.table.size(); c.Memory > 0 && size > c.Memory {
		c.OnNotice(fmt.Sprintf("%d documents need %d MiB in memory, more than the %d MiB of --memory: going on above the budget",
			len(r.table.docs), size>>20, c.Memory>>20))
	}
}

// markRepeated marks documents whose id was there before as skipped: outputs
// name documents by id, and a name must mean one document.
func (r *run) markRepeated(ctx context.Context) ([]placed, error) {
	later, earlier, err := repeatedIDs(ctx, r.table, r.config.Threads)
	if err != nil {
		return nil, err
	}
	t := r.table
	problems := make([]placed, len(later))
	for i, doc := range later {
		t.docs[doc].skipped = true
		file := t.fileOf(doc)
		problems[i] = placed{file, t.line(doc), &corpus.Problem{
			Path: t.sources[file].Label(), Line: t.line(doc), Offset: t.docs[doc].offset,
			Err: fmt.Errorf("id %q was there before (%s:%d); make ids unique, or name documents by file and line with --id-field %s",
				t.explicitID(doc), t.sources[t.fileOf(earlier[i])].Label(), t.line(earlier[i]), corpus.NoID),
		}}
	}
	return problems, nil
}
