// Package streams copies streams to files, so that they can be read more than once, and recognises
// the same streams in another process.
package streams

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// Copy copies the bytes of a stream to a new file at path of a file system and returns a Source
// that reads them from there, with path, name and ids unchanged. The file gets its name when it is
// complete. A lasting copy survives a power failure, and its Source has a Version, which identifies
// the stream's bytes: see Again. A Source that is no stream is returned unchanged. The caller
// removes the file.
//
// The error is a *corpus.Problem if the stream cannot be read, otherwise that of the file system.
func Copy(ctx context.Context, on vfs.FS, s corpus.Source, o corpus.Options, path string, lasting bool) (corpus.Source, error) {
	if !s.Stream {
		return s, nil
	}
	in, err := s.OpenBytes(ctx, o)
	if err != nil {
		return s, err
	}
	defer in.Close()
	to, err := durable.Create(on, path)
	if err != nil {
		return s, err
	}
	to.Volatile = !lasting
	w, err := corpus.NewWriter(to, corpus.Plain, 1)
	if err != nil {
		return s, err
	}
	defer w.Abort()
	from := &watched{r: in}
	if lasting {
		from.sum = sha256.New()
	}
	if n, err := io.Copy(w, from); from.err != nil {
		return s, broken(s, n, from.err)
	} else if err != nil {
		return s, err
	}
	if err := w.Commit(); err != nil {
		return s, err
	}
	return copied(on, s, path, from.version())
}

// Again returns the Source of a lasting Copy that an earlier run has made of a stream: version is
// the Version of that Source. The stream is read again, to its end, and compared with the copy.
//
// The error is a *corpus.Problem: ErrChanged if the stream is a different one, or if the copy is
// not the one that Copy has made.
func Again(ctx context.Context, on vfs.FS, s corpus.Source, o corpus.Options, path, version string) (corpus.Source, error) {
	source, err := copied(on, s, path, version)
	var before vfs.File
	if err == nil {
		before, err = on.Open(path)
	}
	if err != nil {
		return s, &corpus.Problem{Path: s.Label(), Err: fault.Caused(corpus.ErrChanged, err,
			"its copy in the work folder cannot be read (%v); start over with %s", err, setting.Fresh)}
	}
	defer before.Close()
	in, err := s.OpenBytes(ctx, o)
	if err != nil {
		return s, err
	}
	defer in.Close()
	now := &watched{r: in, sum: sha256.New()}
	same, err := firstDifference(now, before)
	switch {
	case now.err != nil:
		return s, broken(s, same, now.err)
	case err != nil:
		return s, err
	case same < 0 && now.version() == version:
		return source, nil
	case same < 0:
		return s, &corpus.Problem{Path: s.Label(),
			Err: fault.Because(corpus.ErrChanged, "its copy in the work folder is not the one that was made of it; start over with %s", setting.Fresh)}
	}
	return s, &corpus.Problem{Path: s.Label(), Offset: same, Err: fault.Because(corpus.ErrChanged,
		"the stream differs from byte %d on from what the unfinished run has read of it; give the same stream again, or start over with %s", same+1, setting.Fresh)}
}

// firstDifference returns the offset of the first difference between two streams, -1 if they are
// equal. It reads no further than the difference.
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

// copied returns a Source that reads a stream from the copy at path.
func copied(on vfs.FS, s corpus.Source, path, version string) (corpus.Source, error) {
	st, err := on.Stat(path)
	if err != nil {
		return s, unopened(path, err)
	}
	return s.WithCopy(st.Size(), version, func() (corpus.RandomAccess, error) {
		f, err := on.Open(path)
		if err != nil {
			return nil, unopened(path, err)
		}
		st, err := f.Stat()
		if err != nil {
			return nil, errors.Join(unopened(path, err), f.Close())
		}
		return &file{f, st.Size()}, nil
	}), nil
}

func unopened(path string, err error) error {
	return &corpus.Problem{Path: path, Err: fault.File(err)}
}

// file is an open copy.
type file struct {
	vfs.File
	size int64
}

func (f *file) Size() int64 { return f.size }

// broken is the error of a stream that cannot be read any further.
func broken(s corpus.Source, offset int64, err error) error {
	return &corpus.Problem{Path: s.Label(), Offset: offset, Err: fault.Stream(err)}
}

// watched keeps the error of a reader, and hashes the bytes that it delivers.
type watched struct {
	r   io.Reader
	sum hash.Hash // nil: no hash is wanted
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

// version identifies the bytes that were read; "" without a hash.
func (w *watched) version() string {
	if w.sum == nil {
		return ""
	}
	return "sha256 " + hex.EncodeToString(w.sum.Sum(nil))
}
