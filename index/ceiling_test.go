package index

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/vfs/vfstest"
)

// An index that memory has no room for is refused before it is read, by a message with the ceiling that
// does; with that it is opened.
func TestAnIndexTooLargeForMemoryIsRefusedWithTheCeilingThatDoes(t *testing.T) {
	fsys := vfstest.NewMem()
	x, err := Create(indexDir, OpenOptions{FS: fsys, Options: Options{Recipe: recipes(t)["sets"], ByID: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(addAll(x, documentsFor(1, 5000), 500), x.Close()); err != nil {
		t.Fatal(err)
	}
	if x, err = Open(indexDir, OpenOptions{FS: fsys, ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	s := x.Stats()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	needed := ceilingFor(s.TableBytes + s.SlotBytes)
	for _, readOnly := range []bool{false, true} {
		o := OpenOptions{FS: fsys, ReadOnly: readOnly, Memory: 1}
		if _, err := Open(indexDir, o); !errors.Is(err, ErrMemory) {
			t.Fatal(err)
		}
		o.Memory = needed - 1
		if _, err := Open(indexDir, o); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), roundUp(needed)) {
			t.Fatalf("%v, want one with %s", err, roundUp(needed))
		}
		o.Memory = needed
		x, err := Open(indexDir, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// An index that grows until memory is full takes no more, answers as before, and is whole.
func TestAnIndexThatFillsMemoryTakesNoMore(t *testing.T) {
	fsys := vfstest.NewMem()
	const room = 2 << 20
	x, err := Create(indexDir, OpenOptions{FS: fsys, Options: Options{Recipe: recipes(t)["sets"], ByID: true}, Memory: ceilingFor(room)})
	if err != nil {
		t.Fatal(err)
	}
	docs := documentsFor(1, 40_000)
	added := 0
	for err = nil; err == nil && added < len(docs); added += 500 {
		err = addAll(x, docs[added:added+500], 500)
	}
	added -= 500
	if !errors.Is(err, ErrMemory) || x.Err() != nil {
		t.Fatal(err, x.Err())
	}
	if s := x.Stats(); s.TableBytes+s.SlotBytes > room*3/2 {
		t.Errorf("it holds %d bytes, and may hold %d", s.TableBytes+s.SlotBytes, room)
	}
	if _, err := x.CheckOne(docs[0]); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if x, err = Open(indexDir, OpenOptions{FS: fsys}); err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	all, err := x.Verify(t.Context(), func(d Damage) { t.Error(d) })
	if err != nil || all != int64(len(distinctIDs(docs[:added]))) {
		t.Fatalf("%d documents, %v, and %d were added", all, err, added)
	}
}

func distinctIDs(docs []Document) map[string]bool {
	ids := map[string]bool{}
	for _, d := range docs {
		ids[string(d.ID)] = true
	}
	return ids
}

// A reader once took any error of opening for a writer that changes the files meanwhile, tried fifty times, and
// blamed the writer.
func TestWhatIsWrongWithAnIndexIsToldToAReader(t *testing.T) {
	fsys := vfstest.NewMem()
	x, err := Create(indexDir, OpenOptions{FS: fsys, Options: Options{Recipe: recipes(t)["sets"]}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(addAll(x, documentsFor(1, 10), 10), x.Close()); err != nil {
		t.Fatal(err)
	}
	var state lines
	state.add("next", 11) // the store has lost a document
	if err := state.write(fsys, filepath.Join(indexDir, stateFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(indexDir, OpenOptions{FS: fsys, ReadOnly: true}); !errors.Is(err, ErrDamaged) || errors.Is(err, errChanging) {
		t.Error(err)
	}
}
