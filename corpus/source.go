package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/setting"
)

// A Source is one file or object to read, found by Find.
type Source struct {
	Path        string // as the user knows it: the input joined with the path below it; a URL; "-" for standard input
	Name        string // slash path relative to the common parent of all inputs, unique; "stdin.jsonl" for standard input
	Format      Format
	Compression Compression
	Size        int64     // bytes of the file; -1 for a stream
	ModTime     time.Time // zero for a stream
	Version     string    // of an object: another one after every change; of a stream that was spooled durably: of its bytes; "" for a file
	Stream      bool      // standard input, FIFO or device: can be read once only (see Spool)

	// Of a file, where the system has them: its number, and when the system has last
	// changed anything of it, in nanoseconds since 1970. 0: not known.
	inode   uint64
	changed int64

	on vfs.FS // of a spooled stream: the file system where its bytes are
	at string // … and the path there

	object *object // where the bytes are in an object store; nil: elsewhere
}

// InPlace tells whether records can be read again at their Record.Offset, by
// File.ReaderAt: in plain files. Streams, compressed files, Parquet files and
// objects of an object store are read again from front to back, or see ByRange.
func (s Source) InPlace() bool {
	return !s.Stream && s.Compression == Plain && s.Format != Parquet && s.object == nil
}

// Layout returns the layout of the source's records if that can be told without
// reading it: not of a table.
func (s Source) Layout() (l Layout, ok bool) {
	return Layout{format: s.Format}, s.Format != CSV && s.Format != TSV
}

// Remote tells whether the bytes are in an object store, so that each reading of
// them is a request.
func (s Source) Remote() bool { return s.object != nil }

// ByRange tells whether records can be read again at their Record.Offset by
// ReadRange: in plain objects.
func (s Source) ByRange() bool {
	return s.object != nil && s.Compression == Plain && s.Format != Parquet
}

// ReadRange fills p with the bytes of an object from off on, by one request, or
// more when the network breaks. It is safe for concurrent use. The error is a
// *Problem: of an object that is not the one that Find has found any more it is
// ErrChanged.
func (s Source) ReadRange(ctx context.Context, p []byte, off int64) error {
	var err error
	switch {
	case s.object == nil:
		err = because(ErrUnsupported, "not an object of an object store; use OpenAt")
	case off < 0 || int64(len(p)) > s.Size-off:
		err = because(fs.ErrInvalid, "bytes %d to %d of an object of %d", off, off+int64(len(p)), s.Size)
	case len(p) > 0:
		f := s.object.fetcher()
		err = f.fetch(ctx, off, p)
	}
	if err != nil {
		return &Problem{Path: s.Label(), Offset: off, Err: err}
	}
	return nil
}

// State tells one state of the source's bytes from another: size, time of change,
// version and, where the system has them, the file's number and the time of the last
// change of anything that the system knows of it. Of a stream nothing is known.
func (s Source) State() string {
	if s.Stream {
		return "stream"
	}
	state := strconv.FormatInt(s.Size, 10) + " bytes, changed " + s.ModTime.UTC().Format(time.RFC3339Nano)
	if s.changed != 0 {
		state += fmt.Sprintf(", inode %d, status changed %s", s.inode, time.Unix(0, s.changed).UTC().Format(time.RFC3339Nano))
	}
	if s.Version != "" {
		state += ", version " + s.Version
	}
	return state
}

// AppendID appends the id of a record that has none of its own: the path of a
// text, else path:line. line is 0-based and counts from the start of the file
// (the Lines of all earlier blocks + Record.Line); the id's line is 1-based.
func (s Source) AppendID(dst []byte, line int64) []byte {
	dst = append(dst, s.Label()...)
	if s.Format == Text {
		return dst
	}
	dst = append(dst, ':')
	return strconv.AppendInt(dst, line+1, 10)
}

// Label is the source as ids and messages name it.
func (s Source) Label() string {
	switch {
	case s.Path == "-":
		return s.Name
	case s.object != nil:
		return s.Path
	}
	return filepath.ToSlash(s.Path)
}

// handle is an open file, of the operating system or of a vfs.FS.
type handle interface {
	io.ReadCloser
	io.ReaderAt
}

// opened is an open source.
type opened struct {
	r    io.Reader
	file handle // to be closed; nil: nothing
	size int64  // of a regular file, which is read at any place; -1 for a stream

	object io.Closer // what an object is read by, to be closed; nil: it is none
}

// open opens the bytes of s.
func (s Source) open(o Options) (opened, error) {
	if s.on != nil {
		return s.openOn(s.on, s.at)
	}
	if s.object != nil {
		r := newObjectReader(o.context(), s.object.fetcher(), o.ReadAhead)
		return opened{r: r, object: r, size: s.Size}, nil
	}
	if s.Path == "-" {
		if o.Stdin != nil {
			return opened{r: o.Stdin, size: -1}, nil
		}
		return opened{r: os.Stdin, size: -1}, nil
	}
	if !s.Stream { // what has become a FIFO since Find would wait for a writer
		if st, err := os.Stat(s.Path); err == nil && !st.Mode().IsRegular() {
			return opened{}, &Problem{Path: s.Label(), Err: because(ErrNotRegular, "not a regular file any more; leave it out")}
		}
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return opened{}, openError(s.Label(), err)
	}
	if s.Stream {
		return opened{r: f, file: f, size: -1}, nil
	}
	st, err := f.Stat()
	if err != nil {
		return opened{}, errors.Join(openError(s.Label(), err), f.Close())
	}
	// What was counted, numbered or copied of another version must not be mixed
	// with this one. New links and permissions leave a file the same during a run.
	now := durable.StateOf(st)
	if !s.ModTime.IsZero() && (st.Size() != s.Size || !st.ModTime().Equal(s.ModTime) || s.inode != 0 && now.Inode != s.inode) {
		changed := because(ErrChanged, "the file has changed since it was looked up; run again when nothing writes to it")
		return opened{}, errors.Join(&Problem{Path: s.Label(), Err: changed}, f.Close())
	}
	return opened{r: f, file: f, size: st.Size()}, nil
}

// openOn opens the file at that a stream was spooled to.
func (s Source) openOn(on vfs.FS, at string) (opened, error) {
	f, err := on.Open(at)
	if err != nil {
		return opened{}, openError(at, err)
	}
	st, err := f.Stat()
	if err != nil {
		return opened{}, errors.Join(openError(at, err), f.Close())
	}
	return opened{r: f, file: f, size: st.Size()}, nil
}

// openError turns an error of the operating system into a Problem that tells
// the remedy.
func openError(path string, err error) error {
	cause := err
	var pe *fs.PathError
	if errors.As(err, &pe) {
		cause = pe.Err
	}
	text := cause.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = "no such file or folder; check the name"
	case errors.Is(err, fs.ErrPermission):
		text = "permission denied; make it readable or leave it out"
	}
	return &Problem{Path: path, Err: &reason{kind: cause, text: setting.Textf("%s", text), cause: err}}
}
