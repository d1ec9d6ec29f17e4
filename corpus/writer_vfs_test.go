package corpus

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/alike-dev/alike/corpus/internal/codec"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// listAll returns the paths of all files of a memory file system.
func listAll(t *testing.T, on vfs.FS, dir string) (files []string) {
	t.Helper()
	names, err := on.List(dir)
	must(t, err)
	for _, name := range names {
		p := filepath.ToSlash(filepath.Join(dir, name))
		st, err := on.Stat(p)
		must(t, err)
		if st.IsDir() {
			files = append(files, listAll(t, on, p)...)
		} else {
			files = append(files, p)
		}
	}
	return files
}

func contents(t *testing.T, on vfs.FS, path string) []byte {
	t.Helper()
	f, err := on.Open(path)
	must(t, err)
	defer f.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(f)
	must(t, err)
	return b.Bytes()
}

// create is Create on a file system, with parts of another size.
func create(on vfs.FS, path string, c Compression, threads, partSize int) (*Writer, error) {
	compress, err := codec.CompressorOf(codec.Name(c))
	if err != nil {
		return nil, err
	}
	to, err := durable.Create(on, path)
	if err != nil {
		return nil, err
	}
	return newWriter(to, compress, threads, partSize), nil
}

// writeOn writes data to path as a caller does.
func writeOn(on vfs.FS, path string, c Compression, data []byte) error {
	w, err := create(on, path, c, 2, 1000)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Commit()
}

// crash is what is left of a memory file system when the power fails, with so
// much luck for what was not synced.
func crash(on *vfstest.Mem, luck int) *vfstest.Mem {
	return on.CrashClone(vfstest.CrashCloneCfg{UnsyncedDataPercent: luck, RNG: rand.New(rand.NewPCG(1, uint64(luck)))})
}

func TestWhatIsCommittedOutlastsAPowerFailure(t *testing.T) {
	data := benchLines(5000, 100)
	for _, c := range append([]Compression{Plain}, compressions...) {
		mem := vfstest.NewCrashable()
		must(t, writeOn(mem, "/new/deep/a", c, data))
		if after := contents(t, crash(mem, 0), "/new/deep/a"); !bytes.Equal(unpack(t, c, after), data) {
			t.Errorf("%q: %d bytes are left", c, len(after))
		}
	}
}

func TestCrashAtAnyWriteOperationLeavesTheOldFileOrTheNewOne(t *testing.T) {
	before, after := []byte("before"), benchLines(5000, 100)
	for _, c := range []Compression{Plain, Zstd} {
		mem := vfstest.NewCrashable()
		must(t, writeOn(mem, "/dir/a", Plain, before))
		crashes := 0
		look := func(op vfstest.Op) error {
			if !op.Kind.Writes() {
				return nil
			}
			for _, luck := range []int{0, 50, 100} {
				have := contents(t, crash(mem, luck), "/dir/a")
				if !bytes.Equal(have, before) && !bytes.Equal(unpack(t, c, have), after) {
					t.Errorf("%q: after a crash at %v %s the file has %d bytes", c, op.Kind, op.Path, len(have))
				}
				crashes++
			}
			return nil
		}
		must(t, writeOn(vfstest.Inject(mem, look), "/dir/a", c, after))
		if crashes < 15 {
			t.Errorf("%q: %d crashes only", c, crashes)
		}
	}
}

func TestEveryOperationThatFailsIsToldAndLeavesNothingBehind(t *testing.T) {
	broken := errors.New("the disk is full")
	data := benchLines(5000, 100)
	for _, c := range []Compression{Plain, Gzip} {
		failures := 0
		for n := int32(0); ; n++ {
			mem := vfstest.NewMem()
			seen, failed := int32(0), vfstest.Op{}
			on := vfstest.Inject(mem, func(op vfstest.Op) error {
				if op.Kind == vfstest.OpStat {
					return nil
				}
				if seen++; seen == n+1 {
					failed = op
					return broken
				}
				return nil
			})
			err := writeOn(on, "/dir/sub/a", c, data)
			if failed == (vfstest.Op{}) {
				must(t, err)
				break
			}
			failures++
			if !errors.Is(err, broken) {
				t.Errorf("%q: %v %s fails, and the result is %v", c, failed.Kind, failed.Path, err)
			}
			for _, left := range listAll(t, mem, "/") {
				if whole := failed.Kind == vfstest.OpFileSync || failed.Kind == vfstest.OpOpenDir; left != "/dir/sub/a" || !whole {
					t.Errorf("%q: %v %s fails and leaves %s", c, failed.Kind, failed.Path, left)
				}
			}
		}
		if failures < 8 {
			t.Errorf("%q: %d operations only", c, failures)
		}
	}
}

func TestLimitOfMemoryBoundsThePartsAndChangesNoByte(t *testing.T) {
	data := benchLines(30_000, 500)
	var want []byte
	part := int64(10 << 20)
	for _, limit := range []int64{0, 1, 2 * part, 1 << 40} {
		mem := vfstest.NewMem()
		w, err := create(mem, "/a.gz", Gzip, 3, 1000)
		must(t, err)
		w.Limit(limit)
		if have := int64(len(w.free)); have != min(4, max(1, limit/part)) {
			t.Errorf("%d parts with %d bytes", have, limit)
		}
		_, err = w.Write(data)
		must(t, err)
		must(t, w.Commit())
		have := contents(t, mem, "/a.gz")
		if want == nil {
			want = have
		}
		if !bytes.Equal(have, want) {
			t.Errorf("other bytes with %d bytes of memory", limit)
		}
	}
}
