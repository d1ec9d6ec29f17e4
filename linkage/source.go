package linkage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage/internal/columns"
	"github.com/alike-dev/alike/linkage/internal/held"
)

// source is a table before it is read.
type source struct {
	name    string // the user's name
	files   []corpus.Source
	options corpus.Options // without fields
	columns []string       // columns of all files
	id      string         // column of the ids; "": rows are named by their number
	of      Original       // the original, if it is a copy
}

// copied sets the original of a table that is a copy.
func (s *source) copied(of Original) {
	if of != (Original{}) {
		s.name, s.of = of.Name, of
	}
}

// TableFiles returns the files of a table in order: one, or the files of a folder, a prefix of a bucket or a
// glob. All of them must be tables. Files whose names begin with _ or a dot, such as the _SUCCESS that engines
// put beside their output, are ignored if they are no tables.
func TableFiles(ctx context.Context, input string, o corpus.Options) ([]corpus.Source, error) {
	files, skipped, err := corpus.Find(ctx, []string{input}, o)
	if err != nil {
		return nil, err
	}
	if len(skipped) > 0 {
		return nil, fmt.Errorf("%w; a table must be whole to be joined", &skipped[0])
	}
	if len(files) > 1 {
		tables := slices.DeleteFunc(slices.Clone(files), func(f corpus.Source) bool {
			return f.Format == corpus.Text && strings.ContainsRune("_.", rune(path.Base(filepath.ToSlash(f.Path))[0]))
		})
		if len(tables) > 0 {
			files = tables
		}
	}
	for _, f := range files {
		switch {
		case f.Format == corpus.Text || f.Format == corpus.Lines:
			return nil, setting.Errorf("%s is no table: name a .csv, .tsv, .jsonl or .parquet, or say what it is by %s", fault.Shown(f.Label()), setting.Format)
		case f.Stream:
			return nil, setting.Errorf("%s is a stream, and a table is read twice: copy it to a file", fault.Shown(f.Label()))
		}
	}
	return files, nil
}

// findSource finds a table and its columns. id is the column of the ids; "": the column id, else the first one of several.
func findSource(ctx context.Context, input, id string, o corpus.Options) (*source, error) {
	files, err := TableFiles(ctx, input, o)
	if err != nil {
		return nil, err
	}
	s := &source{name: input, files: files, options: o}
	s.options.NoText = true
	for _, f := range s.files {
		columns, err := corpus.Columns(ctx, f, s.options)
		if err != nil {
			return nil, err
		}
		s.columns = withAll(s.columns, columns, nil)
	}
	switch {
	case len(s.columns) == 0:
		return nil, s.noColumns(ctx)
	case s.checkEncoding() != nil:
		return nil, s.checkEncoding()
	case id != "" && id != corpus.NoID && !slices.Contains(s.columns, id):
		return nil, setting.Errorf("%s has no column %q for the ids, there are: %s", fault.Shown(input), id, fault.List(s.columns))
	case id == corpus.NoID:
	case id != "":
		s.id = id
	case slices.Contains(s.columns, "id"):
		s.id = "id"
	case len(s.columns) > 1: // else there would be nothing to compare
		s.id = s.columns[0]
	}
	s.options.IDField = cmp.Or(s.id, corpus.NoID)
	return s, nil
}

// noColumns returns the error for a table without columns. JSON Lines have them in their records: the first that cannot be
// read is the reason, or there is none.
func (s *source) noColumns(ctx context.Context) error {
	name, tabular := fault.Shown(s.name), false
	for _, f := range s.files {
		tabular = tabular || f.Format != corpus.JSONL
	}
	if tabular {
		return setting.Errorf("%s has no columns: a table begins with a line of their names", name)
	}
	for _, f := range s.files {
		if _, err := corpus.EachRecord(ctx, f, s.options, func(r *corpus.Record) (more bool, err error) {
			if r.Err != nil {
				return false, &corpus.Problem{Path: f.Path, Line: r.Line, Err: r.Err}
			}
			return true, nil
		}); err != nil {
			return err
		}
	}
	return noRecords{name}
}

