package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// brokenDisk makes a source be read from a file system whose operation number n,
// counted from 0, fails; so do all reads after it when the disk stays broken.
// The counter tells how many there were.
func brokenDisk(s Source, n int64, stays bool, broken error) (Source, *atomic.Int64) {
	var seen atomic.Int64
	on := vfstest.Inject(vfs.OS, func(vfstest.Op) error {
		if i := seen.Add(1) - 1; i == n || stays && i > n {
			return broken
		}
		return nil
	})
	return s.WithCopy(s.Size, "", func() (RandomAccess, error) {
		f, err := on.Open(s.Path)
		if err != nil {
			return nil, openError(s.Path, err)
		}
		st, err := f.Stat()
		if err != nil {
			return nil, errors.Join(openError(s.Path, err), f.Close())
		}
		return &vfsFile{f, st.Size()}, nil
	}), &seen
}

// vfsFile is an open file of a vfs.FS.
type vfsFile struct {
	vfs.File
	size int64
}

func (f *vfsFile) Size() int64 { return f.size }

func TestEveryReadThatFailsIsToldOnceAndWhatIsReadIsRight(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, f := range []Format{JSONL, CSV, Lines, Text} {
		data := append([]byte("text\n"), small(200)...)
		if f == CSV {
			data = append([]byte("text\n"), bytes.Repeat([]byte("a,\"b\n\"\n"), 500)...)
		}
		for c := range suffix {
			s := sourceOf(t, "a"+suffix[c], pack(t, c, data, 4))
			s.Format = f
			right := map[got]bool{}
			for _, g := range twin(data, f, Options{}) {
				right[got{Offset: g.Offset, Raw: g.Raw}] = true
			}
			for n := int64(0); ; n++ {
				bad, seen := brokenDisk(s, n, n%2 == 1, broken)
				have, err := readAll(t, bad, Options{BlockSize: 1000}, 3)
				what := fmt.Sprintf("%s %s, operation %d", f, c, n)
				if seen.Load() <= n {
					must(t, err)
					if n < 3 { // opening, asking for the size, reading
						t.Errorf("%s: no operation after that", what)
					}
					break
				}
				if err == nil && f == Text { // a short document is tried in two ways
					compare(t, what, have, twin(data, f, Options{}))
					continue
				}
				var p *Problem
				if !errors.As(err, &p) || !strings.Contains(err.Error(), "the disk is broken") {
					t.Fatalf("%s: %v", what, err)
				}
				for _, g := range have {
					if f != CSV && !right[got{Offset: g.Offset, Raw: g.Raw}] {
						t.Fatalf("%s: a record that is not there: %v", what, g)
					}
				}
			}
		}
	}
}

func TestFileThatChangesAfterFindIsRefused(t *testing.T) {
	for name, change := range map[string]func(path string){
		"grown":     func(path string) { appendTo(t, path, "x\n") },
		"shrunk":    func(path string) { writeTo(t, path, "x") },
		"rewritten": func(path string) { writeTo(t, path, "{\"text\":\"b\"}\n") },
	} {
		s := sourceOf(t, "a.jsonl", []byte("{\"text\":\"a\"}\n"))
		f, err := Open(t.Context(), s, Options{})
		must(t, err)
		must(t, f.Close())
		change(s.Path)
		if _, err := Open(t.Context(), s, Options{}); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "a.jsonl: the file has changed since it was looked up; run again") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func appendTo(t *testing.T, path, text string) {
	data, err := os.ReadFile(path)
	must(t, err)
	writeTo(t, path, string(data)+text)
}

// writeTo writes a file, a moment later than it was written before.
func writeTo(t *testing.T, path, text string) {
	st, err := os.Stat(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(text), 0o666))
	must(t, os.Chtimes(path, time.Time{}, st.ModTime().Add(time.Second)))
}
