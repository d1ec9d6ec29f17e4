//go:build !unix

package corpus

import (
	"errors"
	"os"

	"github.com/alike-dev/alike/internal/durable"
)

// fileAt is a regular file.
type fileAt struct {
	*os.File
	size int64
}

func (f *fileAt) Size() int64 { return f.size }

// openRegular opens a regular file, and tells its state. The error is ErrNotRegular if it is none.
func openRegular(path string) (RandomAccess, durable.State, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, durable.State{}, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, durable.State{}, errors.Join(err, f.Close())
	}
	return &fileAt{f, st.Size()}, durable.StateOf(st), nil
}
