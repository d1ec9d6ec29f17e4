package decontaminate

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/decontaminate/internal/contam"
)

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
