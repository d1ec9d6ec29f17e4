package index

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// documentsFor returns documents of which many are alike, some equal, and some have the id of an
// earlier one.
func documentsFor(seed uint64, n int) (all []Document) {
	texts := newTexter(seed)
	for i := range n {
		text := texts.next()
		if i%7 == 3 {
			text = string(all[texts.random.IntN(i)].Text)
		}
		id := fmt.Sprint("id ", i)
		if i%11 == 5 {
			id = fmt.Sprint("id ", texts.random.IntN(i))
		}
		all = append(all, Document{ID: []byte(id), Text: []byte(text), Columns: [][]byte{[]byte(id), nil}})
	}
	return all
}

// builder is Index and Builder.
type builder interface {
	NewBatch() *Batch
	Add(*Batch) error
}

func addAll(b builder, docs []Document, each int) error {
	batch := b.NewBatch()
	for part := range slices.Chunk(docs, each) {
		batch.Reset()
		for _, d := range part {
			batch.Add(d)
		}
		if err := b.Add(batch); err != nil {
			return err
		}
	}
	return nil
}

// What a Builder makes answers as what Add makes does, and holds the same, whatever memory it has.
func TestAnIndexThatIsBuiltIsTheOneThatAddMakes(t *testing.T) {
	docs := documentsFor(1, 250)
	if testsize.Small() {
		docs = docs[:60]
	}
	for i := range docs {
		docs[i].Made = i%3 == 1
	}
	for name, r := range recipes(t) {
		if testsize.Small() && name != "sets" {
			continue
		}
		for _, keys := range []Keys{KeysInMemory, KeysOnDisk} { // with the race detector too: keys are written by several goroutines
			for _, byID := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, keys %s, by id %t", name, keys, byID), func(t *testing.T) {
					o := Options{Recipe: r, ByID: byID, Keys: keys, Columns: []string{"one", "other"}}
					if !byID {
						o.BucketCap = 8 // of full buckets what is removed is another matter
					}
					fsys := vfstest.NewMem()
					x, err := Create("added", OpenOptions{Options: o, FS: fsys, TailKeys: fewKeys, pieceBytes: fewBytes})
					if err != nil {
						t.Fatal(err)
					}
					if err := errors.Join(addAll(x, docs, 50), x.Compact(t.Context()), x.Close()); err != nil {
						t.Fatal(err)
					}
					b, err := NewBuilder(indexDir, BuildOptions{Options: o, FS: fsys, Threads: 3, Memory: 1 << 14, tableBytes: 4 << 10, pieceBytes: fewBytes})
					if err != nil {
						t.Fatal(err)
					}
					if err := addAll(b, docs, 37); err != nil {
						t.Fatal(err)
					}
					documents, err := b.Finish(t.Context())
					if err := errors.Join(err, b.Close()); err != nil {
						t.Fatal(err)
					}
					sameAnswers(t, fsys, docs, documents)
				})
			}
		}
	}
}

// sameAnswers checks that the index that was built is the one that was added to.
func sameAnswers(t *testing.T, fsys vfs.FS, docs []Document, documents int64) {
	t.Helper()
	var both []*Index
	for _, dir := range []string{"added", indexDir} {
		x, err := Open(dir, OpenOptions{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		if _, err := x.Verify(t.Context(), func(d Damage) { t.Error(d) }); err != nil {
			t.Fatal(err)
		}
		both = append(both, x)
	}
	added, built := both[0], both[1]
	apart := 0
	for id := range contents(t, built, 0) {
		apart += strings.Count(id, "#")
	}
	if built.Options().ByID != (apart > 0) {
		t.Fatalf("%d documents are named apart", apart)
	}
	if a, b := added.Stats(), built.Stats(); a.Documents != b.Documents || a.Next != b.Next || b.Documents != documents {
		t.Fatalf("%+v, %+v, %d", a, b, documents)
	}
	if a, b := contents(t, added, 0), contents(t, built, 0); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Fatal("they hold something else")
	}
	if a, b := bucketsOf(t, added), bucketsOf(t, built); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Fatal("their keys are others")
	}
	of, from := added.NewSearcher(), built.NewSearcher()
	for i := 0; i < len(docs); i += 3 {
		d := docs[i]
		want, err := of.Search(d.Text, SearchOptions{})
		got, err2 := from.Search(d.Text, SearchOptions{})
		if fmt.Sprint(want, err) != fmt.Sprint(got, err2) {
			t.Fatalf("%q: %v, %v, want %v, %v", d.Text, got, err2, want, err)
		}
	}
	// Both go on in the same way.
	for _, x := range both {
		if x.options.ByID {
			if n, err := x.Delete(docs[3].ID, docs[10].ID); err != nil || n != 2 {
				t.Fatal(n, err)
			}
		}
		if err := errors.Join(addAll(x, documentsFor(2, 30), 10), x.Sync()); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := contents(t, added, 0), contents(t, built, 0); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Fatal("they hold something else after they were added to")
	}
}

