package dedup

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/names"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/recipe"
)

// documents are those of a run.
type documents struct {
	table   *doctable.Table
	links   *Links       // of ByLinks: they connect records, not similar texts
	sides   sides.Policy // before equal documents are known
	layouts feed.Layouts
	decoded *reread.Kept // what was decoded, kept to verify and to write; nil: not needed
}

// storeOptions are those of a store of records.
func (d *documents) storeOptions(j *job, how choice) reread.Options {
	return reread.Options{Table: d.table, Recipe: how.recipe, Corpus: j.Corpus, Layouts: &d.layouts, Space: j.space, Kept: d.decoded}
}

// keepsDecoded tells whether what the first pass decodes is kept: to verify by it, or to write from it.
func keepsDecoded(j *job, r *recipe.Recipe, in *inputs, links *Links) bool {
	verifies := links == nil && j.screen == nil && r.BySets()
	return slices.ContainsFunc(in.sources, func(s corpus.Source) bool {
		return !s.InPlace() && !s.ByRange() && (verifies || writes(j) && s.Format != corpus.Parquet)
	})
}

// writes tells whether a run writes records.
func writes(j *job) bool {
	return j.Output != "" && !j.IDsOnly && (j.screen == nil || !j.screen.FoundOnly)
}

// readAll makes a document of each record, and reports which input cannot be used. The table is
// closed at the end of the run.
func readAll(ctx context.Context, j *job, in *inputs, how choice, links *Links) (*documents, error) {
	docs := &documents{links: links}
	if keepsDecoded(j, &how.recipe, in, links) {
		docs.decoded = reread.NewKept(j.space)
		j.atEnd(func() error {
			docs.decoded.Release()
			return nil
		})
	}
	err := j.account.stage("read", in.bytes(), func() (items, bytes int64, err error) {
		var n read.Counts
		docs.table, n, err = read.Records(ctx, readOptions(j, in, how, docs))
		return n.Documents, n.Bytes, err
	})
	if err != nil {
		return nil, err
	}
	j.atEnd(func() error {
		docs.table.Close()
		return nil
	})
	if docs.decoded != nil && docs.table.HasSets && !writes(j) {
		docs.decoded.Release()
	}
	if len(j.With) > 0 {
		docs.sides = sides.Between(docs.table.Left, nil) // see search.group
	} else {
		docs.sides = sides.Against(docs.table.References)
	}
	repeated, references, err := names.Unique(ctx, j.space, docs.table, &docs.sides)
	if err != nil {
		return nil, err
	}
	if references > 0 {
		j.OnNotice(setting.Textf("references that have the name of an input: %d; outputs name them %sFILE:LINE", references, engine.AgainstPrefix))
	}
	return docs, errors.Join(report(ctx, j, in, docs, repeated), j.space.Release(repeated))
}

// report reports input that could not be used, in input order, and counts documents.
func report(ctx context.Context, j *job, in *inputs, docs *documents, repeated *extsort.Sorted) error {
	t := docs.table
	r := &reporter{account: j.account, table: t, references: in.references, repeated: repeated.Reader(), c: t.Cursor()}
	defer r.close()
	err := t.EachProblem(func(file int, line int64, p *corpus.Problem) error {
		if line < 0 {
			line = math.MaxInt64 // problems of a whole file come after those of its records
		}
		return r.record(file, line, p)
	})
	if err == nil {
		err = r.rest()
	}
	if err == nil {
		err = markKnown(ctx, j, t)
	}
	if err != nil {
		return err
	}
	fields, err := docs.count(j.account)
	if err == nil {
		fields.tell(j.account)
		tellIDs(j.account, t)
	}
	return err
}

// tellIDs reports that the field of the ids, which is not the usual one, is in no document.
func tellIDs(a *account, t *doctable.Table) {
	if o := a.settings.Corpus; o.AsksForIDs() && t.Docs > 0 && !t.HasIDs() {
		a.settings.OnNotice(o.NoIDs())
	}
}

// reporter merges the problems of records and the repeated ids, both of which come in order, and
// reports them.
type reporter struct {
	account    *account
	table      *doctable.Table
	references int // files
	repeated   *extsort.Reader
	c          *doctable.Cursor
}

func (p *reporter) close() { _ = p.repeated.Close() }

