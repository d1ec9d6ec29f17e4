package linkage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/record"
)

// source is a table before it is read.
type source struct {
	name    string // as the user has named it
	files   []corpus.Source
	options corpus.Options // without fields
	columns []string       // those of all files
	id      string         // column of the ids; "": rows are named by their number
}

// TableFiles returns the files of a table: one, or those of a folder, a prefix of a bucket or a
// glob, one behind the other. All of them must be tables, but for what engines put beside their
// output, such as _SUCCESS: files whose names begin with _ or a dot.
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

// find finds a table and its columns. id is the wanted column of ids; "": the column id, else
// the first one.
func find(ctx context.Context, input, id string, o corpus.Options) (*source, error) {
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
		return nil, setting.Errorf("%s has no columns: a table begins with a line of their names", fault.Shown(input))
	case s.checkEncoding() != nil:
		return nil, s.checkEncoding()
	case id != "" && id != corpus.NoID && !slices.Contains(s.columns, id):
		return nil, setting.Errorf("%s has no column %q for the ids, there are: %s", fault.Shown(input), id, fault.List(s.columns))
	case id == corpus.NoID:
	case id != "":
		s.id = id
	case slices.Contains(s.columns, "id"):
		s.id = "id"
	default:
		s.id = s.columns[0]
	}
	s.options.IDField = cmp.Or(s.id, corpus.NoID)
	return s, nil
}

// sample returns the first records of a table, each column's value a slice of its own.
func (s *source) sample(ctx context.Context, n int) (rows [][][]byte, err error) {
	err = s.each(ctx, s.columns, func(r *corpus.Record) (more bool, err error) {
		if r.Err == nil {
			row := make([][]byte, len(r.Fields))
			for i, v := range r.Fields {
				row[i] = bytes.Clone(v)
			}
			rows = append(rows, row)
		}
		return len(rows) < n, nil
	})
	return rows, err
}

// each calls visit for the records of a table, with the values of columns, as long as it wants
// more. What cannot be read has the line within its file.
func (s *source) each(ctx context.Context, columns []string, visit func(*corpus.Record) (more bool, err error)) error {
	o := s.options
	o.Fields = columns
	for _, f := range s.files {
		if more, err := eachOf(ctx, f, o, visit); !more || err != nil {
			return err
		}
	}
	return nil
}

// eachOf is each for one file. It tells whether more records are wanted.
func eachOf(ctx context.Context, s corpus.Source, o corpus.Options, visit func(*corpus.Record) (more bool, err error)) (more bool, err error) {
	f, err := corpus.Open(ctx, s, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p := corpus.NewParser(o)
	var b corpus.Block
	defer b.Release()
	for line := int64(0); ; line += b.Lines {
		if err := f.Next(&b); err == io.EOF {
			return true, nil
		} else if err != nil {
			return false, err
		}
		p.Start(f, &b)
		for r := (corpus.Record{}); p.Next(&r); {
			r.Line += line + 1
			if more, err := visit(&r); !more || err != nil {
				return false, err
			}
		}
	}
}

// reader reads a table with several goroutines, each block by one of them.
type reader struct {
	*source
	kinds       []record.Kind
	repetitions bool
	onSkip      func(*corpus.Problem) error
	grown       func() error // called when the table has grown: it may be too large

	index *rowIndex             // nil: all rows are held
	hold  func(row uint32) bool // with an index: tells which rows are

	mu    sync.Mutex
	table *record.Table
	// Of the file that is read:
	chunks   []*record.Chunk // by block; nil: not there yet, or in the table
	added    int             // how many of them the table has
	problems []blockProblem
	lines    []int64 // of each block
}

// blockProblem is a record that was skipped, by its place.
type blockProblem struct {
	block, line int64
	offset      int64
	err         error
}

// read reads a table: the given columns, cut as kinds say, and the columns keep, which are
// handed on.
func (r *reader) read(ctx context.Context, threads int, columns, keep []string) error {
	fields := slices.Concat(columns, keep)
	for i := range r.files {
		if err := r.readFile(ctx, threads, i, fields); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads the next file of the table.
func (r *reader) readFile(ctx context.Context, threads, file int, fields []string) error {
	r.chunks, r.added, r.problems, r.lines = nil, 0, nil, nil
	return r.eachBlock(ctx, threads, file, fields, func(int) func(*block) error {
		cutter := record.NewCutter()
		cutter.Repetitions = r.repetitions
		return func(b *block) error {
			chunk := record.NewChunk(r.kinds)
			row := r.index.first(file, b.Seq)
			problems := b.each(func(rec *corpus.Record) {
				if r.index == nil || r.hold(row) {
					chunk.Append(cutter, rec.ID, rec.Fields[:len(r.kinds)], rec.Fields[len(r.kinds):]...)
					if r.index != nil {
						chunk.Number(row)
					}
				}
				row++
			})
			if !r.index.ends(file, b.Seq, row) {
				return r.changed()
			}
			return r.put(b, chunk, problems)
		}
	}, r.tell)
}

// put adds the chunk of a block to the table as soon as those before it are there.
func (r *reader) put(b *block, chunk *record.Chunk, problems []blockProblem) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for int64(len(r.chunks)) <= b.Seq {
		r.chunks, r.lines = append(r.chunks, nil), append(r.lines, 0)
	}
	r.chunks[b.Seq], r.lines[b.Seq] = chunk, b.Lines
	r.problems = append(r.problems, problems...)
	for ; r.added < len(r.chunks) && r.chunks[r.added] != nil; r.added++ {
		c := r.chunks[r.added]
		c.NameRows(r.table.Rows(), func(row int) string { return strconv.Itoa(row + 1) })
		r.table.Add(c)
		r.chunks[r.added] = nil
	}
	return r.grown()
}

// tell tells of the records that were skipped, in the order of the file.
func (r *reader) tell(f *corpus.File) error { return tell(f, r.lines, r.problems, r.onSkip) }

// tell tells of the records of a file that were skipped, in its order; its blocks have so many lines.
func tell(f *corpus.File, lines []int64, problems []blockProblem, onSkip func(*corpus.Problem) error) error {
	slices.SortFunc(problems, func(x, y blockProblem) int {
		return cmp.Or(cmp.Compare(x.block, y.block), cmp.Compare(x.offset, y.offset))
	})
	block, line := int64(0), int64(0)
	for _, p := range problems {
		for ; block < p.block; block++ {
			line += lines[block]
		}
		if err := onSkip(f.Problem(line+p.line, p.offset, p.err)); err != nil {
			return err
		}
	}
	return nil
}
