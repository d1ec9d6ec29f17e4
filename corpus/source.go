package corpus

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A Source is one file to read, found by Find.
type Source struct {
	Path        string // as the user knows it: the input joined with the path below it; "-" for standard input
	Name        string // slash path relative to the common parent of all inputs, unique; "stdin.jsonl" for standard input
	Format      Format
	Compression Compression
	Size        int64     // bytes of the file; -1 for a stream
	ModTime     time.Time // zero for a stream
	Stream      bool      // standard input, FIFO or device: can be read once only (see Spool)

	at string // where the bytes are, when that is not Path
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
	if s.Path == "-" {
		return s.Name
	}
	return filepath.ToSlash(s.Path)
}

// open opens the bytes of s. The file is nil when s is a reader that is no
// file.
func (s Source) open(o Options) (*os.File, io.Reader, error) {
	if s.Path == "-" && s.at == "" {
		if o.Stdin != nil {
			return nil, o.Stdin, nil
		}
		return nil, os.Stdin, nil
	}
	at := s.at
	if at == "" {
		at = s.Path
	}
	if !s.Stream { // what has become a FIFO since Find would wait for a writer
		if st, err := os.Stat(at); err == nil && !st.Mode().IsRegular() {
			return nil, nil, &Problem{Path: s.Label(), Err: because(ErrNotRegular, "not a regular file any more; leave it out")}
		}
	}
	f, err := os.Open(at)
	if err != nil {
		return nil, nil, openError(s.Label(), err)
	}
	return f, f, nil
}

// Spool copies the bytes of a stream to a new file in the folder dir and
// returns a Source that reads them from there, any number of times, with path,
// name and ids unchanged. A Source that is no stream is returned as it is. The
// caller removes the file, whose path is the second result ("" when there is none).
func Spool(s Source, o Options, dir string) (Source, string, error) {
	if !s.Stream {
		return s, "", nil
	}
	f, r, err := s.open(o)
	if err != nil {
		return s, "", err
	}
	if f != nil {
		defer f.Close()
	}
	out, err := os.CreateTemp(dir, "spool-*")
	if err != nil {
		return s, "", err
	}
	n, err := io.Copy(out, r)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(out.Name())
		return s, "", &Problem{Path: s.Label(), Offset: n, Err: err}
	}
	s.at, s.Size, s.Stream = out.Name(), n, false
	return s, out.Name(), nil
}

// openError turns an error of the operating system into a Problem that tells
// the remedy.
func openError(path string, err error) error {
	cause := err
	if pe, ok := err.(*os.PathError); ok {
		cause = pe.Err
	}
	text := cause.Error()
	switch {
	case os.IsNotExist(err):
		text = "no such file or folder; check the name"
	case os.IsPermission(err):
		text = "permission denied; make it readable or leave it out"
	}
	return &Problem{Path: path, Err: &reason{kind: cause, text: text, cause: err}}
}
