package reread

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs/vfstest"
)

func TestSpooledRecordsComeBackOrAreRefused(t *testing.T) {
	on := vfstest.NewMem()
	w := scratch.New(scratch.Options{FS: on})
	if err := w.Keep("work"); err != nil {
		t.Fatal(err)
	}
	s := &spool{space: w}
	defer s.close()
	rng := rand.New(rand.NewPCG(1, 1))
	raw := map[uint32]string{}
	for _, doc := range rng.Perm(200)[:50] {
		raw[uint32(doc)] = strings.Repeat(fmt.Sprint(doc), rng.IntN(9))
		if err := s.put(uint32(doc), []byte(raw[uint32(doc)])); err != nil {
			t.Fatal(err)
		}
	}
	for doc, want := range raw {
		if got, err := s.get(nil, doc); err != nil || string(got) != want {
			t.Errorf("document %d: %q, %v", doc, got, err)
		}
	}
	if _, err := s.data.WriteAt(make([]byte, s.written), 0); err != nil {
		t.Fatal(err)
	}
	for doc, want := range raw {
		if got, err := s.get(nil, doc); err == nil && want != "" {
			t.Errorf("document %d: %q from a damaged file", doc, got)
		}
	}
}

// Workers put records at the same time: the second one must not find half a spool.
func TestASpoolThatCannotBeMadeIsAnErrorForEveryWorker(t *testing.T) {
	for _, failing := range []string{"records", "records.index"} {
		on := vfstest.Inject(vfstest.NewMem(), func(o vfstest.Op) error {
			if strings.HasSuffix(o.Path, "/"+failing) {
				return &fs.PathError{Op: "open", Path: o.Path, Err: syscall.ENOSPC}
			}
			return nil
		})
		w := scratch.New(scratch.Options{FS: on})
		if err := w.Keep("work"); err != nil {
			t.Fatal(err)
		}
		s := &spool{space: w}
		for range 2 {
			if err := s.put(3, []byte("record")); err == nil || !strings.Contains(err.Error(), failing) {
				t.Errorf("%s: error %v", failing, err)
			}
		}
		s.close()
		if open := on.Left(); open > 0 {
			t.Errorf("%d files are left open", open)
		}
	}
}
