package corpus

import (
	"bytes"
	"context"

	"github.com/alike-dev/alike/corpus/internal/lines"
	"github.com/alike-dev/alike/internal/bom"
)

// A Block is a run of whole records of one file, with the buffer that holds them. The
// zero value is ready to use. Its contents are valid until it is given to Next again.
type Block struct {
	Seq    int64 // 0, 1, 2, … in the order of the file, without gaps
	Offset int64 // of its first byte in the decoded stream; for Parquet an artificial number: unique and ascending
	Lines  int64 // lines in it: the line of a record in the file is the sum over earlier blocks + Record.Line

	data      []byte // whole records
	firstLine int64  // Line of the first record: the lines of the header before it
	whole     bool   // one record, however many lines, even an empty one (text)
	// tail: after data one more record begins that is over MaxRecord and was dropped.
	tail bool

	release func() // of Options.Admit; nil: nothing to release
	buf     []byte // memory of data
	scratch []byte // memory of compressed units, and of the search for the end of a long record
}

// Data returns the whole records of the block as in the decoded stream from Offset on, so
// that a record's offset leads to its bytes. It is valid as long as the block.
func (b *Block) Data() []byte { return b.data }

// reset empties the block and frees memory beyond keep that an unusually long record or
// another file has needed, so that it does not stay for the life of the worker.
func (b *Block) reset(keep int) {
	if b.release != nil { // such a block is as large as blocks get
		b.buf = nil
		b.release()
		b.release = nil
	}
	if cap(b.buf) > keep {
		b.buf = nil
	}
	if cap(b.scratch) > keep {
		b.scratch = nil
	}
	b.Seq, b.Offset, b.Lines = 0, 0, 0
	b.data, b.firstLine, b.whole, b.tail = nil, 0, false, false
}

// Release frees the memory of the block, and calls the release of Options.Admit. The
// block can be given to Next again.
func (b *Block) Release() { b.reset(0) }

// Admitted tells whether the block holds what Options.Admit has given for it, which others may be waiting for.
func (b *Block) Admitted() bool { return b.release != nil }

// admit waits until the block may grow to so many bytes.
func (b *Block) admit(ctx context.Context, o *Options, bytes int) (err error) {
	if b.release == nil && o.Admit != nil {
		b.release, err = o.Admit(ctx, bytes)
	}
	return err
}

// room returns the block's buffer with length n; its old content is lost.
func (b *Block) room(n int) []byte {
	if cap(b.buf) < n {
		b.buf = make([]byte, n)
	}
	return b.buf[:n]
}

// extend returns buf with length n and its old content. buf is the block's own buffer.
func (b *Block) extend(buf []byte, n int) []byte {
	if cap(buf) >= n {
		return buf[:n]
	}
	bigger := make([]byte, n, max(n, min(2*cap(buf), n+(8<<20))))
	copy(bigger, buf)
	b.buf = bigger
	return bigger
}

// setLines counts the lines of the block.
func (b *Block) setLines(e bom.Encoding) {
	data := b.data
	if e.Wide() {
		data = e.AppendNarrow(nil, data)
	}
	b.Lines = b.firstLine + int64(bytes.Count(data, lines.End))
	if n := len(data); n > 0 && data[n-1] != '\n' {
		b.Lines++
	}
	if b.tail {
		b.Lines++
	}
}

// A Record is one record of a file. Its slices are views that are valid until the next
// call of the parser.
type Record struct {
	Raw    []byte   // unchanged, with its line end; nil if over MaxRecord. For Parquet: the row's values in a form for ParseRaw
	Offset int64    // of Raw in the decoded stream
	Line   int64    // 0-based, within the block (see Block.Lines)
	Text   []byte   // unescaped; UTF-8 if the file is, or if that is UTF-16 with a byte order mark
	ID     []byte   // nil if it has none of its own: absent, null, empty or not wanted
	Fields [][]byte // of Options.Fields, unescaped; nil = absent or null; JSON values other than strings as JSON text, Parquet values as in the package comment
	// Encoding is that of the file if Text is all of it, without the mark: it tells where the text stands in the file.
	Encoding Encoding
	Err      error // not nil: why the record must be skipped; Text and Fields are undefined, and ID is nil if it could not be read
}
