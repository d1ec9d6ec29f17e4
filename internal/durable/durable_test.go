package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnlyAFileSystemThatCannotSyncAFolderIsForgiven(t *testing.T) {
	for _, c := range []struct {
		err  error
		fine bool
	}{{nil, true}, {syscall.EINVAL, true}, {syscall.ENOTSUP, true}, {syscall.EIO, false}, {syscall.ENOSPC, false}} {
		mem := vfstest.NewMem()
		must(t, mem.MkdirAll("dir", 0o755))
		on := vfstest.Inject(mem, func(op vfstest.Op) error {
			if op.Kind == vfstest.OpFileSync {
				return c.err
			}
			return nil
		})
		if err := SyncDir(on, "dir"); (err == nil) != c.fine {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}

func TestAFileHasItsNameWhenItIsWholeAndKeepsItOverAPowerFailure(t *testing.T) {
	mem := vfstest.NewCrashable()
	f, err := Create(mem, "a/b/c")
	must(t, err)
	defer f.Abort()
	_, err = f.Write([]byte("whole"))
	must(t, err)
	if _, err := mem.Stat("a/b/c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before Commit: %v", err)
	}
	must(t, f.Commit())
	st, err := mem.CrashClone(vfstest.CrashCloneCfg{}).Stat("a/b/c")
	if err != nil || st.Size() != 5 {
		t.Errorf("after a power failure: %v, %v", st, err)
	}
}

func TestWhatIsNotOursIsNotOpened(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(at("own"), []byte("mine"), 0o666))
	must(t, os.WriteFile(at("twice"), []byte("mine"), 0o666))
	must(t, os.Mkdir(at("dir"), 0o777))
	if err := errors.Join(os.Symlink("own", at("link")), os.Symlink("nowhere", at("dangling")), os.Symlink("dir", at("dirlink")), os.Link(at("twice"), at("second"))); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]error{"own": nil, "link": ErrForeign, "dangling": ErrForeign, "twice": ErrForeign, "dir": ErrForeign, "none": fs.ErrNotExist} {
		f, err := OpenOwn(vfs.OS, at(name))
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if err == nil {
			must(t, f.Close())
		}
		if IsOwn(vfs.OS, at(name)) != (want == nil) {
			t.Errorf("%s: own is %v", name, want != nil)
		}
	}
	if _, err := os.Stat(at("nowhere")); err == nil {
		t.Error("a file was made through a link")
	}
	if err := CheckDir(vfs.OS, at("dir")); err != nil {
		t.Error(err)
	}
	if err := CheckDir(vfs.OS, at("dirlink")); !errors.Is(err, ErrForeign) {
		t.Errorf("a link to a folder: %v", err)
	}
}

// closing is a file that tells when it is closed.
type closing struct {
	vfs.File
	closed func()
}

func (c closing) Close() error {
	c.closed()
	return c.File.Close()
}

func TestAPoolReadsManyFilesWithFewOfThemOpen(t *testing.T) {
	const files, most, readers = 20, 3, 4
	var mu sync.Mutex
	open, peak := 0, 0
	mem := vfstest.NewMem()
	for i := range files {
		f, err := mem.Create(fmt.Sprint(i))
		must(t, err)
		_, err = f.Write([]byte{byte(i)})
		must(t, errors.Join(err, f.Close()))
	}
	pool := NewPool(most, func(name string) (vfs.File, error) {
		f, err := mem.Open(name)
		mu.Lock()
		defer mu.Unlock()
		open++
		peak = max(peak, open)
		return closing{f, func() {
			mu.Lock()
			defer mu.Unlock()
			open--
		}}, err
	})
	var all []*Pooled
	for i := range files {
		f, err := pool.Open(fmt.Sprint(i))
		must(t, err)
		all = append(all, f)
	}
	var group sync.WaitGroup
	for reader := range readers {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(reader), 1))
			b := make([]byte, 1)
			for range 2000 {
				i := rng.IntN(files)
				if _, err := all[i].ReadAt(b, 0); err != nil || int(b[0]) != i {
					t.Errorf("file %d: %d, %v", i, b[0], err)
				}
			}
		})
	}
	group.Wait()
	for _, f := range all {
		must(t, f.Close())
	}
	if _, err := all[0].ReadAt(make([]byte, 1), 0); err == nil {
		t.Error("read after Close")
	}
	if open != 0 || peak > max(most, readers) || peak < most {
		t.Errorf("%d open at the end, %d at once", open, peak)
	}
}
