package corpus

import (
	"bytes"
	"context"
	"io"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/corpus/internal/delimited"
	"github.com/alike-dev/alike/corpus/internal/lines"
	"github.com/alike-dev/alike/corpus/internal/units"
)

// Open opens a source. It reads the header of a table. ctx must stay valid until the file is closed: when it ends, so
// do requests to object stores and waits in Options.Admit; reading files ignores it. The error is a *Problem that says
// what to do: unreadable file, header without the column of the text.
func Open(ctx context.Context, s Source, o Options) (*File, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	f := &File{ctx: ctx, src: s, o: o.withDefaults(), kind: s.Format.kind(), anyBlock: o.BlockSize == 0, columns: &delimited.Columns{}, comma: delimited.Comma}
	if f.kind.open != nil {
		if err := f.kind.open(f); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	r, err := f.openBytes()
	if err != nil {
		return nil, err
	}
	if err := f.setUp(r); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openBytes opens the bytes of the source and returns a reader for them, front to back.
func (f *File) openBytes() (io.Reader, error) {
	if f.src.Stream || f.src.object != nil {
		if f.size, f.remote = -1, f.src.object != nil; f.remote {
			f.size = f.src.Size
		}
		r, err := f.src.OpenBytes(f.ctx, f.o)
		if err != nil {
			return nil, err
		}
		f.closer = r
		return r, nil
	}
	at, err := f.src.OpenAt(f.ctx, f.o)
	if err != nil {
		return nil, err
	}
	f.file, f.closer, f.size = at, at, at.Size()
	return units.Whole(at, 0, f.size), nil
}

// setUp chooses the way of reading and reads the header.
func (f *File) setUp(r io.Reader) error {
	regular := f.file != nil
	f.cut.f = f
	f.turn.init()
	compressed := f.src.Compression != Plain
	plain := regular && !compressed && !f.kind.whole && !f.kind.quoted
	if plain {
		if err := f.look(); err != nil {
			return err
		}
	}
	if regular && compressed && !f.kind.whole {
		f.units = units.Of(codec.Name(f.src.Compression), f.file, f.size, &f.read)
	}
	if f.units == nil {
		if err := f.startStream(r); err != nil {
			return err
		}
	}
	if f.kind.header {
		if err := f.readHeader(); err != nil {
			return err
		}
	}
	if plain && !f.encoding.Wide() {
		f.plain = newPlainBlocks(f)
	}
	return nil
}

// look looks for the byte order mark of a plain file.
func (f *File) look() error {
	start := make([]byte, min(f.size, 4))
	if err := f.readAt(start, 0); err != nil {
		return err
	}
	f.cut.begin(start, true)
	return nil
}

// startStream begins to decode the file front to back.
func (f *File) startStream(r io.Reader) (err error) {
	name, small := codec.Name(f.src.Compression), false
	if f.remote && f.size >= leastHeaded && name != codec.Plain {
		f.headed = &headed{from: r}
		r = f.headed
	}
	if f.file != nil && f.kind.whole && f.src.Compression == Zstd {
		f.stream, small = units.Small(f.file, f.size, &f.read)
	}
	switch r = units.Counted(r, &f.read); {
	case small: // the whole file is decoded already
	case f.remote:
		f.stream = &codec.Lazy{From: r, Name: name}
	default:
		if f.stream, err = codec.NewReader(r, name); err != nil {
			f.stream = nil
			return f.cut.damage(err)
		}
	}
	return nil
}

// Close closes the file. No Next may be in progress.
func (f *File) Close() error {
	if f.stream != nil {
		f.stream.Release()
		f.stream = nil
	}
	f.plain, f.cut.done, f.units = nil, true, nil
	if f.parquet != nil {
		f.failed.Store(true)
		return f.parquet.close()
	}
	if f.closer == nil {
		return nil
	}
	err := f.closer.Close()
	f.closer, f.file = nil, nil
	return err
}

// Next fills b with the next block of records. Blocks are numbered without gaps (Block.Seq) but may be returned in
// another order, and may hold no record. At the end it returns io.EOF. Any other error, a *Problem, ends the file: it
// is returned once, after all whole records before the damage, and every further call returns io.EOF. It stands for an
// unknown number of lost records and counts as one.
//
// Next is safe for concurrent use, with a Block for each goroutine. A second
// File of the same source and options gives the same blocks and records.
//
// Memory: about BlockSize a goroutine, or a record if that is larger; for files of several gzip members or zstd frames
// and for bzip2 at most 8 MiB of decoded bytes and their compressed form. A file holds the memory of its decoder (for a
// zstd stream, the window that it asks for). While the end of a record in a compressed file or a CSV file has not been found, its
// beginning is held, compressed and up to MaxRecord: a line of any length costs no more. A quoted CSV field with line
// ends is held uncompressed. With Options.Admit, Next waits until a long record may be in memory; if the context of
// Open ends before, its error is returned. For a Parquet file a page of each column is held: most writers make pages of
// about 1 MiB; at most 256 MiB, or MaxRecord if that is more.
func (f *File) Next(b *Block) error {
	for {
		if err := f.next(b); err == errAgain {
			continue
		} else if err != nil || f.skip == nil || !f.skip(b.Seq) {
			return err
		}
	}
}

// next is Next without Skip, except where Skip saves reading.
func (f *File) next(b *Block) error {
	keep := 4*f.o.BlockSize + 1<<20
	if f.units != nil {
		keep = max(keep, units.Max+units.Max/2)
	}
	b.reset(keep)
	switch {
	case f.parquet != nil:
		return f.nextParquet(b)
	case f.plain != nil:
		return f.plain.next(b)
	case f.units != nil:
		return f.nextUnit(b)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nextStream(b)
}

// readHeader reads the header, and leaves the rest for Next.
func (f *File) readHeader() error {
	c := &f.cut
	if f.units != nil { // apart from the units
		d, err := codec.NewReader(io.NewSectionReader(f.file, 0, f.size), codec.Name(f.src.Compression))
		if err != nil {
			return c.damage(err)
		}
		f.stream = d
		defer func() {
			if f.encoding.Wide() { // a unit may end within a character
				f.units = nil
				return
			}
			d.Release()
			f.stream = nil
			c.drop, c.carry, c.eof, c.garbage = len(f.header), nil, false, nil
		}()
	}
	header, err := c.header()
	if err != nil || len(header) == 0 {
		return err
	}
	f.header = header
	header = f.encoding.Append(nil, header)
	f.headerLines = int64(bytes.Count(header, lines.End))
	if header[len(header)-1] != '\n' {
		f.headerLines++
	}
	if len(bytes.Trim(bytes.TrimPrefix(header, lines.ByteOrderMark), "\r\n")) == 0 {
		return nil // only blank lines: treated as an empty file
	}
	id := f.o.IDField
	if id == NoID {
		id = ""
	}
	text := &f.o.TextField
	if f.o.NoText {
		text = nil
	}
	comma := f.comma
	if !f.kind.quoted {
		comma = 0
	}
	if f.columns, err = delimited.Header(header, comma, text, id, f.o.Fields); err != nil {
		return &Problem{Path: f.src.Label(), Line: f.headerLines, Err: err}
	}
	return nil
}
