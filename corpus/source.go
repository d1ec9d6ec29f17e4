package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/alike-dev/alike/corpus/internal/ranges"
	"github.com/alike-dev/alike/internal/fault"
)

// A Source is one file or object to read, found by Find.
type Source struct {
	Path        string // as the user knows it: the input joined with the path below it; a URL; "-" for standard input
	Name        string // slash path relative to the common parent of all inputs, unique; "stdin.jsonl" for standard input
	Format      Format
	Compression Compression
	Size        int64     // bytes of the file; -1 for a stream
	ModTime     time.Time // zero for a stream
	Version     string    // of an object: changes with every change of it; of a copied stream as given to WithCopy; "" for a file
	Query       string    // of an object: the query of its URL, with settings for the client that opens the bucket
	Stream      bool      // standard input, FIFO or device: can be read only once (see WithCopy)

	// Of a file, where the system has them: its inode number, and the time of its last
	// status change, in nanoseconds since 1970. 0: not known.
	inode   uint64
	changed int64

	copied *copied // nil: the bytes are those of the path

	object *object // nil if the source is not in an object store
}

// object is the object that holds the bytes of a source.
type object struct {
	bucket Bucket
	Object
}

// bytes returns the object in the form that package ranges reads.
func (o *object) bytes() ranges.Object {
	return ranges.Object{Size: o.Size, Open: func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		return o.bucket.Read(ctx, o.Object, offset, length)
	}}
}

// InPlace reports whether records can be read again at their Record.Offset, by
// File.ReaderAt: in plain files. Streams, compressed files, Parquet files and objects of
// an object store must be read again from front to back, or see ByRange.
func (s Source) InPlace() bool {
	return !s.Stream && s.Compression == Plain && !s.Format.kind().packed && s.object == nil
}

// Layout returns the layout of the source's records if it is known without reading the
// source: not for a table, nor for lines, whose file may have another encoding.
func (s Source) Layout() (l Layout, ok bool) {
	k := s.Format.kind()
	return Layout{kind: k}, k.told
}

// Remote reports whether the bytes are in an object store, so that every read of them is
// a request.
func (s Source) Remote() bool { return s.object != nil }

// ByRange reports whether records can be read again at their Record.Offset by ReadRange:
// in plain objects.
func (s Source) ByRange() bool {
	return s.object != nil && s.Compression == Plain && !s.Format.kind().packed
}

// ReadRange fills p with the bytes of an object from off on, by one request, or more when
// the network breaks. It is safe for concurrent use. The error is a *Problem: ErrChanged
// if the object is no longer the one that Find has found.
func (s Source) ReadRange(ctx context.Context, p []byte, off int64) error {
	var err error
	switch {
	case s.object == nil:
		err = fault.Because(ErrUnsupported, "not an object of an object store; use OpenAt")
	case off < 0 || int64(len(p)) > s.Size-off:
		err = fault.Because(fs.ErrInvalid, "bytes %d to %d of an object of %d", off, off+int64(len(p)), s.Size)
	case len(p) > 0:
		o := s.object.bytes()
		err = o.Fetch(ctx, off, p)
	}
	if err != nil {
		return &Problem{Path: s.Label(), Offset: off, Err: err}
	}
	return nil
}

// State identifies one state of the source's bytes: size, modification time, version and,
// where the system has them, the file's inode number and the time of its last status
// change, which no program can set; otherwise Ends. For a stream nothing is known.
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
	return state + s.localEnds()
}

// AppendID appends the id of a record that has none of its own: the path of a text,
// otherwise path:line. line is 0-based and counts from the start of the file (the Lines
// of all earlier blocks + Record.Line); the id's line is 1-based.
func (s Source) AppendID(dst []byte, line int64) []byte {
	dst = append(dst, s.Label()...)
	if s.Format.kind().whole {
		return dst
	}
	dst = append(dst, ':')
	return strconv.AppendInt(dst, line+1, 10)
}

// MakesIDs reports whether ids by AppendID are made up, so that another record may have the same one another day:
// all but the path of a text, which is the name that somebody gave it.
func (s Source) MakesIDs() bool {
	return !s.Format.kind().whole || s.Stream || s.copied != nil && s.copied.stream
}

// Label is the name of the source in ids and messages.
func (s Source) Label() string {
	switch {
	case s.Path == "-":
		return s.Name
	case s.object != nil:
		return s.Path
	}
	return filepath.ToSlash(s.Path)
}

// Input returns the input by which Find finds the source again.
func (s Source) Input() string {
	if s.Query != "" {
		return s.Path + "?" + s.Query
	}
	return s.Path
}

