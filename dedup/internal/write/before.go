package write

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/alike-dev/alike/internal/durable"
)

// stands tells whether the output of an earlier process for a file is still there.
func (k *keptWriter) stands(w written) (bool, error) {
	path := k.path(w.File)
	if w.Whole && k.out.remote != nil {
		return true, nil // it was uploaded
	}
	if !durable.IsOwn(k.out.fs, path) {
		return false, nil
	}
	st, err := k.out.fs.Stat(path)
	if err != nil {
		return false, outputError(err)
	}
	if w.Whole {
		return durable.StateOf(st) == w.State, nil
	}
	if st.Size() < w.Offset {
		return false, nil
	}
	file, err := k.out.fs.Open(path)
	if err != nil {
		return false, outputError(err)
	}
	sum, err := sumOf(file, 0, 0, w.Offset)
	if err = errors.Join(err, file.Close()); err != nil {
		return false, outputError(err)
	}
	return sum == w.Sum, nil
}

// sumOf continues a checksum over a range of a file.
func sumOf(file io.ReaderAt, sum uint32, from, to int64) (uint32, error) {
	buf := make([]byte, min(copyBytes, to-from))
	for from < to {
		n := min(int64(len(buf)), to-from)
		if _, err := file.ReadAt(buf[:n], from); err != nil {
			return 0, err
		}
		sum = durable.Checksum(sum, buf[:n])
		from += n
	}
	return sum, nil
}

// sweep removes files that an earlier process has begun under other names, and links, which no
// process has made.
func (k *keptWriter) sweep() error {
	expected := map[string]bool{}
	for i := k.Table.ReferenceFiles; i < len(k.Table.Sources); i++ {
		expected[k.path(i)] = true
	}
	var walk func(folder string) error
	walk = func(folder string) error {
		names, err := k.out.fs.List(folder)
		if err != nil {
			return err
		}
		for _, name := range names {
			path := filepath.Join(folder, name)
			st, err := durable.Lstat(k.out.fs, path)
			switch {
			case err != nil:
				return err
			case expected[path] && st.Mode().IsRegular():
			case st.IsDir():
				err = walk(path)
			default:
				err = k.out.fs.Remove(path)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	kept := k.out.staged(KeptFolder)
	if info, err := durable.Lstat(k.out.fs, kept); err == nil && durable.IsLink(info) {
		return outputError(k.out.fs.Remove(kept))
	}
	if err := walk(kept); err != nil && !errors.Is(err, os.ErrNotExist) {
		return outputError(err)
	}
	return nil
}