// record reports a record's problem, and the repeated ids before it.
func (p *reporter) record(file int, line int64, problem *corpus.Problem) error {
	err := p.until(func(doc uint32) bool {
		at := p.table.FileOf(doc)
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
		if err := p.report(p.table.FileOf(doc), problem); err != nil {
			return err
		}
		p.repeated.Next()
	}
}

func (p *reporter) report(file int, problem *corpus.Problem) error {
	if errors.Is(problem, ErrScheme) {
		return problem
	}
	return p.account.skip(problem, file < p.references)
}

func readOptions(j *job, in *inputs, how choice, docs *documents) read.Options {
	r := &how.recipe
	o := read.Options{
		Recipe: *r, Corpus: j.Corpus, LongText: j.limits.text, FirstProblem: j.OnError == OnErrorFail, Stored: j.Fingerprints, Short: shortSets(j.settings, r),
		Layouts: &docs.layouts, Progress: j.Progress, Meter: j.account.meter, Look: look(j.Known), Within: j.valueAt,
		Table: doctable.Options{
			Sources: in.sources, References: in.references, Left: in.left, Keys: r.Keys(),
			Space: j.space, SegmentBytes: j.limits.segment, Log: j.log, PartBytes: partBytes(j.settings, in),
			Within: r.Within() != "", By: j.By != "",
		},
	}
	if j.Tags != nil && !j.IDsOnly {
		o.Tags = tagging.Duplicates(j.Tags.Prefix, in.references > 0)
	}
	if !r.BySets() || j.Shared { // needed after grouping
		o.Table.Words = r.Words()
	}
	if docs.decoded != nil {
		o.Keep = docs.decoded.Add
		if share := j.space.Share(2); share > 0 { // from which comes what is held
			o.Table.Memory = share - docs.decoded.Held
		}
	}
	switch {
	case j.screen != nil:
		o.Scan = func() read.Scan { return j.screen.Screener.NewScan() }
	case r.BySets():
		o.Table.MostSetFeatures = retain(j.settings, how)
	}
	return o
}

// partShare sets the size of a part: 1/partShare of the input. A killed run loses about as much
// work.
const partShare = 64

// minPart and maxPart limit the size of a part, in bytes.
const (
	minPart = 8 << 20
	maxPart = 1 << 30
)

func partBytes(c *settings, in *inputs) int64 {
	if part := c.limits.part; part > 0 {
		return part
	}
	return min(max(in.bytes()/partShare, minPart), maxPart)
}

// count counts the documents that were read, and the kinds of values in the keep rule's field.
func (docs *documents) count(a *account) (fields fieldCount, err error) {
	t, c := docs.table, docs.table.Scanner()
	usable, left := int64(0), int64(0)
	a.Empty = 0
	for i := t.References; i < t.Docs; i++ {
		doc := uint32(i)
		if t.Skipped.Has(doc) {
			continue
		}
		usable++
		if i < t.Left {
			left++
		}
		if docs.links == nil && c.Doc(doc).Features == 0 {
			a.Empty++
		}
		if a.settings.Keep.Field() != "" {
			fields.add(c.Meta(doc))
		}
		if w := a.Counted(); w != nil {
			w.of(c.Within(doc)).Documents++
		}
	}
	a.Read = usable + a.Skipped
	a.References = int64(t.References)
	if len(a.settings.With) > 0 {
		a.Left, a.Right = left, usable-left
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

// tellKeep reports if the rule has less to decide by than its user may think. If all values are texts,
// nothing is reported: dates are texts.
func (f fieldCount) tellKeep(keep cluster.Keep, documents int64, notice func(Notice)) {
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

// tell reports what is not an error but may surprise.
func (fields fieldCount) tell(a *account) {
	c := a.settings
	fields.tellKeep(c.Keep, a.Read-a.Skipped, c.OnNotice)
	switch {
	case a.Read == 0:
		c.OnNotice(setting.Textf("the input holds no records"))
	case len(c.With) > 0 && a.Left == 0:
		c.OnNotice(setting.Textf("the input before %s holds no records: there are no pairs", setting.With))
	case len(c.With) > 0 && a.Right == 0:
		c.OnNotice(setting.Textf("the input of %s holds no records: there are no pairs", setting.With))
	}
	switch w := a.Counted(); {
	case w == nil || !w.Missing():
	case w == a.By:
		c.OnNotice(setting.Textf("no document has a field %q of %s", w.Field, setting.By))
	default:
		c.OnNotice(w.MissingNotice())
	}
	switch {
	case a.Empty == 1:
		c.OnNotice(setting.Textf("1 document has no text to compare: it matches nothing"))
	case a.Empty > 1:
		c.OnNotice(setting.Textf("%d documents have no text to compare: they match nothing", a.Empty))
	}
}
