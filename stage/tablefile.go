package stage

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/scratch"
)

const rowMade = 1 // a flag of TableRecords

// tableRecord is a row of TableRecords. Its slices are valid during the visit only.
type tableRecord struct {
	position uint64
	made     bool // the record has no name of its own
	name     []byte
	values   [][]byte // of Tables.Columns, Others and Sources
	meta     cluster.Meta
}

// eachTableRow visits the records of all tables, in order.
func (t *task) eachTableRow(visit func(r *tableRecord) error) error {
	j := t.plan.Join
	of := tableRecord{values: make([][]byte, j.values())}
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
			for _, value := range of.values[len(j.Columns) : len(j.Columns)+len(j.Others)] {
				of.meta.Length += int64(len(value))
			}
		}
		if err != nil {
			return err
		}
		return visit(&of)
	})
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
	return scratch.Error(errors.Join(f.rows.Error(), f.file.Close()))
}
