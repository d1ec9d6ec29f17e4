package stage

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/linkage"
)

// A Join with a Rule, and Dedup of records, are decided by package linkage, in one task that has all records:
//
//	records → match → write              records → names → match → write
//	values    links   lines              values    repeats   whom each cluster keeps
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
	// Originals are the tables, whose records come as copies.
	Originals [tables]linkage.Original `json:"originals"`
	// GuessedID is the column of ids that nobody has named, of Dedup: the join ends if they are not unique.
	GuessedID string `json:"guessed_id,omitempty"`
	// Unused and Notes were told when the plan was made, and are told again with what the join has come to.
	Unused []linkage.Unused `json:"unused,omitempty"`
	Notes  []string         `json:"notes,omitempty"`
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
		Copies: r.Originals, Fields: r.Fields, Match: r.Match, Threshold: r.Threshold, Precision: r.Precision, Top: r.Top, Model: r.Model,
		Weighing: r.Weighing, Searching: r.Searching, Fail: true,
		Corpus: corpus.Options{MaxRecord: 2 * MaxBlock}, // quotes are doubled
	}
	if c.Model != nil {
		c.Fields = nil
	}
	return c
}

const rowMade = 1 // a flag of TableRecords

// gather hands on the values of records, and for Dedup what else it asks of documents.
func gather(t *task) error {
	dedup := t.plan.Command == Dedup
	var payload []byte
	n, err := t.in.Documents(t.ctx, everything, func(d *Document) error {
		switch {
		case d.Damaged && dedup:
			return t.out.add(Damaged, t.number, nil, d.Position)
		case d.Damaged:
			return nil
		}
		if err := t.plan.Join.check(d); err != nil {
			return err
		}
		flags := uint64(0)
		if d.Made {
			flags = rowMade
		}
		if d.Field != nil {
			flags |= cardHasField << 1
		}
		payload = appendPart(payload[:0], d.Name)
		for _, value := range d.Fields {
			payload = appendPart(payload, value)
		}
		if dedup {
			payload = appendPart(payload, d.Field)
			hash := hashing.Bytes(d.Name)
			if err := t.out.add(Names, t.plan.hashed(hash), d.Name, hash, d.Position, flags&rowMade); err != nil {
				return err
			}
		}
		return t.out.add(TableRecords, 0, payload, d.Position, flags)
	})
	return errors.Join(err, t.count(CountRead, n.Read), t.count(CountSkipped, n.Skipped))
}

// match joins the tables, or the one with itself, on all processors that the process has.
func match(t *task) (err error) {
	j := t.plan.Join
	c := j.Rule.config()
	c.Memory = t.space.Ceiling
	if t.plan.Command == Join {
		c.With = j.Others
	}
	left, right, err := t.tableFiles()
	if err != nil {
		return err
	}
	c.Left, c.LeftID = left.path, left.columns[0]
	if right != nil {
		c.Right, c.RightID = right.path, right.columns[0]
	}
	r, err := linkage.Join(t.ctx, c)
	if err != nil {
		return err
	}
	if t.plan.Command == Dedup {
		err = t.keepOfRecords(r)
	} else {
		err = errors.Join(t.listLinks(r), t.count(CountPairs, int64(r.Linked)))
	}
	report := r.Report
	report.Unused, report.Notes = j.Rule.Unused, slices.Concat(j.Rule.Notes, report.Notes)
	told, failed := json.Marshal(struct {
		*linkage.Report
		Text string `json:"text"` // that says it in words
	}{&report, report.String()})
	return errors.Join(err, failed, t.out.add(Told, 0, told), r.Finish(), t.count(CountCompared, int64(r.Candidates)))
}

// listLinks makes the lines of the list.
func (t *task) listLinks(r *linkage.Result) error {
	j := t.plan.Join
	var line bytes.Buffer
	var row []string
	lines := linklist.New(&line, j.Format, j.List())
	for l := range r.Links.All() {
		line.Reset()
		row = l.AppendRow(row[:0], j.Rule.Probability)
		if err := errors.Join(lines.Write(row), lines.Flush(), t.out.add(MatchedText, 0, line.Bytes())); err != nil {
			return err
		}
	}
	return nil
}

// handOn hands the lines on to where those of all joins are. It is a stage of its own so that engines, which take
// the lines from the last stage, run match as any other.
func handOn(t *task) error {
	return t.each(MatchedText, func(r row) error { return t.out.add(LinksText, 0, r.payload) })
}

// tableFiles writes the tables as files, each with the columns that the join needs. There is no right one of
// one table.
func (t *task) tableFiles() (left, right *tableFile, err error) {
	j := t.plan.Join
	var names [tables][]string
	for _, f := range j.Rule.Fields {
		names[leftTable], names[rightTable] = append(names[leftTable], f.Left), append(names[rightTable], f.Right)
	}
	if t.plan.Command == Join {
		names[leftTable], names[rightTable] = append(names[leftTable], j.Others...), append(names[rightTable], j.Others...)
	}
	var files [tables]*tableFile
	for i, name := range []string{"left", "right"} {
		if i == rightTable && j.RightFile == 0 {
			break
		}
		if files[i], err = t.newTableFile(name, names[i]); err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, files[i].close()) }()
	}
	err = t.eachTableRow(func(r *tableRecord) error {
		of := leftTable
		if j.RightFile > 0 && int(r.position>>32) >= j.RightFile {
			of = rightTable
		}
		return files[of].add(r)
	})
	return files[leftTable], files[rightTable], err
}

// tableRecord is a row of TableRecords. Its slices hold during the visit.
type tableRecord struct {
	position uint64
	made     bool // its name
	name     []byte
	values   [][]byte // of Columns, then Others
	meta     cluster.Meta
}

// eachTableRow visits the records of all tables, in order.
func (t *task) eachTableRow(visit func(r *tableRecord) error) error {
	j := t.plan.Join
	of := tableRecord{values: make([][]byte, len(j.Columns)+len(j.Others))}
	return t.each(TableRecords, func(r row) error {
		of.position, of.made = r.words[0], r.words[1]&rowMade != 0
		name, rest, err := cutPart(r.payload)
		of.name = name
		for i := range of.values {
			if err == nil {
				of.values[i], rest, err = cutPart(rest)
			}
		}
		if err == nil && t.plan.Command == Dedup {
			var field []byte
			field, _, err = cutPart(rest)
			of.meta = cluster.Meta{Value: string(field), HasValue: r.words[1]&(cardHasField<<1) != 0}
			for _, value := range of.values[len(j.Columns):] {
				of.meta.Length += int64(len(value))
			}
		}
		if err != nil {
			return err
		}
		return visit(&of)
	})
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

// add adds a record; one without a name of its own has its number.
func (f *tableFile) add(r *tableRecord) error {
	f.count++
	name := r.name
	if r.made {
		name = strconv.AppendInt(nil, int64(f.count), 10)
	}
	f.row = append(f.row[:0], string(name))
	for _, i := range f.from {
		f.row = append(f.row, string(r.values[i]))
	}
	return f.rows.Write(f.row)
}

func (f *tableFile) close() error {
	f.rows.Flush()
	return scratch.Error(errors.Join(f.rows.Error(), f.file.Close()))
}
