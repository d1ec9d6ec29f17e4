package stage

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/linkage"
)

// A Join with a Rule is decided by package linkage, in one task that has all records:
//
//	records → match → publish
//	values    links
//
// What makes a pair a link there depends on all candidates: the model that is learned from them, and the rivals
// of the pair. Stages read the tables at once and bring together what is compared of them.

// Rule says which pairs of a Join are links, as linkage.Config does.
type Rule struct {
	Fields      []linkage.Field `json:"fields"` // that are compared, settled; the columns of Tables
	Match       linkage.Match   `json:"match,omitempty"`
	Threshold   float64         `json:"threshold,omitempty"`
	Precision   float64         `json:"precision,omitempty"`
	Top         int             `json:"top,omitempty"`
	Model       *linkage.Model  `json:"model,omitempty"` // it has the Fields too
	Probability bool            `json:"probability,omitempty"`
	linkage.Weighing
	linkage.Searching
}

// columns returns how many columns of the list are the rule's.
func (r *Rule) columns() int {
	if r != nil && r.Probability {
		return 1
	}
	return 0
}

// config returns what linkage is told of a join, but for the tables.
func (r *Rule) config() linkage.Config {
	c := linkage.Config{
		Fields: r.Fields, Match: r.Match, Threshold: r.Threshold, Precision: r.Precision, Top: r.Top, Model: r.Model,
		Weighing: r.Weighing, Searching: r.Searching, Fail: true,
		Corpus: corpus.Options{MaxRecord: 2 * MaxBlock}, // quotes are doubled
	}
	if c.Model != nil {
		c.Fields = nil
	}
	return c
}

// gather hands on the values of records.
func gather(t *task) error {
	var payload []byte
	n, err := t.eachUsable(everything, func(d *Document) error {
		payload = appendPart(payload[:0], d.Name)
		for _, value := range d.Fields {
			payload = appendPart(payload, value)
		}
		return t.out.add(TableRecords, 0, payload, d.Position)
	})
	return errors.Join(err, t.count(CountRead, n.Read), t.count(CountSkipped, n.Skipped))
}

// match joins the tables, on all processors that the process has.
func match(t *task) (err error) {
	j := t.plan.Join
	c := j.Rule.config()
	c.Memory = t.space.Ceiling
	left, right, err := t.tableFiles()
	if err != nil {
		return err
	}
	c.Left, c.LeftID, c.Right, c.RightID = left.path, left.columns[0], right.path, right.columns[0]
	r, err := linkage.Join(t.ctx, c)
	if err != nil {
		return err
	}
	var line bytes.Buffer
	var row []string
	lines := linklist.New(&line, j.Format, j.List())
	for l := range r.Links.All() {
		line.Reset()
		row = l.AppendRow(row[:0], j.Rule.Probability)
		if err := errors.Join(lines.Write(row), lines.Flush(), t.out.add(LinksText, 0, line.Bytes())); err != nil {
			return err
		}
	}
	return errors.Join(r.Finish(), t.count(CountCompared, int64(r.Candidates)), t.count(CountPairs, int64(r.Links.Len())))
}

// tableFiles writes both tables as files, each with the columns that are compared.
func (t *task) tableFiles() (left, right *tableFile, err error) {
	fields := t.plan.Join.Rule.Fields
	var names [tables][]string
	for _, f := range fields {
		names[leftTable], names[rightTable] = append(names[leftTable], f.Left), append(names[rightTable], f.Right)
	}
	var files [tables]*tableFile
	for i, name := range []string{"left", "right"} {
		if files[i], err = t.newTableFile(name, names[i]); err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, files[i].close()) }()
	}
	values := make([][]byte, len(fields))
	err = t.each(TableRecords, func(r row) error {
		name, rest, err := cutPart(r.payload)
		for i := range values {
			if err == nil {
				values[i], rest, err = cutPart(rest)
			}
		}
		if err != nil {
			return err
		}
		of := leftTable
		if int(r.words[0]>>32) >= t.plan.Join.RightFile {
			of = rightTable
		}
		return files[of].add(name, values)
	})
	return files[leftTable], files[rightTable], err
}

// tableFile is a table in a temporary file of CSV.
type tableFile struct {
	path    string
	columns []string // the first one has the ids
	from    []int    // of each other column, which value of a record it has
	count   int
	file    io.Closer
	rows    *csv.Writer
	row     []string
}

// newTableFile begins a file with columns of these names, some of which may be the same.
func (t *task) newTableFile(name string, names []string) (*tableFile, error) {
	f := &tableFile{columns: []string{"id"}}
	for slices.Contains(names, f.columns[0]) {
		f.columns[0] += "_"
	}
	for i, column := range names {
		if !slices.Contains(f.columns, column) {
			f.columns, f.from = append(f.columns, column), append(f.from, i)
		}
	}
	name = t.space.Unique(name, ".csv")
	file, err := t.space.Create(name)
	if err != nil {
		return nil, err
	}
	if f.path, err = t.space.PathOf(name); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.file, f.rows = file, csv.NewWriter(bufio.NewWriterSize(file, 1<<18))
	return f, f.rows.Write(f.columns)
}

// add adds a record; one without a name has its number.
func (f *tableFile) add(name []byte, values [][]byte) error {
	f.count++
	if len(name) == 0 {
		name = strconv.AppendInt(nil, int64(f.count), 10)
	}
	f.row = append(f.row[:0], string(name))
	for _, i := range f.from {
		f.row = append(f.row, string(values[i]))
	}
	return f.rows.Write(f.row)
}

func (f *tableFile) close() error {
	f.rows.Flush()
	return scratch.Error(errors.Join(f.rows.Error(), f.file.Close()))
}
