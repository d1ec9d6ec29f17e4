package linkage

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/columns"
)

// Stacked describes several tables that were written as one by Stack.Write.
type Stacked struct {
	ID     string   // column of the ids of the one table: the name of a record's table, a colon, and its id there
	Table  string   // column that names the table of a record
	Unique string   // column that names it if the table has each thing once, and is empty otherwise
	Names  []string // of the tables' own columns that are compared
	Notes  []string // which columns of other names hold the same
	tables []stackedTable
}

// A stackedTable is one of several tables.
type stackedTable struct {
	name  string
	after int // number of the records of this table and those before it
}

// A Stack is several tables that are to be written as one.
type Stack struct {
	Tables  []string // see TableFiles; also their names
	ID      string   // column of the ids in the tables that have it; "": id, otherwise the first column of several
	Unique  []string // of Tables: those that have each thing once
	Corpus  corpus.Options
	Skipped func(*corpus.Problem) error // is called for each record that cannot be read; an error ends the work
}

// Write writes the tables as the files of one table: create returns the CSV file for the records of the table with this
// number. Columns meet by name, else by the words they hold, and what a table lacks is empty. Ids are not compared, so their
// columns are left out.
// Records without an id are named by their numbers.
func (s *Stack) Write(ctx context.Context, create func(table int) (io.WriteCloser, error)) (*Stacked, error) {
	for _, name := range s.Unique {
		if !slices.Contains(s.Tables, name) {
			return nil, setting.Errorf("%s: %s is none of the tables, which are %s", setting.Unique, fault.Shown(name), fault.List(s.Tables))
		}
	}
	var sources []*source
	var meeting columns.Meeting
	var notes, apart []string                 // apart: all columns, ids too, from which the added ones must differ
	called := make([][]string, len(s.Tables)) // of each table, the names of its columns in the one table
	for i, name := range s.Tables {
		if slices.Contains(s.Tables[:i], name) {
			return nil, setting.Errorf("%s is named twice: its records would be doubles of themselves", fault.Shown(name))
		}
		of, err := s.open(ctx, name)
		if err != nil {
			return nil, err
		}
		sources, apart = append(sources, of), withAll(apart, of.columns, nil)
		rows, _, err := of.sample(ctx, sampleRows)
		if err != nil {
			return nil, err
		}
		called[i] = meeting.Add(&columns.Sample{Names: of.columns, ID: of.id, Rows: rows})
		for c, now := range called[i] {
			if before := of.columns[c]; now != "" && now != before {
				notes = append(notes, fmt.Sprintf("%s: column %s is compared as %s", fault.Shown(name), fault.Shown(before), fault.Shown(now)))
			}
		}
	}
	if s.ID != "" && s.ID != corpus.NoID && !slices.Contains(apart, s.ID) {
		return nil, setting.Errorf("no table has a column %q for the ids (%s)", s.ID, setting.IDField)
	}
	added := func(name string) string {
		for slices.Contains(apart, name) {
			name += "_"
		}
		apart = append(apart, name)
		return name
	}
	all := &Stacked{ID: added("record"), Table: added("table"), Unique: added("unique"), Names: meeting.Names(), Notes: notes}
	header := slices.Concat([]string{all.ID, all.Table, all.Unique}, all.Names)
	records := 0
	for i, name := range s.Tables {
		unique := ""
		if slices.Contains(s.Unique, name) {
			unique = name
		}
		out, err := create(i)
		if err != nil {
			return nil, err
		}
		w := csv.NewWriter(out)
		err = w.Write(header)
		if err == nil {
			var n int
			n, err = s.write(ctx, w, sources[i], places(all.Names, called[i]), name, unique)
			records += n
		}
		w.Flush()
		if err := errors.Join(err, w.Error(), out.Close()); err != nil {
			return nil, err
		}
		all.tables = append(all.tables, stackedTable{name, records})
	}
	return all, nil
}

// Columns returns the columns of a table in their order, and the one of the ids, as Write takes them.
func (s *Stack) Columns(ctx context.Context, name string) (names []string, id string, err error) {
	of, err := s.open(ctx, name)
	if err != nil {
		return nil, "", err
	}
	return of.columns, of.id, nil
}

// open finds a table. The column of the ids is that of the settings where the table has it.
func (s *Stack) open(ctx context.Context, name string) (*source, error) {
	of, err := findSource(ctx, name, "", s.Corpus)
	if err == nil && (s.ID == corpus.NoID || slices.Contains(of.columns, s.ID)) {
		return findSource(ctx, name, s.ID, s.Corpus)
	}
	return of, err
}

// places returns, of each column of the one table, its place in a table whose columns are called so; −1: it lacks it.
func places(names, called []string) []int {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = slices.Index(called, name)
	}
	return at
}

// write writes the records of a table, and returns their number. at has the place of each column in it.
func (s *Stack) write(ctx context.Context, w *csv.Writer, of *source, at []int, name, unique string) (records int, err error) {
	row := make([]string, 3+len(at))
	row[1], row[2] = name, unique
	for _, file := range of.files {
		err := of.eachWithProblems(ctx, file, s.Skipped, func(r *corpus.Record) error {
			records++
			id := string(r.ID)
			if id == "" {
				id = strconv.Itoa(records)
			}
			row[0] = name + ":" + id
			for i, place := range at {
				if row[3+i] = ""; place >= 0 {
					row[3+i] = string(r.Fields[place])
				}
			}
			return w.Write(row)
		})
		if err != nil {
			return records, err
		}
	}
	return records, nil
}

// eachWithProblems calls visit for the records of a file of the table, with the values of all columns, and skipped for
// those that cannot be read.
func (s *source) eachWithProblems(ctx context.Context, file corpus.Source, skipped func(*corpus.Problem) error, visit func(*corpus.Record) error) (err error) {
	o := s.options
	o.Fields = s.columns
	f, err := corpus.Open(ctx, file, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := block{file: f, parser: corpus.NewParser(o)}
	defer b.Release()
	told := teller{onSkip: skipped}
	for {
		if err := f.Next(&b.Block); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		b.parser.Start(f, &b.Block)
		var failed error
		problems := b.each(func(r *corpus.Record) {
			if failed == nil {
				failed = visit(r)
			}
		})
		if err := errors.Join(failed, told.add(&b, problems), ctx.Err()); err != nil {
			return err
		}
	}
}

// Of returns the table of a record of the one table by its number, and the record's id there by its id in the one table.
func (s *Stacked) Of(row int, id []byte) (table, own string) {
	name := s.tables[sort.Search(len(s.tables), func(i int) bool { return s.tables[i].after > row })].name
	return name, string(id[len(name)+1:])
}
