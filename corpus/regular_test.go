package corpus

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/alike-dev/alike/internal/durable"
)

// The twin is os.File.
func TestRegularFilesAreReadAsByOS(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	tree(t, "a.txt")
	data := make([]byte, 10_000)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	must(t, os.WriteFile("a.txt", data, 0o600))
	twin, err := os.Open("a.txt")
	must(t, err)
	defer twin.Close()
	st, err := twin.Stat()
	must(t, err)
	f, state, err := openRegular("a.txt")
	must(t, err)
	if want := durable.StateOf(st); f.Size() != want.Size || state.Size != want.Size || state.Modified != want.Modified || state.Inode != want.Inode {
		t.Errorf("size %d, state %+v, want %+v", f.Size(), state, want)
	}
	for range 1000 {
		have, want := make([]byte, random.IntN(12_000)), make([]byte, 12_000)
		at := int64(random.IntN(12_000))
		n, err := f.ReadAt(have, at)
		m, wantErr := twin.ReadAt(want[:len(have)], at)
		if n != m || err != wantErr || !bytes.Equal(have[:n], want[:m]) {
			t.Fatalf("%d bytes at %d: %d, %v; want %d, %v", len(have), at, n, err, m, wantErr)
		}
	}
	must(t, f.Close())
	// Its number may be another file's by now.
	other, err := os.Open("a.txt")
	must(t, err)
	defer other.Close()
	if n, err := f.ReadAt(make([]byte, 10), 0); n != 0 || !errors.Is(err, os.ErrClosed) || errors.Is(err, io.EOF) {
		t.Errorf("%d bytes of a closed file, %v", n, err)
	}
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	if _, _, err := openRegular("."); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if _, _, err := openRegular("b.txt"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
