package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs"
)

func TestALockIsTakenOnceAndFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path, mine := filepath.Join(dir, "lock"), filepath.Join(dir, "mine")
	lock, err := Take(vfs.OS, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Take(vfs.OS, path); !errors.Is(err, ErrTaken) {
		t.Errorf("taken twice: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	for what, put := range map[string]func() error{
		"a link":            func() error { return os.Symlink(mine, path) },
		"a link to nothing": func() error { return os.Symlink("nowhere", path) },
		"a hard link":       func() error { return os.Link(mine, path) },
		"a folder":          func() error { return os.Mkdir(path, 0o777) },
	} {
		if err := put(); err != nil {
			t.Skip(err)
		}
		if _, err := Take(vfs.OS, path); !errors.Is(err, durable.ErrForeign) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s is gone: %v", what, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(mine); string(data) != "mine" {
		t.Errorf("the file behind the links holds %q, %v", data, err)
	}
}
