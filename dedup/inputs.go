package dedup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/names"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/internal/streams"
)

// findSources looks up the inputs, references first or the left before the right, and checks that
// no output is one of them.
func (r *run) findSources(ctx context.Context) error {
	c := &r.config
	out, err := newOutputs(c)
	if err != nil {
		return err
	}
	leading, following := c.Against, c.Inputs
	if len(c.With) > 0 {
		leading, following = c.Inputs, c.With
	}
	twice := &seenTwice{leading: map[fileKey][]fs.FileInfo{}}
	options := c.Corpus
	options.Visit = func(path string, info fs.FileInfo) error {
		twice.lead(info)
		return out.check(path, info)
	}
	var skipped []corpus.Problem
	if len(leading) > 0 {
		if r.sources, skipped, err = corpus.Find(ctx, leading, options); err != nil {
			return err
		}
	}
	options.Visit = func(path string, info fs.FileInfo) error {
		twice.follow(path, info)
		return out.check(path, info)
	}
	sources, problems, err := corpus.Find(ctx, following, options)
	if err != nil {
		return err
	}
	twice.objects(r.sources, sources)
	if len(c.With) > 0 {
		r.leftFiles = len(r.sources)
	} else {
		r.refSources = len(r.sources)
	}
	r.sources = append(r.sources, sources...)
	references := len(skipped)
	if len(c.With) > 0 {
		references = 0
	}
	for i, p := range append(skipped, problems...) {
		if err := r.skip(&p, i < references); err != nil {
			return err
		}
	}
	if len(c.With) > 0 {
		twice.tell(setting.Textf("on both sides of %s: each of its documents is paired with itself", setting.With),
			setting.Textf("on both sides of %s: each of their documents is paired with itself", setting.With), c.OnNotice)
	} else {
		twice.tell(setting.Textf("both an input and a reference: all its documents are removed"),
			setting.Textf("both inputs and references: all their documents are removed"), c.OnNotice)
	}
	return nil
}

// seenTwice counts the files that are both references and inputs, or both left and right, by
// whatever names.
type seenTwice struct {
	leading map[fileKey][]fs.FileInfo // references, or those of the left
	first   string
	n       int64
}

// fileKey is equal for equal files.
type fileKey struct{ size, changed int64 }

func keyOf(info fs.FileInfo) fileKey { return fileKey{info.Size(), info.ModTime().UnixNano()} }

func (s *seenTwice) lead(info fs.FileInfo) {
	if info.Mode().IsRegular() {
		s.leading[keyOf(info)] = append(s.leading[keyOf(info)], info)
	}
}

func (s *seenTwice) follow(path string, info fs.FileInfo) {
	if len(s.leading) == 0 || !info.Mode().IsRegular() {
		return
	}
	like := s.leading[keyOf(info)]
	if i := slices.IndexFunc(like, func(other fs.FileInfo) bool { return os.SameFile(info, other) }); i >= 0 {
		s.leading[keyOf(info)] = slices.Delete(like, i, i+1)
		s.add(path)
	}
}

// objects is lead and follow for objects of object stores.
func (s *seenTwice) objects(leading, following []corpus.Source) {
	urls := map[string]bool{}
	for i := range leading {
		if url := leading[i].Path; bucketurl.Is(url) {
			urls[url] = true
		}
	}
	for i := range following {
		if len(urls) > 0 && urls[following[i].Path] {
			s.add(following[i].Path)
		}
	}
}

func (s *seenTwice) add(name string) {
	if s.n++; s.n == 1 {
		s.first = name
	}
}

// tell reports one file with the text one, several files with the text several.
func (s *seenTwice) tell(one, several setting.Text, notice func(Notice)) {
	switch {
	case s.n == 1:
		notice(setting.Textf("%q is %s", s.first, one))
	case s.n > 1:
		notice(setting.Textf("%q and %d more files are %s", s.first, s.n-1, several))
	}
}

// spooled is the note of a stream that was copied.
type spooled struct {
	Source  int // its number
	Name    string
	Version string // of its bytes
}

