package corpus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/parquetfile"
	"github.com/alike-dev/alike/internal/setting"
)

// Parquet files keep the values of a column together, so a record has no bytes
// of its own in the file. The reader puts the wanted values of a row into a
// frame, which is the record's Raw:
//
//	frame  size of what follows, 4 bytes little-endian │ id │ fields … │ text
//	value  uvarint(0) for null, else uvarint(1 + length) and the bytes
//
// A frame of size 0 is a row with a value over MaxRecord. A block is the frames
// of some thousand rows, at the invented offset Seq<<offsetBits. Pages are
// decoded and framed in parallel, and blocks handed out as those of compressed
// units are (see units.go), so that damage ends the file at the same row for
// any number of workers.
const (
	offsetBits = 36
	frameHead  = 4
)

// parquetRows are the rows of one file.
type parquetRows struct {
	bytes  RandomAccess // nil when closed
	f      *parquetfile.File
	r      *parquetfile.Reader
	text   int   // columns of a piece
	id     int   // -1: none
	fields []int // -1: not there
}

// openParquet reads the description at the end of the file.
func (f *File) openParquet() error {
	f.cut.init(f)
	f.turn.init()
	p, err := f.parquetBytes()
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
		if err := f.checkColumn(pf, name, at, text); err != nil {
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
	if p.text, err = want(f.o.TextField, true); err != nil {
		return err
	}
	if f.o.IDField != NoID {
		if p.id, err = want(f.o.IDField, false); err != nil {
			return err
		}
	}
	for _, name := range f.o.Fields {
		at, err := want(name, false)
		if err != nil {
			return err
		}
		p.fields = append(p.fields, at)
	}
	if p.r, err = pf.NewReader(columns, f.o.BlockSize, f.o.MaxRecord); err != nil {
		return f.parquetProblem(err, -1)
	}
	f.columns.Names = pf.Names()
	return nil
}

// parquetBytes opens the bytes of a Parquet file and reads its description. They
// are closed with f.
func (f *File) parquetBytes() (*parquetRows, error) {
	switch {
	case f.src.Compression != Plain:
		return nil, &Problem{Path: f.src.Label(), Err: errPacked}
	case f.src.Stream:
		return nil, &Problem{Path: f.src.Label(), Err: fault.Because(ErrUnsupported, "a Parquet file cannot be read from a stream, its description stands at its end; copy it to a file")}
	}
	at, err := f.src.OpenAt(f.ctx, f.o)
	if err != nil {
		return nil, err
	}
	f.parquet, f.size = &parquetRows{bytes: at, id: -1}, at.Size()
	if f.parquet.f, err = parquetfile.Open(at, at.Size()); err != nil {
		return nil, f.parquetProblem(err, -1)
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

var errPacked = fault.Because(ErrUnsupported, "a compressed Parquet file; decompress it: Parquet compresses inside of its files")

// isPackedParquet tells by its name whether a file is a compressed Parquet
// file.
func isPackedParquet(path string) bool {
	base, c := cutCompression(filepath.Base(path))
	return c != Plain && strings.HasSuffix(base, ".parquet")
}

// checkColumn checks that a column can be read.
func (f *File) checkColumn(pf *parquetfile.File, name string, at int, text bool) error {
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

// parquetProblem words an error of package parquetfile. row is the first that is
// lost, -1 where all are.
func (f *File) parquetProblem(err error, row int64) *Problem {
	kind, remedy := ErrCorrupt, setting.Textf("get a whole copy of the file")
	switch {
	case errors.Is(err, parquetfile.ErrNotParquet):
		remedy = setting.Textf("check its name, or give %s", setting.Format)
	case errors.Is(err, parquetfile.ErrTruncated):
		kind = ErrTruncated
	case errors.Is(err, parquetfile.ErrEncrypted):
		kind, remedy = ErrUnsupported, setting.Textf("decrypt it")
	case errors.Is(err, parquetfile.ErrUnsupported):
		kind, remedy = ErrUnsupported, setting.Textf("write it anew with other settings, or convert it to JSONL")
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
	case isUnread: // its text has a remedy
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
		f.turn.wait(f.unitSeq) // who has the lock and waits for all turns has the cutter
		return c.finish()
	}
	piece, err := f.parquet.r.Next()
	if err != nil {
		defer f.mu.Unlock()
		f.turn.wait(f.unitSeq)
		if err != io.EOF && !c.done && c.err == nil && !c.bomb() {
			c.err = f.parquetProblem(err, c.lines)
		}
		return c.finish()
	}
	seq := f.unitSeq
	f.unitSeq++
	f.mu.Unlock()

	defer piece.Release()
	rows, err := piece.Load()
	var frames []byte
	if f.skip == nil || !f.skip(seq) { // damage and bytes count in any case
		frames = f.parquet.frame(b, piece, rows, f.o.MaxRecord)
	}
	bytes := piece.Bytes(rows)
	f.turn.wait(seq)
	defer f.turn.leave()
	if f.failed.Load() {
		return io.EOF // behind the damage that another call has told, or will tell
	}
	if c.bomb() {
		return c.finish()
	}
	c.expanded.add(int64(rows), bytes)
	c.lines += int64(rows)
	if err != nil {
		f.failed.Store(true)
		c.err = f.parquetProblem(err, c.lines)
		if rows == 0 {
			return c.finish()
		}
	}
	b.Seq, b.Offset, b.Lines, b.data = seq, seq<<offsetBits, int64(rows), frames
	return nil
}

// frame makes the frames of the first rows of a piece, in the block's memory.
func (p *parquetRows) frame(b *Block, piece *parquetfile.Piece, rows int, limit int64) []byte {
	cells := make([]parquetfile.Cells, 0, 2+len(p.fields))
	order := make([]int, 0, cap(cells)) // of the values in a frame: places in cells, -1 = null
	place := map[int]int{}
	add := func(column int) {
		at := -1
		if column >= 0 {
			var there bool
			if at, there = place[column]; !there {
				at = len(cells)
				place[column] = at
				cells = append(cells, piece.Cells(column))
			}
		}
		order = append(order, at)
	}
	add(p.id)
	for _, column := range p.fields {
		add(column)
	}
	add(p.text)
	values := make([]frameValue, len(cells))
	buf := b.buf[:0]
	for range rows {
		for i := range cells {
			v, ok := cells[i].Next()
			values[i] = frameValue{v, ok}
		}
		start := len(buf)
		buf = append(buf, 0, 0, 0, 0)
		for k, at := range order {
			if at < 0 || !values[at].ok {
				buf = append(buf, 0)
				continue
			}
			long := false
			if buf, long = appendValue(buf, cells[at].Leaf, values[at].v, k == len(order)-1, limit); long {
				buf = buf[:start+frameHead]
				break
			}
		}
		size := len(buf) - start - frameHead
		if size > math.MaxUint32 {
			buf, size = buf[:start+frameHead], 0
		}
		binary.LittleEndian.PutUint32(buf[start:], uint32(size))
	}
	b.buf = buf
	return buf
}

type frameValue struct {
	v  []byte
	ok bool
}

// appendValue appends a value to a frame; the text as it is, others in their
// canonical text form.
func appendValue(buf []byte, leaf *parquetfile.Leaf, v []byte, text bool, limit int64) (_ []byte, long bool) {
	if int64(len(v)) > limit {
		return buf, true
	}
	if text || leaf.IsText() {
		buf = binary.AppendUvarint(buf, uint64(len(v))+1)
		return append(buf, v...), false
	}
	var scratch [64]byte
	shown := leaf.AppendText(scratch[:0], v)
	if int64(len(shown)) > limit {
		return buf, true
	}
	buf = binary.AppendUvarint(buf, uint64(len(shown))+1)
	return append(buf, shown...), false
}

// nextFrame cuts the next frame off the block.
func (p *Parser) nextFrame(r *Record) bool {
	rest := p.data[p.pos:]
	if len(rest) < frameHead {
		return false
	}
	size := int(binary.LittleEndian.Uint32(rest))
	n := frameHead + size
	*r = Record{Offset: p.block.Offset + int64(p.pos), Line: p.line}
	if size == 0 {
		r.Err = tooLong(p.o.MaxRecord)
	} else {
		r.Raw = rest[:n:n]
	}
	p.pos += n
	p.line++
	return true
}

// parseFrame fills r from a frame.
func (p *Parser) parseFrame(r *Record) {
	rest := r.Raw[min(frameHead, len(r.Raw)):]
	value := func() (v []byte) {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n)+1 {
			r.Err = fault.Because(ErrMalformed, "no record of a Parquet file")
			rest = nil
			return nil
		}
		rest = rest[n:]
		if size > 0 {
			v, rest = rest[:size-1:size-1], rest[size-1:]
		}
		return v
	}
	if id := value(); len(id) > 0 {
		r.ID = id
	}
	for i := range p.fields {
		p.fields[i] = value()
	}
	r.Fields = p.fields
	r.Text = value()
	if r.Err == nil && r.Text == nil {
		r.Err = fault.Because(ErrMissingField, "column %q is null; give it a text or remove the row", p.o.TextField)
	}
}
