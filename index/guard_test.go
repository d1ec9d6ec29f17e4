package index

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	pebblefs "github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/internal/fence"
	"github.com/alike-dev/alike/vfs"
)

// Pebble writes over old logs: not over one that has a second name, which may be another's.
func TestALogWithASecondNameIsNotWrittenOver(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	g := &guarded{fence.Around(vfs.OS, dir), func(err error) { t.Error(err) }}
	for _, c := range []struct {
		name      string
		elsewhere string
		want      string // the new log: the old one is written over or not
	}{{"own", "", "new text"}, {"hard", "mine", "new"}} {
		if err := os.WriteFile(at(c.name), []byte("old text"), 0o666); err != nil {
			t.Fatal(err)
		}
		if c.elsewhere != "" {
			if err := os.Link(at(c.name), at(c.elsewhere)); err != nil {
				t.Skip(err)
			}
		}
		f, err := g.ReuseForWrite(at(c.name), at("reused"), pebblefs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(at(c.name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the old name: %v", c.name, err)
		}
		if got, err := os.ReadFile(at("reused")); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		if c.elsewhere == "" {
			continue
		}
		if got, err := os.ReadFile(at(c.elsewhere)); err != nil || string(got) != "old text" {
			t.Errorf("the file elsewhere: %q, %v", got, err)
		}
	}
}