// spoolStreams copies the streams among the sources to the work folder, since they are read more
// than once. A resumed run reads the streams again that an earlier process has copied: it continues
// only if they are the same, which it cannot know before it has read them.
func (r *run) spoolStreams(ctx context.Context) error {
	before := map[int]spooled{}
	for s, err := range resume.All[spooled](r.log, resume.Spooled) {
		if err != nil {
			return err
		}
		before[s.Source] = s
	}
	for i, s := range r.sources {
		if !s.Stream {
			continue
		}
		note := spooled{Source: i, Name: fmt.Sprintf("input-%d", i)}
		path, err := r.work.PathOf(note.Name)
		if err != nil {
			return err
		}
		r.config.Progress.Stage("spool", 0)
		if was, found := before[i]; found {
			r.sources[i], err = uninterrupted(ctx, func() (corpus.Source, error) {
				return streams.Again(ctx, r.work.FS, s, r.config.Corpus, path, was.Version)
			})
			if err != nil {
				return err
			}
			continue
		}
		r.sources[i], err = uninterrupted(ctx, func() (corpus.Source, error) {
			return streams.Copy(ctx, r.work.FS, s, r.config.Corpus, path, r.log != nil)
		})
		if err != nil {
			return err
		}
		note.Version = r.sources[i].Version
		if err := r.log.Note(resume.Spooled, note); err != nil {
			return err
		}
	}
	return nil
}