// bucketsOf returns, by prints, the slots on disk that have them and count.
func bucketsOf(t *testing.T, x *Index) map[uint64][]uint64 {
	t.Helper()
	all := map[uint64][]uint64{}
	v := x.view.Load()
	if v.settled == 0 {
		return all
	}
	it, err := newBuckets(x.store.(*diskStore).engine, v)
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		k, err := parseKeyOf(it.Key())
		if err != nil {
			t.Fatal(err)
		}
		if len(all[k.print]) < x.options.BucketCap {
			all[k.print] = append(all[k.print], k.slot)
		}
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// The power fails at any write of a build: the folder is no index, and another build makes the whole
// one; or it is that already.
func TestABuildThatWasKilledIsBegunAgain(t *testing.T) {
	docs, ids := documentsFor(3, 12), map[string]bool{}
	for _, d := range docs {
		ids[string(d.ID)] = true
	}
	for _, keys := range bothKeys() {
		o := BuildOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true, Keys: keys, Columns: []string{"one", "other"}}, Threads: 2, Memory: 1 << 12}
		build := func(fsys vfs.FS) error {
			o.FS = fsys
			b, err := NewBuilder(indexDir, o)
			if err != nil {
				return err
			}
			if err := addAll(b, docs, 6); err != nil {
				return err // as if it were killed: Close would clear up
			}
			_, err = b.Finish(t.Context())
			return err
		}
		eachCrash(t, build, func(left vfs.FS) error {
			x, err := Open(indexDir, OpenOptions{FS: left})
			if errors.Is(err, fs.ErrNotExist) {
				if err = build(left); err == nil {
					x, err = Open(indexDir, OpenOptions{FS: left})
				}
			}
			if err != nil {
				return err
			}
			n, err := x.Verify(t.Context(), func(d Damage) { t.Error(d) })
			if n != int64(len(ids)) {
				err = errors.Join(err, fmt.Errorf("%d documents, want %d", n, len(ids)))
			}
			return errors.Join(err, x.Close())
		})
	}
}

func TestABuildThatIsGivenUpLeavesNothing(t *testing.T) {
	fsys := vfstest.NewMem()
	o := BuildOptions{Options: Options{Recipe: recipes(t)["sets"], Keys: KeysOnDisk}, FS: fsys, Memory: 1 << 12}
	b, err := NewBuilder("one/of/them", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewBuilder("one/of/them", o); !errors.Is(err, ErrInUse) {
		t.Fatalf("another build at the same time: %v", err)
	}
	if err := errors.Join(addAll(b, documentsFor(4, 40), 10), b.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	if names, err := fsys.List(""); err != nil || len(names) > 0 {
		t.Errorf("%v are left, %v", names, err)
	}
	if err := b.Add(b.NewBatch()); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	if _, err := b.Finish(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// A build on a disk that is full says so, wherever it meets that, and leaves nothing.
func TestABuildThatFillsTheDiskLeavesNothing(t *testing.T) {
	for _, keys := range bothKeys() {
		for room := int64(0); ; room = 2*room + 1 { // writes
			mem, written := vfstest.NewMem(), atomic.Int64{}
			full := func(op vfstest.Op) error {
				if op.Kind == vfstest.OpFileWrite && written.Add(1) > room {
					return syscall.ENOSPC
				}
				return nil
			}
			o := BuildOptions{Options: Options{Recipe: recipes(t)["sets"], Keys: keys, ByID: true}, FS: vfstest.Inject(mem, full), Memory: 1 << 12, tableBytes: 1 << 10, pieceBytes: fewBytes}
			b, err := NewBuilder("built", o)
			if err == nil {
				if err = addAll(b, documentsFor(4, 60), 10); err == nil {
					_, err = b.Finish(t.Context())
				}
				if closed := b.Close(); closed != nil {
					t.Fatalf("%d writes: %v", room, closed)
				}
			}
			if err == nil {
				break
			}
			if names, e := mem.List(""); !errors.Is(err, syscall.ENOSPC) || e != nil || len(names) > 0 {
				t.Fatalf("%d writes: %v, and %v are left, %v", room, err, names, e)
			}
		}
	}
}

// unclosable is a file system whose folders, while failing is set, cannot be closed without an error.
type unclosable struct {
	vfs.FS
	failing *bool
}

func (u unclosable) OpenDir(name string) (vfs.File, error) {
	f, err := u.FS.OpenDir(name)
	return unclosableFile{f, u.failing}, err
}

type unclosableFile struct {
	vfs.File
	failing *bool
}

func (u unclosableFile) Close() error {
	err := u.File.Close()
	if *u.failing {
		err = errors.Join(err, errPower)
	}
	return err
}

// A store that cannot be closed ends a build with an error, and not the process.
func TestABuildWhoseStoreCannotBeClosedIsGivenUp(t *testing.T) {
	failing := false
	mem := vfstest.NewMem()
	b, err := NewBuilder(indexDir, BuildOptions{Options: Options{Recipe: recipes(t)["sets"]}, FS: unclosable{mem, &failing}})
	if err != nil {
		t.Fatal(err)
	}
	failing = true
	if _, err := b.Finish(t.Context()); !errors.Is(err, errPower) {
		t.Fatalf("%v", err)
	}
	failing = false
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if names, err := mem.List(""); err != nil || len(names) > 0 {
		t.Errorf("%v are left, %v", names, err)
	}
}