// WithCopy returns the source of a stream whose bytes were copied: from now on open gives
// them, any number of times; path, name and ids stay the same. version identifies the
// bytes among those of other streams; it may be "" if no one needs it.
func (s Source) WithCopy(size int64, version string, open func() (RandomAccess, error)) Source {
	s.copied, s.Size, s.Stream, s.Version = &copied{open, true}, size, false, version
	return s
}

// WithText returns the source of a file that is not text, with the text that was made of it in place of its bytes. Path,
// name and id stay the same. version identifies the text, and the file that it was made of.
func (s Source) WithText(size int64, version string, open func() (RandomAccess, error)) Source {
	s.copied, s.Size, s.Version = &copied{open, false}, size, version
	return s
}

// copied is other bytes than those of the path: the copy of a stream, or the text of a file.
type copied struct {
	open   func() (RandomAccess, error)
	stream bool
}

// OpenBytes opens the stored bytes of a source, front to back. An object is read ahead
// (Options.ReadAhead) until ctx ends. The error is a *Problem.
func (s Source) OpenBytes(ctx context.Context, o Options) (io.ReadCloser, error) {
	switch {
	case s.object != nil:
		return ranges.NewReader(ctx, s.object.bytes(), o.ReadAhead), nil
	case !s.Stream:
		at, err := s.OpenAt(ctx, o)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.NewSectionReader(at, 0, at.Size()), at}, nil
	case s.Path == "-" && o.Stdin != nil:
		return io.NopCloser(o.Stdin), nil
	case s.Path == "-":
		return io.NopCloser(os.Stdin), nil
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, openError(s.Label(), err)
	}
	return f, nil
}

// OpenAt opens a source that is no stream for random access to its stored bytes. An
// object of an object store is read, until ctx ends, in pages of 1 MiB, the last 8 of
// which are kept; a read of 2 MiB or more is one request of its own. Its ReadAt fails
// with ErrChanged when the object is no longer the one that Find has found. The error is
// a *Problem.
func (s Source) OpenAt(ctx context.Context, _ Options) (RandomAccess, error) {
	switch {
	case s.Stream:
		return nil, &Problem{Path: s.Label(), Err: fault.Because(ErrUnsupported, "a stream does not allow random access; copy it to a file")}
	case s.object != nil:
		return ranges.NewPages(ctx, s.object.bytes()), nil
	case s.copied != nil:
		return s.copied.open()
	}
	return s.openFile()
}

// openFile opens a regular file.
func (s Source) openFile() (RandomAccess, error) {
	f, now, err := openRegular(s.Path)
	switch {
	case errors.Is(err, ErrNotRegular):
		return nil, &Problem{Path: s.Label(), Err: fault.Because(ErrNotRegular, "not a regular file any more; leave it out")}
	case err != nil:
		return nil, openError(s.Label(), err)
	}
	// Counts, numbers and copies of another version must not be mixed with this one. New
	// links and permissions do not change a file during a run.
	if !s.ModTime.IsZero() && (now.Size != s.Size || now.Modified != s.ModTime.UnixNano() || s.inode != 0 && now.Inode != s.inode) {
		changed := fault.Because(ErrChanged, "the file has changed since it was looked up; run again when nothing writes to it")
		return nil, errors.Join(&Problem{Path: s.Label(), Err: changed}, f.Close())
	}
	return f, nil
}

// endBytes is how many bytes at either end of a source Ends reads.
const endBytes = 64 << 10

// Ends returns a digest of the size and of the first and last 64 KiB of the stored bytes. It tells a file from one that
// was written in its place with the same size and times, unless they differ only between these bytes. It is "" for a
// stream, and for an object that has a version, which says more. The error is a *Problem.
func (s Source) Ends(ctx context.Context, o Options) (string, error) {
	if s.Stream || s.Version != "" {
		return "", nil
	}
	at, err := s.OpenAt(ctx, o)
	if err != nil {
		return "", err
	}
	defer at.Close()
	ends, err := endsOf(at)
	if err != nil {
		return "", &Problem{Path: s.Label(), Err: err}
	}
	return ends, nil
}

func endsOf(at RandomAccess) (string, error) {
	size := at.Size()
	h := sha256.New()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	for _, part := range []*io.SectionReader{
		io.NewSectionReader(at, 0, min(size, endBytes)),
		io.NewSectionReader(at, max(size-endBytes, endBytes), endBytes), // of what the first part has left
	} {
		if _, err := io.Copy(h, part); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// localEnds returns what State says about the ends of a file that the system tells too little about; "": nothing.
func (s Source) localEnds() string {
	if s.changed != 0 || s.object != nil || s.copied != nil {
		return ""
	}
	at, err := s.openFile()
	if err != nil {
		return ", cannot be read"
	}
	defer at.Close()
	ends, err := endsOf(at)
	if err != nil {
		return ", cannot be read"
	}
	return ", ends " + ends
}
