package corpus

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/corpus/internal/delimited"
	"github.com/alike-dev/alike/corpus/internal/units"
	"github.com/alike-dev/alike/internal/bom"
)

// A File is an open source. Many goroutines may call Next at once; call Close when all of them have returned.
type File struct {
	ctx  context.Context // of Open
	src  Source
	kind *kind // of src.Format
	o    Options
	// anyBlock says that the options leave the size of blocks open.
	anyBlock bool
	file     RandomAccess // nil for a source that is no regular file
	size     int64        // of a regular file or an object; -1 for a stream
	// closer closes what is read front to back, such as an object or a FIFO; nil: nothing.
	closer io.Closer
	remote bool    // the source is an object
	headed *headed // what remembers the beginning of a compressed object; nil: nothing does
	skip   func(seq int64) bool

	encoding    bom.Encoding // of all formats but text, whose parser sees the mark
	header      []byte
	headerLines int64
	columns     *delimited.Columns
	comma       byte // separates the columns of csv

	failed  atomic.Bool  // nothing more is read
	plain   *plainBlocks // of a plain file of lines
	parquet *parquetRows // of a Parquet file

	// Everything else: see stream.go and units.go.
	mu      sync.Mutex                  // held while a unit is claimed, or a stream is read
	stream  codec.Reader                // the stream that is read now; nil: claim units
	units   units.Reader                // nil: no independent units
	unitSeq int64                       // of the next unit to claim
	turn    turnstile                   // orders the cutting of units
	serial  atomic.Pointer[units.Place] // from here on units are too large
	cut     cutter
	read    atomic.Int64 // bytes of the file read so far
}

// Source returns the source of the file.
func (f *File) Source() Source { return f.src }

// Header returns what stands before the records, unchanged: the byte order mark, if there is one, and the header of a
// CSV or TSV file with its line end, unless that is the last line of its file and lacks it. Where there is no header, the
// mark may be known only when Next has returned a block.
func (f *File) Header() []byte { return f.header }

// Encoding returns how the file encodes its records, and Record.Raw. It is known when Header is.
func (f *File) Encoding() Encoding { return f.encoding }

// Columns returns the names in the header, for a Parquet file those of all its columns; nil if there are none.
func (f *File) Columns() []string { return f.columns.Names }

// Comma returns the character that separates the cells of a CSV file; 0 for other files, of which TSV has tabs without
// quotes.
func (f *File) Comma() byte {
	if f.src.Format != CSV {
		return 0
	}
	return f.columns.Comma()
}

// Layout returns what is needed to parse a record of the file without the file. It is known when Header is.
func (f *File) Layout() Layout { return Layout{f.kind, f.columns, f.encoding} }

// BytesRead returns how many stored bytes of the file, compressed ones as they are, were read so far: for progress,
// compared with Source.Size.
func (f *File) BytesRead() int64 {
	if f.parquet != nil { // counts skipped parts as read
		return int64(f.parquet.r.Progress() * float64(f.size))
	}
	if p := f.plain; p != nil {
		return min(p.claimed.Load()*int64(f.o.BlockSize), f.size)
	}
	return f.read.Load()
}

// ReaderAt gives random access to the bytes of a plain regular file, whose records are at Record.Offset; nil for
// streams, compressed files and Parquet files.
func (f *File) ReaderAt() io.ReaderAt {
	if f.file == nil || f.src.Compression != Plain {
		return nil
	}
	return f.file
}

// Problem adds the place in the file to an error. line is 0-based from the start of the file, -1 if unknown.
func (f *File) Problem(line, offset int64, err error) *Problem {
	return &Problem{Path: f.src.Label(), Line: line + 1, Offset: offset, Err: err}
}

// RecordProblem is Problem for a record of a block whose first line is line, 0-based from the start of the file.
func (f *File) RecordProblem(line int64, r *Record, err error) *Problem {
	p := f.Problem(line+r.Line, r.Offset, err)
	p.ID = string(r.ID)
	return p
}

// Skip makes Next leave out the blocks for whose numbers done returns true, for example those that an interrupted run
// has finished. Blocks have the same numbers as without Skip. In plain files of lines skipped blocks are not read;
// elsewhere Skip saves only the parsing. Call Skip before the first Next; done must be safe for concurrent use.
func (f *File) Skip(done func(seq int64) bool) { f.skip = done }

// A turnstile lets numbered calls through in order.
type turnstile struct {
	mu   sync.Mutex
	cond sync.Cond
	next int64
}

func (t *turnstile) init() { t.cond.L = &t.mu }

// wait returns when all calls with numbers below n have left.
func (t *turnstile) wait(n int64) {
	t.mu.Lock()
	for t.next != n {
		t.cond.Wait()
	}
	t.mu.Unlock()
}

func (t *turnstile) leave() {
	t.mu.Lock()
	t.next++
	t.mu.Unlock()
	t.cond.Broadcast()
}

const (
	// headBytes of a compressed file tell how tightly it is packed.
	headBytes = 128 << 10
	// leastHeaded is the least size of a file that is asked: of a smaller one, trying costs more than packing faster
	// saves.
	leastHeaded = 2 << 20
)

// PackLike lets gzip and zstd be packed faster, in larger parts, if the beginning of in, a file of the same compression
// with 2 MiB or more, does not become larger by that than it is there. So the output of what was packed in a hurry is, too,
// and nothing is packed less tightly than it was for the sake of speed. Call it before the first Write, and when in has
// returned a block.
func (w *Writer) PackLike(in *File) {
	if w.compress == nil || w.compress.Fast == nil {
		return
	}
	if head := headOf(in); len(head) > 0 && w.compress.Fast.Suffices(codec.Name(in.src.Compression), head) {
		w.compress = w.compress.Fast
	}
}

// headOf returns the first stored bytes of a file; none if it is small, or they are not known.
func headOf(f *File) []byte {
	switch {
	case f.headed != nil:
		return f.headed.head
	case f.file == nil || f.size < leastHeaded:
		return nil
	}
	head := make([]byte, headBytes)
	n, _ := f.file.ReadAt(head, 0) // Next tells errors
	return head[:n]
}

// headed is a reader that remembers what its stream begins with.
type headed struct {
	from io.Reader
	head []byte // nil: nothing was read yet
	at   int
	err  error // behind the head
}

func (h *headed) Read(p []byte) (int, error) {
	if h.head == nil {
		h.head = make([]byte, headBytes)
		n, err := io.ReadFull(h.from, h.head)
		if h.head = h.head[:n]; err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		h.err = err
	}
	if h.at < len(h.head) {
		n := copy(p, h.head[h.at:])
		h.at += n
		return n, nil
	}
	if h.err != nil {
		return 0, h.err
	}
	return h.from.Read(p)
}

// Repeated returns the names that the header of f has more than once. problem says so of one of wanted, if it is among them.
func Repeated(f *File, wanted []string) (names []string, problem *Problem) {
	if err := f.columns.Once(wanted); err != nil {
		problem = &Problem{Path: f.src.Label(), Line: f.headerLines, Err: err}
	}
	return f.columns.Repeated(), problem
}