// noRecords is the error for a table that has no columns since it has no records.
type noRecords struct{ name string }

func (e noRecords) Error() string { return e.name + " holds no records, so it has no columns" }

// Columns returns the names of a table's columns, and of the column that Join takes for the ids, given id (see
// Config.LeftID); "" if records are named by their numbers.
func Columns(ctx context.Context, table, id string, o corpus.Options) (columns []string, idColumn string, err error) {
	s, err := findSource(ctx, table, id, o)
	if err != nil {
		return nil, "", err
	}
	return s.columns, s.id, nil
}

// checkEncoding refuses a table that seems to be UTF-16.
func (s *source) checkEncoding() error {
	first := s.columns[0]
	wide := strings.HasPrefix(first, "\xff\xfe") || strings.HasPrefix(first, "\xfe\xff")
	if wide || slices.ContainsFunc(s.columns, func(name string) bool { return strings.Contains(name, "\x00") }) {
		return fmt.Errorf("%s is not UTF-8, it looks like UTF-16: convert it first, as by iconv -f UTF-16 -t UTF-8", fault.Shown(s.name))
	}
	return nil
}

// sampledFiles is the largest number of files of a table from which a sample is taken.
const sampledFiles = 16

// sampledFrom is the number of records, as a multiple of the sample, at equal distances among which a sample is taken.
const sampledFrom = 20

// sample returns the values of up to n records of a table, in slices of their own. They stand at equal distances, since
// tables may be sorted, in all files or in some at equal distances, since these may be of several origins. Of a large
// file they are of its first records. all tells whether they are all records of the table.
func (s *source) sample(ctx context.Context, n int) (rows [][][]byte, all bool, err error) {
	files := min(len(s.files), sampledFiles)
	all = files == len(s.files)
	o := s.options
	o.Fields = s.columns
	for i := range files {
		of := &spread{most: n / files, apart: 1}
		more, err := corpus.EachRecord(ctx, s.files[i*len(s.files)/files], o, of.visit)
		if err != nil {
			return nil, false, err
		}
		rows, all = append(rows, of.rows...), all && more && of.apart == 1
	}
	return rows, all, nil
}

// akin returns about n records of which many share a value in some columns, among as many as sample reads.
func (s *source) akin(ctx context.Context, of []int, n int) ([][][]byte, error) {
	files := min(len(s.files), sampledFiles)
	o := s.options
	o.Fields = s.columns
	akin := columns.NewAkin(of, n)
	for i := range files {
		left := sampledFrom * n / files
		if _, err := corpus.EachRecord(ctx, s.files[i*len(s.files)/files], o, func(r *corpus.Record) (more bool, err error) {
			if r.Err == nil {
				akin.See(r.Fields)
			}
			left--
			return left > 0, nil
		}); err != nil {
			return nil, err
		}
	}
	return akin.Rows(), nil
}

// A spread takes records at equal distances. Of twice as many as it may hold it leaves out every second one.
type spread struct {
	most, apart, seen int
	rows              [][][]byte
}

func (s *spread) visit(r *corpus.Record) (more bool, err error) {
	if r.Err != nil {
		return true, nil
	}
	if s.seen%s.apart == 0 {
		if len(s.rows) == s.most {
			for i := range s.most / 2 {
				s.rows[i] = s.rows[2*i]
			}
			s.rows, s.apart = s.rows[:s.most/2], 2*s.apart
		}
		if s.seen%s.apart == 0 {
			row := make([][]byte, len(r.Fields))
			for i, v := range r.Fields {
				row[i] = bytes.Clone(v)
			}
			s.rows = append(s.rows, row)
		}
	}
	s.seen++
	return s.seen < sampledFrom*s.most, nil
}

// each calls visit for the records of a table, with the values of columns, until visit wants no more. A record
// that cannot be read has Err set, and its line within the file.
func (s *source) each(ctx context.Context, columns []string, visit func(*corpus.Record) (more bool, err error)) error {
	o := s.options
	o.Fields = columns
	for _, f := range s.files {
		if more, err := corpus.EachRecord(ctx, f, o, visit); !more || err != nil {
			return err
		}
	}
	return nil
}

