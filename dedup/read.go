package dedup

import (
	"context"
	"errors"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/feed"
	"github.com/alike-dev/alike/dedup/internal/names"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/table"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sides"
)

// documents are those of a run.
type documents struct {
	table   *table.Table
	links   *Links       // of ByLinks: they connect records, not similar texts
	sides   sides.Policy // before equal documents are known
	layouts feed.Layouts
	decoded *reread.Kept // records that were read, kept for verification; nil: not needed
}

// storeOptions are those of a store of records.
func (d *documents) storeOptions(j *job, how choice) reread.Options {
	return reread.Options{Table: d.table, Recipe: how.recipe, Corpus: j.Corpus, Layouts: &d.layouts, Space: j.space, Kept: d.decoded}
}

// readAll makes a document of each record, and reports which input cannot be used. The table is
// closed at the end of the run.
func readAll(ctx context.Context, j *job, in *inputs, how choice, links *Links) (*documents, error) {
	docs := &documents{links: links}
	if how.recipe.BySets() && links == nil && in.decodedAgain() {
		docs.decoded = &reread.Kept{Memory: j.space.Share(8)}
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
	if docs.decoded != nil && docs.table.HasSets {
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
		j.OnNotice(setting.Textf("references that have the name of an input: %d; outputs name them %sFILE:LINE", references, table.AgainstPrefix))
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
	fields, err := j.account.documents(docs)
	if err == nil {
		j.account.tell(fields)
	}
	return err
}

// reporter merges the problems of records and the repeated ids, both of which come in order, and
// reports them.
type reporter struct {
	account    *account
	table      *table.Table
	references int // files
	repeated   *extsort.Reader
	c          *table.Cursor
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

// readOptions returns how the inputs are read.
func readOptions(j *job, in *inputs, how choice, docs *documents) read.Options {
	r := &how.recipe
	o := read.Options{
		Recipe: *r, Corpus: j.Corpus, LongText: j.limits.text, FirstProblem: j.OnError == OnErrorFail, Stored: j.Fingerprints, Short: shortSets(j.settings, r),
		Layouts: &docs.layouts, Progress: j.Progress, Meter: j.account.meter, Look: look(j.Known),
		Table: table.Options{
			Sources: in.sources, References: in.references, Left: in.left, Keys: r.Keys(),
			Space: j.space, SegmentBytes: j.limits.segment, Log: j.log, PartBytes: partBytes(j.settings, in),
		},
	}
	if !r.BySets() || j.Shared { // needed after grouping
		o.Table.Words = r.Words()
	}
	if docs.decoded != nil { // in an eighth of the memory, which is taken from the table's share
		o.Keep, o.Table.Memory = docs.decoded.Add, j.space.Share(2)-j.space.Share(8)
	}
	if r.BySets() {
		o.Table.MostSetFeatures = retain(j.settings, how)
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
func retain(c *settings, how choice) int64 {
	switch {
	case how.recipe.Keys() == 0: // they will be joined
		return math.MaxInt64
	case how.expected == MethodLSH:
		return 0
	case c.limits.retain > 0:
		return c.limits.retain
	case how.recipe.Sample().Size > 0:
		return retainSampled
	case c.Features.N == 1:
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

func partBytes(c *settings, in *inputs) int64 {
	if part := c.limits.part; part > 0 {
		return part
	}
	return min(max(in.bytes()/partShare, minPart), maxPart)
}
