package fence

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every call of a library that leads through a link fails, and changes nothing outside.
func TestNoCallLeadsOutOfTheFolder(t *testing.T) {
	base := t.TempDir()
	real, outside, folder := filepath.Join(base, "real"), filepath.Join(base, "outside"), filepath.Join(base, "folder")
	must(t, os.MkdirAll(filepath.Join(real, "store"), 0o777))
	must(t, os.Mkdir(outside, 0o777))
	mine := filepath.Join(outside, "mine")
	must(t, os.WriteFile(mine, []byte("mine"), 0o666))
	at := func(name string) string { return filepath.Join(folder, "store", name) }
	if err := errors.Join(os.Symlink(real, folder), os.Symlink(mine, at("link")), os.Symlink("nowhere", at("dangling")),
		os.Symlink(outside, at("dir")), os.Link(mine, at("hard"))); err != nil {
		t.Skip(err)
	}
	must(t, os.WriteFile(at("own"), []byte("own"), 0o666))
	f := Around(vfs.OS, folder)
	for _, name := range []string{"link", "dangling", "dir", "dir/mine", "dir/new"} {
		name = at(name)
		_, read := f.Open(name)
		_, write := f.OpenReadWrite(name)
		_, lock := f.Lock(name)
		_, stat := f.Stat(name)
		_, list := f.List(name)
		for what, err := range map[string]error{
			"Open": read, "OpenReadWrite": write, "Lock": lock, "Stat": stat, "List": list,
			"Link": f.Link(name, at("linked")), "MkdirAll": f.MkdirAll(filepath.Join(name, "more"), 0o777),
		} {
			if !errors.Is(err, durable.ErrForeign) {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
	}
	below := at("dir/mine")
	_, create := f.Create(below)
	for what, err := range map[string]error{"Create": create, "Rename": f.Rename(at("own"), below), "Remove": f.Remove(below), "RemoveAll": f.RemoveAll(below)} {
		if !errors.Is(err, durable.ErrForeign) {
			t.Errorf("%s below a link: %v", what, err)
		}
	}
	if _, err := f.List(filepath.Join(folder, "store")); !errors.Is(err, durable.ErrForeign) {
		t.Errorf("a folder with a link: %v", err)
	}
	if _, err := f.Lock(at("hard")); !errors.Is(err, durable.ErrForeign) {
		t.Errorf("Lock of a file with text: %v", err)
	}
	if _, err := f.OpenReadWrite(at("hard")); !errors.Is(err, durable.ErrForeign) {
		t.Errorf("OpenReadWrite of a file with a second name: %v", err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("the file outside: %q, %v", text, err)
	}
	if names, err := os.ReadDir(outside); err != nil || len(names) != 1 {
		t.Errorf("outside: %v, %v", names, err)
	}
}

// What is its own works as without the fence.
func TestTheFolderItselfIsOpen(t *testing.T) {
	folder := t.TempDir()
	f := Around(vfs.OS, folder)
	must(t, f.MkdirAll(filepath.Join(folder, "a", "b"), 0o777))
	name := filepath.Join(folder, "a", "b", "c")
	if _, err := f.Open(name); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	file, err := f.OpenReadWrite(name)
	must(t, err)
	_, err = file.Write([]byte("text"))
	must(t, errors.Join(err, file.Close(), f.Link(name, name+"2"), f.Rename(name+"2", name+"3"), f.Remove(name+"3")))
	lock, err := f.Lock(filepath.Join(folder, "LOCK"))
	must(t, err)
	must(t, lock.Close())
	if names, err := f.List(filepath.Join(folder, "a", "b")); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	must(t, f.RemoveAll(filepath.Join(folder, "a")))
}