// withAll returns a list of columns, followed by those columns of two tables that it does not have.
func withAll(list, left, right []string) []string {
	list = slices.Clone(list)
	has := make(map[string]bool, len(list)+len(left))
	for _, name := range list {
		has[name] = true
	}
	for _, name := range slices.Concat(left, right) {
		if !has[name] {
			has[name], list = true, append(list, name)
		}
	}
	return list
}

// ReadKnown reads the links that a join wrote, or any other table of pairs of ids: from the columns left_id and
// right_id, else a and b, else the first two.
func ReadKnown(ctx context.Context, path string, o corpus.Options) (links []Known, err error) {
	s, err := findSource(ctx, path, corpus.NoID, o)
	if errors.As(err, new(noRecords)) {
		return nil, nil // of a join without a link
	} else if err != nil {
		return nil, err
	}
	if len(s.columns) < 2 {
		return nil, fmt.Errorf("%s has one column, %s: links are pairs of ids, such as left_id,right_id", fault.Shown(path), fault.List(s.columns))
	}
	names := s.columns[:2]
	for _, pair := range [][]string{{"left_id", "right_id"}, {"a", "b"}} {
		if slices.Contains(s.columns, pair[0]) && slices.Contains(s.columns, pair[1]) {
			names = pair
			break
		}
	}
	err = s.each(ctx, names, func(r *corpus.Record) (more bool, err error) {
		if r.Err != nil {
			return false, &corpus.Problem{Path: path, Line: r.Line, Err: r.Err}
		}
		links = append(links, Known{string(r.Fields[0]), string(r.Fields[1])})
		return true, nil
	})
	return links, err
}

// note notes what is unusual in the sample of a table.
func (s *source) note(ctx context.Context, sample [][][]byte, r *Result) error {
	if s.of != (Original{}) { // Choose has reported it
		return nil
	}
	repeated, err := s.repeatedColumns(ctx)
	if err != nil {
		return err
	}
	if at := slices.Index(repeated, ""); at >= 0 {
		repeated = slices.Delete(repeated, at, at+1)
		r.Notes = append(r.Notes, fmt.Sprintf("the first line of %s has no name for several columns, of which only the first is used: it must be the header, without a title above it", fault.Shown(s.name)))
	}
	if len(repeated) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s has columns of one name, %s: only the first of each is used; name them apart to compare the others", fault.Shown(s.name), fault.List(repeated)))
	}
	foreign := 0
	for _, row := range sample {
		if slices.ContainsFunc(row, func(value []byte) bool { return !utf8.Valid(value) }) {
			foreign++
		}
	}
	if foreign > 0 {
		remedy := "; convert it first, as by iconv -f LATIN1 -t UTF-8"
		if s.files[0].Format == corpus.Parquet {
			remedy = "" // of such a file a column may hold bytes
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%s is not UTF-8 in %d of the first %d records: words end at such bytes%s", fault.Shown(s.name), foreign, len(sample), remedy))
	}
	return nil
}

// repeatedColumns returns the names that the header of the first file has more than once.
func (s *source) repeatedColumns(ctx context.Context) (names []string, err error) {
	if len(s.files) == 0 || s.files[0].Format != corpus.CSV && s.files[0].Format != corpus.TSV {
		return nil, nil
	}
	f, err := corpus.Open(ctx, s.files[0], s.options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	names, _ = corpus.Repeated(f, nil)
	return names, nil
}

// noteEmpty notes sides without records.
func (r *Report) noteEmpty(t *held.Tables, left, right *source) {
	empty := func(s *source) {
		r.Notes = append(r.Notes, fmt.Sprintf("%s holds no records: there are no links", fault.Shown(s.name)))
	}
	if t.Left.Rows() == 0 {
		empty(left)
	}
	if t.Right != nil && t.Right.Rows() == 0 {
		empty(right)
	}
}
