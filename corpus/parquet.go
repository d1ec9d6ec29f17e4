package corpus

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alike-dev/alike/corpus/internal/rowframe"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/parquetfile"
	"github.com/alike-dev/alike/internal/setting"
)

// Parquet files keep the values of a column together, so a record has no bytes of its own
// in the file: its Raw is a frame (package rowframe). A block is the frames of some
// thousand rows, at the artificial offset Seq<<offsetBits. Pages are decoded and framed
// in parallel, and blocks are returned in the order of compressed units (see units.go),
// so that damage ends the file at the same row for any number of workers.
const offsetBits = 36

// parquetRows are the rows of one file.
type parquetRows struct {
	bytes RandomAccess // nil when closed
	f     *parquetfile.File
	r     *parquetfile.Reader
	rowframe.Columns
}

// openParquet reads the metadata at the end of the file.
func openParquet(f *File) error {
	f.cut.f = f
	f.turn.init()
	p, err := parquetBytes(f)
	if err != nil {
		return err
	}
	pf := p.f
	var columns []int
	want := func(name string, text bool) (int, error) {
		at := pf.Column(name)
		if at < 0 && !text && !pf.Holds(name) {
			return -1, nil
		}
		if err := checkColumn(f, pf, name, at, text); err != nil {
			return -1, err
		}
		for i, c := range columns {
			if c == at {
				return i, nil
			}
		}
		columns = append(columns, at)
		return len(columns) - 1, nil
	}
	if p.Text = -1; !f.o.NoText {
		if p.Text, err = want(f.o.TextField, true); err != nil {
			return err
		}
	}
	if f.o.IDField != NoID {
		if p.ID, err = want(f.o.IDField, false); err != nil {
			return err
		}
	}
	for _, name := range f.o.Fields {
		at, err := want(name, false)
		if err != nil {
			return err
		}
		p.Fields = append(p.Fields, at)
	}
	if p.r, err = pf.NewReader(columns, f.o.BlockSize, f.o.MaxRecord); err != nil {
		return parquetProblem(f, err, -1)
	}
	f.columns.Names = pf.Names()
	return nil
}

// singleColumns adds the columns with one value a row.
func singleColumns(f *File, add func([]string)) error {
	for i, name := range f.Columns() {
		if !f.parquet.f.Leaves[i].IsList() {
			add([]string{name})
		}
	}
	return nil
}

// parquetBytes opens the bytes of a Parquet file and reads its metadata. They are closed
// with f.
func parquetBytes(f *File) (*parquetRows, error) {
	switch {
	case f.src.Compression != Plain:
		return nil, &Problem{Path: f.src.Label(), Err: errPacked}
	case f.src.Stream:
		return nil, &Problem{Path: f.src.Label(),
			Err: fault.Because(ErrUnsupported, "a Parquet file cannot be read from a stream, its metadata is at its end; copy it to a file")}
	}
	at, err := f.src.OpenAt(f.ctx, f.o)
	if err != nil {
		return nil, err
	}
	f.parquet, f.size = &parquetRows{bytes: at, Columns: rowframe.Columns{ID: -1}}, at.Size()
	if f.parquet.f, err = parquetfile.Open(at, at.Size()); err != nil {
		return nil, parquetProblem(f, err, -1)
	}
	return f.parquet, nil
}

func (p *parquetRows) close() error {
	if p.bytes == nil {
		return nil
	}
	err := p.bytes.Close()
	p.bytes = nil
	return err
}

