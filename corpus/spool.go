package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/setting"
)

// Spool copies the bytes of a stream to a new file at path of a file system and
// returns a Source that reads them from there, any number of times, with path,
// name and ids unchanged. Nothing has the name path until all is there. If it is to
// last, it stays over a power failure, and the Source has a Version, which tells the
// stream's bytes from others: see Respool. A Source that is no stream is returned as it
// is. The caller removes the file.
//
// The error is a *Problem if the stream cannot be read, else that of the file
// system.
func Spool(on vfs.FS, s Source, o Options, path string, lasting bool) (Source, error) {
	if !s.Stream {
		return s, nil
	}
	in, err := s.open(o)
	if err != nil {
		return s, err
	}
	if in.file != nil {
		defer in.file.Close()
	}
	to, err := durable.Create(on, path)
	if err != nil {
		return s, err
	}
	to.Volatile = !lasting
	w := newWriter(to, nil, 1, partSize)
	defer w.Abort()
	from := &watched{r: in.r}
	if lasting {
		from.sum = sha256.New()
	}
	if n, err := io.Copy(w, from); from.err != nil {
		return s, s.broken(n, from.err)
	} else if err != nil {
		return s, err
	}
	if err := w.Commit(); err != nil {
		return s, err
	}
	return s.spooled(on, path, from.version())
}

// Respool returns what Spool has returned for a stream in an earlier run, where it was
// to last: version is the Version of that Source. The stream is read again, to its end,
// and compared with the copy.
//
// The error is a *Problem: ErrChanged if the stream is another one, or if the copy is
// not the one that Spool has made.
func Respool(on vfs.FS, s Source, o Options, path, version string) (Source, error) {
	spooled, err := s.spooled(on, path, version)
	var before vfs.File
	if err == nil {
		before, err = on.Open(path)
	}
	if err != nil {
		return s, &Problem{Path: s.Label(), Err: &reason{kind: ErrChanged, cause: err,
			text: setting.Textf("its copy in the work folder cannot be read (%v); start over with %s", err, setting.Fresh)}}
	}
	defer before.Close()
	in, err := s.open(o)
	if err != nil {
		return s, err
	}
	if in.file != nil {
		defer in.file.Close()
	}
	now := &watched{r: in.r, sum: sha256.New()}
	same, err := firstDifference(now, before)
	switch {
	case now.err != nil:
		return s, s.broken(same, now.err)
	case err != nil:
		return s, err
	case same < 0 && now.version() == version:
		return spooled, nil
	case same < 0:
		return s, &Problem{Path: s.Label(), Err: because(ErrChanged, "its copy in the work folder is not the one that was made of it; start over with %s", setting.Fresh)}
	}
	return s, &Problem{Path: s.Label(), Offset: same, Err: because(ErrChanged,
		"the stream differs from byte %d on from what the unfinished run has read of it; give the same stream again, or start over with %s", same+1, setting.Fresh)}
}

// firstDifference returns how many bytes two streams have in common, -1 if they are the
// same. It reads one up to the difference.
func firstDifference(a, b io.Reader) (int64, error) {
	const size = 256 << 10
	bufA, bufB := make([]byte, size), make([]byte, size)
	for same := int64(0); ; {
		n, errA := io.ReadFull(a, bufA)
		m, errB := io.ReadFull(b, bufB)
		for _, err := range []error{errA, errB} {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return same, err
			}
		}
		if !bytes.Equal(bufA[:n], bufB[:m]) {
			for i := range min(n, m) {
				if bufA[i] != bufB[i] {
					return same + int64(i), nil
				}
			}
			return same + int64(min(n, m)), nil
		}
		same += int64(n)
		if n < size {
			return -1, nil
		}
	}
}

// spooled returns a Source that reads a stream from the copy at path.
func (s Source) spooled(on vfs.FS, path, version string) (Source, error) {
	st, err := on.Stat(path)
	if err != nil {
		return s, openError(path, err)
	}
	s.on, s.at, s.Size, s.Stream, s.Version = on, path, st.Size(), false, version
	return s, nil
}

// broken is the error of a stream that cannot be read on.
func (s Source) broken(offset int64, err error) error {
	return &Problem{Path: s.Label(), Offset: offset, Err: &reason{kind: ErrCorrupt, cause: err, text: setting.Textf("cannot read on (%v)", err)}}
}

// watched keeps the error of a reader, and sums up what it gives.
type watched struct {
	r   io.Reader
	sum hash.Hash // nil: it does not
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	if w.sum != nil {
		w.sum.Write(p[:n]) // never fails
	}
	return n, err
}

// version tells what was read from anything else; "" if it was not summed up.
func (w *watched) version() string {
	if w.sum == nil {
		return ""
	}
	return "sha256 " + hex.EncodeToString(w.sum.Sum(nil))
}
