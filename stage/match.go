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

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/linklist"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/linkage"
)

// For a Join with a Rule, and for Dedup of records, package linkage decides in one task that has all records:
//
//	records → match → write              records → names → match → write
//	values    links   lines              values    repeats   records to keep
//
// One task must decide, because a decision depends on all candidates: on the model that is learned from them,
// and on the other candidates of the same records. Many tasks read the tables and send their values to that one.

// gather sends the values of records to stage match, and for Dedup their names to stage names.
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

// match joins two tables, or one with itself, on all processors of the process.
func match(t *task) (err error) {
	j := t.plan.Join
	c := j.Rule.config()
	c.Memory, c.Sources, c.SourcesFound = t.space.Ceiling, j.Sources, len(j.Sources) > 0
	if t.plan.Command == Join {
		c.With = j.Others
	} else {
		c.Clusters, c.Even = !j.Rule.Connected, true
	}
	left, right, err := newTableFiles(t)
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
		err = keepOfRecords(t, r)
	} else {
		err = errors.Join(listLinks(t, r), t.count(CountPairs, int64(r.Linked)))
	}
	report := r.Report
	report.LeftOut, report.Notes = append([]linkage.LeftOut{}, j.Rule.LeftOut...), slices.Concat(j.Rule.Notes, report.Notes)
	told, failed := json.Marshal(struct {
		*linkage.Report
		Text string `json:"text"` // the report in words
	}{&report, report.String()})
	return errors.Join(err, failed, t.out.add(Told, 0, told), r.Finish(), t.count(CountCompared, int64(r.Candidates)))
}

// listLinks makes the lines of the list of links.
func listLinks(t *task, r *linkage.Result) error {
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

// handOn copies the lines of stage match to LinksText. It is a stage of its own because engines take the
// lines from the stage Write, and run match like any other stage.
func handOn(t *task) error {
	return t.each(MatchedText, func(r row) error { return t.out.add(LinksText, 0, r.payload) })
}

// newTableFiles writes the tables to files, each with the columns that the join needs. If there is one table,
// right is nil.
func newTableFiles(t *task) (left, right *tableFile, err error) {
	j := t.plan.Join
	var names [tables][]string
	for _, f := range j.Rule.Fields {
		names[leftTable], names[rightTable] = append(names[leftTable], f.Left), append(names[rightTable], f.Right)
	}
	others := j.Others
	if t.plan.Command != Join { // only their length matters
		others = make([]string, len(others))
	}
	for i := range names {
		names[i] = slices.Concat(names[i], others, j.Sources)
	}
	var files [tables]*tableFile
	for i, name := range []string{"left", "right"} {
		if i == rightTable && j.RightFile == 0 {
			break
		}
		if files[i], err = newTableFile(t.space, name, names[i]); err != nil {
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

// tableFile is a table in a temporary CSV file.
type tableFile struct {
	path    string
	columns []string // the first one has the ids
	from    []int    // for each other column, the index of its value in tableRecord.values
	count   int
	file    io.Closer
	rows    *csv.Writer
	row     []string
}

// newTableFile begins a file with columns of these names; "" is none. A name that comes twice gets one column.
func newTableFile(space *scratch.Space, name string, names []string) (*tableFile, error) {
	f := &tableFile{columns: []string{"id"}}
	for slices.Contains(names, f.columns[0]) {
		f.columns[0] += "_"
	}
	for i, column := range names {
		if column != "" && !slices.Contains(f.columns, column) {
			f.columns, f.from = append(f.columns, column), append(f.from, i)
		}
	}
	name = space.Unique(name, ".csv")
	file, err := space.Create(name)
	if err != nil {
		return nil, err
	}
	if f.path, err = space.PathOf(name); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.file, f.rows = file, csv.NewWriter(bufio.NewWriterSize(file, 1<<18))
	return f, f.rows.Write(f.columns)
}

// add adds a record. The id of a record without a name of its own is its number in the table, from 1 on.
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
	return fault.InWorkFolder(errors.Join(f.rows.Error(), f.file.Close()))
}