// uninterrupted reads a stream. The other end of the stream may neither write nor close it, so an
// interrupted run does not wait for it.
func uninterrupted(ctx context.Context, read func() (corpus.Source, error)) (corpus.Source, error) {
	type result struct {
		source corpus.Source
		err    error
	}
	copied := make(chan result, 1)
	go func() {
		source, err := read()
		copied <- result{source, err}
	}()
	select {
	case <-ctx.Done():
		return corpus.Source{}, ctx.Err()
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

// readOptions returns how the inputs are read.
func (r *run) readOptions() read.Options {
	c := &r.config
	o := read.Options{
		Recipe: r.recipe, Corpus: c.Corpus, LongText: c.limits.text, FirstProblem: c.OnError == OnErrorFail, Stored: c.Fingerprints, Short: r.shortSets(),
		Layouts: &r.layouts, Progress: c.Progress, Meter: r.clock.meter, Look: r.look(),
		Table: table.Options{
			Sources: r.sources, References: r.refSources, Left: r.leftFiles, Keys: r.recipe.Keys(),
			Space: r.work, SegmentBytes: c.limits.segment, Log: r.log, PartBytes: r.partBytes(),
		},
	}
	if !r.recipe.BySets() || c.Shared { // needed after grouping
		o.Table.Words = r.recipe.Words()
	}
	if r.kept != nil { // in an eighth of the memory, which is taken from the table's share
		o.Keep, o.Table.Memory = r.kept.Add, r.work.Share(2)-r.work.Share(8)
	}
	if r.recipe.BySets() {
		o.Table.MostSetFeatures = r.retain()
	}
	return o
}

// Numbers of features up to which a run keeps all feature sets although it was not asked to. A
// collection of up to retainMost features is joined exactly before bands would have begun; keeping
// more would take memory and time that bands do not need. That is worth it for sets of single tokens,
// which are smaller than their texts and have so much in common that they are often joined, and where
// containment is found by samples, for which texts would be read again (32 MiB).
const (
	retainMost    = 64 << 10
	retainTokens  = 2 << 20
	retainSampled = 4 << 20
)

// retain returns the number of features up to which all sets are kept.
func (r *run) retain() int64 {
	switch {
	case r.recipe.Keys() == 0: // they will be joined
		return math.MaxInt64
	case r.expected == CandidatesLSH:
		return 0
	case r.config.limits.retain > 0:
		return r.config.limits.retain
	case r.recipe.Sample().Size > 0:
		return retainSampled
	case r.config.Features.N == 1:
		return retainTokens
	}
	return retainMost
}

// partShare sets the size of a part: 1/partShare of the input. A killed run loses about as much
// work.
const partShare = 64

// minPart and maxPart limit the size of a part, in bytes.
const (
	minPart = 8 << 20
	maxPart = 1 << 30
)

func (r *run) partBytes() int64 {
	if part := r.config.limits.part; part > 0 {
		return part
	}
	return min(max(r.inputBytes()/partShare, minPart), maxPart)
}

// rereads tells whether a source must be decoded once more to read its records again.
func (r *run) rereads() bool {
	return slices.ContainsFunc(r.sources, func(s corpus.Source) bool { return !s.InPlace() && !s.ByRange() })
}

// read runs the first stage and records which input could not be used.
func (r *run) read(ctx context.Context) error {
	c := &r.config
	err := r.clock.stage("read", r.inputBytes(), func() (items, bytes int64, err error) {
		var n read.Counts
		if r.recipe.BySets() && c.Link == nil && r.rereads() {
			r.kept = &reread.Kept{Memory: r.work.Share(8)}
		}
		r.table, n, err = read.Records(ctx, r.readOptions())
		return n.Documents, n.Bytes, err
	})
	if err != nil {
		return err
	}
	if r.kept != nil && r.table.HasSets {
		r.kept.Release()
	}
	if len(c.With) > 0 {
		r.sides = sides.Between(r.table.Left, nil) // see classify
	} else {
		r.sides = sides.Against(r.table.References)
	}
	repeated, references, err := names.Unique(ctx, r.work, r.table, &r.sides)
	if err != nil {
		return err
	}
	if references > 0 {
		c.OnNotice(setting.Textf("references that have the name of an input: %d; outputs name them %sFILE:LINE", references, AgainstPrefix))
	}
	return errors.Join(r.account(ctx, repeated), r.work.Release(repeated))
}

// account reports input that could not be used, in input order, and counts documents.
func (r *run) account(ctx context.Context, repeated *extsort.Sorted) error {
	t := r.table
	report := r.newReporter(repeated)
	defer report.close()
	err := t.EachProblem(func(file int, line int64, p *corpus.Problem) error {
		if line < 0 {
			line = math.MaxInt64 // problems of a whole file come after those of its records
		}
		return report.record(file, line, p)
	})
	if err != nil {
		return err
	}
	if err := report.rest(); err != nil {
		return err
	}
	if err := r.markKnown(ctx); err != nil {
		return err
	}
	fields, err := r.countDocuments()
	if err != nil {
		return err
	}
	r.notice(fields)
	return nil
}

// reporter merges the problems of records and the repeated ids, both of which come in order, and
// reports them.
type reporter struct {
	r        *run
	repeated *extsort.Reader
	c        *table.Cursor
}

func (r *run) newReporter(repeated *extsort.Sorted) *reporter {
	return &reporter{r, repeated.Reader(), r.table.Cursor()}
}

func (p *reporter) close() { _ = p.repeated.Close() }

// record reports a record's problem, and the repeated ids before it.
func (p *reporter) record(file int, line int64, problem *corpus.Problem) error {
	err := p.until(func(doc uint32) bool {
		at := p.r.table.FileOf(doc)
		return at > file || at == file && p.c.Line(doc) > line
	})
	if err != nil {
		return err
	}
	return p.report(file, problem)
}

// rest reports the remaining repeated ids.
func (p *reporter) rest() error { return p.until(func(uint32) bool { return false }) }

func (p *reporter) until(behind func(doc uint32) bool) error {
	for {
		e, ok := p.repeated.Peek()
		if !ok {
			return p.repeated.Err()
		}
		doc := uint32(e.Key)
		if behind(doc) {
			return p.c.Err
		}
		problem := names.Problem(p.c, doc, uint32(e.Value))
		if p.c.Err != nil {
			return p.c.Err
		}
		if err := p.report(p.r.table.FileOf(doc), problem); err != nil {
			return err
		}
		p.repeated.Next()
	}
}

func (p *reporter) report(file int, problem *corpus.Problem) error {
	r := p.r
	if errors.Is(problem, ErrScheme) {
		return problem
	}
	return r.skip(problem, file < r.refSources)
}

// skip reports a record or file that cannot be used, and counts it. With OnErrorFail it is an error.
func (r *run) skip(p *corpus.Problem, reference bool) error {
	if r.config.OnError == OnErrorFail {
		return p
	}
	r.config.OnSkip(p)
	s := r.summary
	if reference {
		s.ReferencesSkipped++
	} else {
		s.Skipped++
	}
	if s.SkippedKinds == nil {
		s.SkippedKinds = map[string]int64{}
	}
	s.SkippedKinds[p.Kind()]++
	return nil
}

// countDocuments counts the documents that were read, and the kinds of values in the keep rule's
// field.
func (r *run) countDocuments() (fields fieldCount, err error) {
	s, t := r.summary, r.table
	usable, left := int64(0), int64(0)
	s.Empty = 0
	c := t.Scanner()
	for i := t.References; i < t.Docs; i++ {
		doc := uint32(i)
		if t.Skipped.Has(doc) {
			continue
		}
		usable++
		if i < t.Left {
			left++
		}
		if r.links == nil && c.Doc(doc).Features == 0 {
			s.Empty++
		}
		if r.config.Keep.Field() != "" {
			fields.add(c.Meta(doc))
		}
	}
	s.Read = usable + s.Skipped
	s.References = int64(t.References)
	if len(r.config.With) > 0 {
		s.Left, s.Right = left, usable-left
	}
	return fields, c.Err
}

// fieldCount counts the documents by their value of the keep rule's field.
type fieldCount struct{ numbers, texts int64 }

func (f *fieldCount) add(m cluster.Meta) {
	switch {
	case m.IsNumber():
		f.numbers++
	case m.HasValue:
		f.texts++
	}
}

// tell reports if the rule has less to decide by than its user may think. If all values are texts,
// nothing is reported: dates are texts.
func (f fieldCount) tell(keep cluster.Keep, documents int64, notice func(Notice)) {
	missing := documents - f.numbers - f.texts
	switch field := keep.Field(); {
	case field == "" || documents == 0:
	case missing == documents:
		notice(setting.Textf("no document has a field %q: %s %s does the same as first", field, setting.Keep, keep))
	case f.numbers > 0 && f.texts > 0:
		notice(setting.Textf("%s %s: of %d documents %d have no field %q and %d have no number there; numbers are kept first, then other values",
			setting.Keep, keep, documents, missing, field, f.texts))
	case missing > 0:
		notice(setting.Textf("%s %s: of %d documents %d have no field %q; they are kept last", setting.Keep, keep, documents, missing, field))
	}
}

// notice reports what is not an error but may surprise.
func (r *run) notice(fields fieldCount) {
	s, c := r.summary, &r.config
	fields.tell(c.Keep, s.Read-s.Skipped, c.OnNotice)
	switch {
	case s.Read == 0:
		c.OnNotice(setting.Textf("the input holds no records"))
	case len(c.With) > 0 && s.Left == 0:
		c.OnNotice(setting.Textf("the input before %s holds no records: there are no pairs", setting.With))
	case len(c.With) > 0 && s.Right == 0:
		c.OnNotice(setting.Textf("the input of %s holds no records: there are no pairs", setting.With))
	}
	switch {
	case s.Empty == 1:
		c.OnNotice(setting.Textf("1 document has no text to compare: it matches nothing"))
	case s.Empty > 1:
		c.OnNotice(setting.Textf("%d documents have no text to compare: they match nothing", s.Empty))
	}
}

// Sources finds the inputs of a run, and checks that no output is one of them, as Run and Pairs do
// before anything is read. It calls config.OnSkip for inputs that cannot be used and counts them.
func Sources(ctx context.Context, config Config) (sources []corpus.Source, references int, skipped int64, err error) {
	r, err := newRun(config)
	if err == nil {
		err = r.findSources(ctx)
	}
	if err != nil {
		return nil, 0, 0, err
	}
	return r.sources, r.refSources, r.summary.Skipped, nil
}
