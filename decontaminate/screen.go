package decontaminate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/decontaminate/internal/contam"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/setting"
)

// Identity is that of dedup.Screener. Its number changes with the rules by which items are found.
func (s *screener) Identity() string {
	return fmt.Sprintf("decontaminate 3 threshold=%v columns=%q found-only=%v cut=%v", s.c.Threshold, s.c.Columns, s.c.FoundOnly, s.c.Cut)
}

// Load reads the evaluation sets.
func (s *screener) Load(ctx context.Context, references []corpus.Source, skip func(*corpus.Problem) error) (int64, error) {
	var rows []contam.Item
	o := s.c.Corpus
	seen := o.Watch()
	for _, source := range references {
		var err error
		if rows, err = s.load(ctx, rows, source, o, skip); err != nil {
			return 0, err
		}
	}
	s.tellLacking(seen)
	s.index = contam.NewIndex(rows)
	return int64(len(rows)), ctx.Err()
}

// tellLacking names the columns that the user has named and no set has.
func (s *screener) tellLacking(seen *corpus.Seen) {
	for _, column := range []struct {
		of   setting.Name
		name string
	}{{setting.Answer, s.c.Columns.Answer}, {setting.Passage, s.c.Columns.Passage}} {
		if column.name != "" && seen.Lacks(column.name) && s.c.OnNotice != nil {
			s.c.OnNotice(setting.Textf("no row of a set has a column %q (%s)", column.name, column.of))
		}
	}
}

// load appends the rows of a set.
func (s *screener) load(ctx context.Context, rows []contam.Item, source corpus.Source, o corpus.Options, skip func(*corpus.Problem) error) ([]contam.Item, error) {
	columns := newColumns(s.c, source.Format)
	o.Fields, o.NoText = columns.fields, columns.fields != nil
	file, err := corpus.Open(ctx, source, o)
	if err != nil {
		return rows, problem(ctx, source, err, skip)
	}
	defer file.Close()
	if _, twice := corpus.Repeated(file, columns.fields); twice != nil {
		return rows, skip(twice)
	}
	p := corpus.NewParser(o)
	var b corpus.Block
	defer b.Release()
	line := int64(0)
	for {
		if err := file.Next(&b); err == io.EOF { // compared directly: an error of damage may wrap one
			return rows, nil
		} else if err != nil {
			return rows, problem(ctx, source, err, skip)
		}
		p.Start(file, &b)
		var r corpus.Record
		for p.Next(&r) {
			item, err := columns.item(&r)
			if err != nil {
				if err := skip(&corpus.Problem{Path: source.Label(), Line: line + r.Line + 1, Offset: r.Offset, ID: string(r.ID), Err: err}); err != nil {
					return rows, err
				}
				continue
			}
			item.Set, item.ID = source.Name, string(r.ID)
			if len(r.ID) == 0 {
				item.ID = string(source.AppendID(nil, line+r.Line))
			}
			for i := range item.Rows {
				item.Rows[i].ID = item.ID
			}
			rows = append(rows, item)
		}
		line += b.Lines
	}
}

// problem reports a set that cannot be read, or breaks off. What was read of it counts.
func problem(ctx context.Context, source corpus.Source, err error, skip func(*corpus.Problem) error) error {
	var p *corpus.Problem
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, corpus.ErrUnavailable):
		return err
	case errors.As(err, &p):
		return skip(p)
	}
	return skip(&corpus.Problem{Path: source.Label(), Err: err})
}

// NewScan is that of dedup.Screener.
func (s *screener) NewScan() func(r *corpus.Record) (note []byte, words int) {
	scanner := s.index.NewScanner()
	return func(r *corpus.Record) (note []byte, words int) {
		if r.Encoding.Len() == 0 {
			return scanner.Scan(r.Text, nil)
		}
		return scanner.Scan(r.Text, r.Encoding.Places(r.Text).InFile)
	}
}

// errNote says that a note was not made by this program.
var errNote = errors.New("what was noted of a document is damaged: start over")

// Count is that of dedup.Screener.
func (s *screener) Count(documents int64, notes iter.Seq[[]byte]) error {
	f := s.index.NewFrequencies()
	f.Documents = documents
	for note := range notes {
		if !f.Add(note) {
			return errNote
		}
	}
	s.found, s.examples = map[string]map[string]bool{}, nil
	s.judge = func() *contam.Judge { return contam.NewJudge(s.index, f, s.c.Threshold) }
	return nil
}

// NewJudge is that of dedup.Screener.
func (s *screener) NewJudge() func(note []byte) ([]dedup.Found, error) {
	j := s.judge()
	var found []dedup.Found
	return func(note []byte) ([]dedup.Found, error) {
		findings, ok := j.Findings(note)
		if !ok {
			return nil, errNote
		}
		found = found[:0]
		for i := range findings {
			f := &findings[i]
			found = append(found, dedup.Found{Item: f.ID, Set: f.Set, Part: f.Part(), Score: f.Score, Start: f.Start, End: f.End, Place: f})
		}
		return found, nil
	}
}

// mostExamples is how many findings the page shows, each of another item.
const mostExamples = 60

func (s *screener) onFound(document string, f *dedup.Found) {
	items := s.found[f.Set]
	if items == nil {
		items = map[string]bool{}
		s.found[f.Set] = items
	}
	p := f.Place.(*contam.Finding)
	if again := items[p.Name()]; again || len(s.examples) >= mostExamples {
		items[p.Name()] = true
		return
	}
	items[p.Name()] = true
	s.examples = append(s.examples, Example{
		Document: document, Item: f.Item, Set: f.Set, Part: f.Part, Score: f.Score, ItemText: p.Text(),
		Excerpt: append([]byte(nil), p.Excerpt...), Lead: p.Lead,
	})
}

// columns make items of the records of a set.
type columns struct {
	fields []string // question, answer, passage, text; nil: records have only a text
	must   string   // a column that every record must have; "": the text will do
}

func newColumns(c *Config, format corpus.Format) columns {
	if format == corpus.Text || format == corpus.Lines {
		return columns{}
	}
	return columns{
		fields: []string{
			cmp.Or(c.Columns.Question, "question"), cmp.Or(c.Columns.Answer, "answer"), cmp.Or(c.Columns.Passage, "passage"),
			cmp.Or(c.Corpus.TextField, "text"),
		},
		must: c.Columns.Question,
	}
}

// item returns the item of a record, without its name.
func (c columns) item(r *corpus.Record) (i contam.Item, err error) {
	if r.Err != nil {
		return i, r.Err
	}
	question, answer, passage := r.Text, []byte(nil), []byte(nil)
	if c.fields != nil {
		question, answer, passage = r.Fields[0], r.Fields[1], r.Fields[2]
	}
	switch {
	case len(question) > 0 || c.fields == nil:
	case c.must != "":
		return i, fmt.Errorf("%w %q: name the column of questions", corpus.ErrMissingField, c.must)
	case r.Fields[3] == nil:
		return i, fmt.Errorf("%w: neither %q nor %q: name the column of questions", corpus.ErrMissingField, c.fields[0], c.fields[3])
	default:
		question, answer, passage = r.Fields[3], nil, nil
	}
	i.Question, i.Passage = bytes.Clone(question), bytes.Clone(passage)
	if len(answer) > 0 {
		i.Rows = []contam.Row{{Answer: bytes.Clone(answer)}}
	}
	return i, nil
}