// checkColumn checks that a column can be read.
func checkColumn(f *File, pf *parquetfile.File, name string, at int, text bool) error {
	problem := func(kind error, format string, args ...any) error {
		return &Problem{Path: f.src.Label(), Err: fault.Because(kind, format, args...)}
	}
	if at < 0 && pf.Holds(name) {
		var below []string
		for _, n := range pf.Names() {
			if strings.HasPrefix(n, name+".") {
				below = append(below, n)
			}
		}
		return problem(ErrNotString, "column %q is a group of columns: %s; name one of them", name, fault.List(below))
	}
	if at < 0 {
		return problem(ErrMissingField, "no column %q, there are: %s; name the column with the text (%s)", name, fault.List(pf.Names()), setting.TextField)
	}
	switch leaf := &pf.Leaves[at]; {
	case leaf.IsList():
		return problem(ErrNotString, "column %q is %s; name a column with one value a row", name, leaf.Type())
	case text && !leaf.IsText():
		return problem(ErrNotString, "column %q is %s, not a string; name the column with the text (%s)", name, leaf.Type(), setting.TextField)
	}
	return nil
}

// parquetProblem turns an error of package parquetfile into a Problem. row is the first
// lost row, -1 if all are lost.
func parquetProblem(f *File, err error, row int64) *Problem {
	kind, remedy := ErrCorrupt, setting.Textf("get a whole copy of the file")
	switch {
	case errors.Is(err, parquetfile.ErrNotParquet):
		remedy = setting.Textf("check its name, or give %s", setting.Format)
	case errors.Is(err, parquetfile.ErrTruncated):
		kind = ErrTruncated
	case errors.Is(err, parquetfile.ErrEncrypted):
		kind, remedy = ErrUnsupported, setting.Textf("decrypt it")
	case errors.Is(err, parquetfile.ErrUnsupported):
		kind, remedy = ErrUnsupported, setting.Textf("write it again with other settings, or convert it to JSONL")
	case errors.Is(err, parquetfile.ErrChanged):
		kind, remedy = ErrChanged, setting.Textf("run again when nothing writes to it")
	}
	lost := ""
	if row == 0 {
		lost = "none of its records is read"
	} else if row > 0 {
		lost = fmt.Sprintf("records after row %d are lost", row)
	}
	var text setting.Text
	var unread *fault.Unread
	switch isUnread := errors.As(err, &unread); {
	case isUnread: // the text already has a remedy
		kind, text = unread, setting.Textf("%v", unread)
		if lost != "" {
			text = setting.Textf("%v (%s)", unread, lost)
		}
	case lost != "":
		text = setting.Textf("%v, %s; %s", err, lost, remedy)
	default:
		text = setting.Textf("%v; %s", err, remedy)
	}
	return &Problem{Path: f.src.Label(), Line: max(row, 0), Err: fault.Caused(kind, err, "%v", text)}
}

// nextParquet claims, decodes and frames some rows.
func (f *File) nextParquet(b *Block) error {
	f.mu.Lock()
	c := &f.cut
	if f.failed.Load() {
		defer f.mu.Unlock()
		f.turn.wait(f.unitSeq) // a call that has the lock and has waited for all turns owns the cutter
		return c.finish()
	}
	piece, err := f.parquet.r.Next()
	if err != nil {
		defer f.mu.Unlock()
		f.turn.wait(f.unitSeq)
		if err != io.EOF && !c.done && c.err == nil && !c.bomb() {
			c.err = parquetProblem(f, err, c.lines)
		}
		return c.finish()
	}
	seq := f.unitSeq
	f.unitSeq++
	f.mu.Unlock()

	defer piece.Release()
	rows, err := piece.Load()
	var frames []byte
	if f.skip == nil || !f.skip(seq) { // damage and bytes count even in skipped blocks
		frames = f.parquet.Append(b.buf[:0], piece, rows, f.o.MaxRecord)
		b.buf = frames
	}
	bytes := piece.Bytes(rows)
	f.turn.wait(seq)
	defer f.turn.leave()
	if f.failed.Load() {
		return io.EOF // after damage that another call reports
	}
	if c.bomb() {
		return c.finish()
	}
	c.expanded.add(int64(rows), bytes)
	c.lines += int64(rows)
	if err != nil {
		f.failed.Store(true)
		c.err = parquetProblem(f, err, c.lines)
		if rows == 0 {
			return c.finish()
		}
	}
	b.Seq, b.Offset, b.Lines, b.data = seq, seq<<offsetBits, int64(rows), frames
	return nil
}
