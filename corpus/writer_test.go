package corpus

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// writeFile writes data in pieces of uneven sizes.
func writeFile(t testing.TB, path string, c Compression, threads, part int, data []byte) {
	t.Helper()
	w, err := create(vfs.OS, path, c, threads, part)
	must(t, err)
	defer w.Abort()
	r := rand.New(rand.NewPCG(1, 2))
	for len(data) > 0 {
		n := min(1+r.IntN(10_000), len(data))
		if m, err := w.Write(data[:n]); m != n || err != nil {
			t.Fatalf("Write = %d, %v", m, err)
		}
		data = data[n:]
	}
	must(t, w.Commit())
}

func TestWhatIsWrittenIsReadBackAndDoesNotDependOnThreads(t *testing.T) {
	const part = 40_000
	all := benchLines(6*part, 2000)
	for _, c := range append([]Compression{Plain}, compressions...) {
		for _, size := range []int{0, 1, part - 1, part, part + 1, len(all)} {
			data := all[:size]
			dir := t.TempDir()
			path := filepath.Join(dir, "sub", "a.jsonl"+suffix[c])
			writeFile(t, path, c, 1, part, data)
			have, err := os.ReadFile(path)
			must(t, err)
			if !bytes.Equal(unpack(t, c, have), data) {
				t.Errorf("%q: %d bytes are not read back", c, size)
			}
			if size > part {
				other := filepath.Join(dir, "b.jsonl"+suffix[c])
				writeFile(t, other, c, 4, part, data)
				if again, err := os.ReadFile(other); err != nil || !bytes.Equal(have, again) {
					t.Errorf("%q: 4 threads write other bytes than 1 thread", c)
				}
			}
			if size == len(all) {
				got, err := readAll(t, mustFind(t, path), Options{}, 2)
				must(t, err)
				compare(t, path, got, twin(data, JSONL, Options{}))
			}
		}
	}
}

func TestPartsAreOf4MiB(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.zst")
	w, err := Create(path, Zstd, 1)
	must(t, err)
	for range 3 << 20 {
		if _, err := w.Write([]byte("abc\n")); err != nil {
			t.Fatal(err)
		}
	}
	must(t, w.Commit())
	s := mustFind(t, path)
	s.Format = Lines
	f, err := Open(t.Context(), s, Options{})
	must(t, err)
	defer f.Close()
	var b Block
	var sizes []int
	for f.Next(&b) == nil {
		sizes = append(sizes, len(b.Data()))
	}
	if !slices.Equal(sizes, []int{4 << 20, 4 << 20, 4 << 20}) {
		t.Errorf("blocks of %v bytes", sizes)
	}
}

func TestNothingHasTheNameBeforeCommit(t *testing.T) {
	for _, c := range []Compression{Plain, Zstd} {
		dir := t.TempDir()
		path := filepath.Join(dir, "a")
		must(t, os.WriteFile(path, []byte("before"), 0o666))
		w, err := Create(path, c, 2)
		must(t, err)
		_, err = w.Write(bytes.Repeat([]byte("x"), 10<<20))
		must(t, err)
		if data, _ := os.ReadFile(path); string(data) != "before" {
			t.Errorf("%q: the file has changed before Commit", c)
		}
		w.Abort()
		w.Abort()
		if data, _ := os.ReadFile(path); string(data) != "before" {
			t.Errorf("%q: the file has changed after Abort", c)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("%q: Abort leaves %v", c, entries)
		}
		if _, err := w.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%q: Write after Abort: %v", c, err)
		}
		if err := w.Commit(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%q: Commit after Abort: %v", c, err)
		}
	}
}

func TestWriteThatFailsIsToldAndLeavesNothing(t *testing.T) {
	for _, c := range append([]Compression{Plain}, compressions...) {
		dir := t.TempDir()
		full := vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
			if op.Kind == vfstest.OpFileWrite {
				return fs.ErrClosed
			}
			return nil
		})
		w, err := create(full, filepath.Join(dir, "a"), c, 2, 50_000)
		must(t, err)
		data := bytes.Repeat([]byte("x"), 100_000)
		for i := 0; i < 10 && err == nil; i++ {
			_, err = w.Write(data)
		}
		if cerr := w.Commit(); err == nil && cerr == nil {
			t.Errorf("%q: no error", c)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 0 {
			t.Errorf("%q: left behind %v", c, entries)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(filepath.Join(dir, "a"), "lzma", 1); err == nil {
		t.Error("unknown compression accepted")
	}
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	if _, err := Create(filepath.Join(dir, "file", "a"), Plain, 1); err == nil {
		t.Error("a file served as a folder")
	}
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o777))
	w, err := Create(filepath.Join(dir, "folder"), Zstd, 1)
	must(t, err)
	if err := w.Commit(); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left behind %v", entries)
	}
}

func BenchmarkWrite(b *testing.B) {
	data := benchLines(16<<20, 3000)
	for _, c := range []Compression{Plain, Gzip, Zstd} {
		b.Run("to"+suffix[c], func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a")
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				writeFile(b, path, c, 1, codec.PartSize, data)
			}
		})
	}
}
