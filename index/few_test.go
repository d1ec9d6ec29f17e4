package index

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// An index that is opened for a few searches answers as one whose table of keys is in memory, whatever was built, added,
// deleted and compacted, with and without filters.
func TestAFewSearchesAnswerAsManyDo(t *testing.T) {
	all, containment := recipes(t), threshold(t, "containment>=0.5")
	names := slices.Sorted(maps.Keys(all))
	rapid.Check(t, func(t *rapid.T) {
		r := all[rapid.SampledFrom(names).Draw(t, "recipe")]
		o := Options{Recipe: r, ByID: rapid.Bool().Draw(t, "by id"), BucketCap: rapid.SampledFrom([]int{4, 64}).Draw(t, "cap"), Columns: []string{"one", "other"}}
		if r.BySets() {
			o.Containment = rapid.SampledFrom([]int{0, 2}).Draw(t, "containment")
		}
		n := rapid.SampledFrom([]int{30, 300}).Draw(t, "documents")
		if !testsize.Small() && rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			n = chunkDocs + 700
		}
		docs := documentsFor(rapid.Uint64().Draw(t, "seed"), n)
		fsys := vfstest.NewMem()
		built := rapid.IntRange(0, n).Draw(t, "built")
		fewMade(t, fsys, o, docs[:built], docs[built:])
		few, many := fewOpened(t, fsys, true), fewOpened(t, fsys, false)
		defer func() { _ = errors.Join(few.Close(), many.Close()) }()
		if few.filling == nil || len(few.view.Load().chunks) > 0 || few.Documents() != many.Documents() {
			t.Fatalf("%d documents, %d", few.Documents(), many.Documents())
		}
		few.filling.searches.Store(-1000)
		texts := newTexter(1)
		for i := range 20 {
			text := []byte(texts.next())
			if i%2 == 0 {
				text = docs[texts.random.IntN(n)].Text
			}
			answers := [2]string{}
			for at, x := range []*Index{few, many} {
				matches, err := x.NewSearcher().Search(text, SearchOptions{})
				answers[at] = fmt.Sprint(matches, err)
				if r.BySets() {
					matches, err = x.NewSearcher().Search(text, SearchOptions{Threshold: containment})
					answers[at] += fmt.Sprint(matches, err)
				}
				if i == 19 && r.BySets() {
					matches, err = x.NewSearcher().Search(text, SearchOptions{Exact: true})
					answers[at] += fmt.Sprint(matches, err)
				}
			}
			if answers[0] != answers[1] {
				t.Fatalf("%q:\n%s, with the table\n%s", text, answers[0], answers[1])
			}
		}
	})
}

// Of a key that many documents have, no more are held than a bucket has.
func TestAFewSearchesHoldNoMoreOfAKeyThanABucket(t *testing.T) {
	const most = 5
	fsys := vfstest.NewMem()
	b, err := NewBuilder(indexDir, BuildOptions{Options: Options{Recipe: recipes(t)["sets"], BucketCap: most}, FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	text := newTexter(7).next()
	var docs []Document
	for i := range 300 { // all are alike; every second one is a copy
		docs = append(docs, Document{ID: fmt.Append(nil, i), Text: fmt.Append(nil, text, " ", i%2*i)})
	}
	err = addAll(b, docs, 300)
	_, errFinish := b.Finish(t.Context())
	if err := errors.Join(err, errFinish, b.Close()); err != nil {
		t.Fatal(err)
	}
	x, err := Open(indexDir, OpenOptions{FS: fsys, ReadOnly: true, Few: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.NewSearcher().Search(docs[0].Text, SearchOptions{}); err != nil {
		t.Fatal(err)
	}
	few, fullest := x.view.Load().disk.(*few), 0
	for _, found := range few.known {
		fullest = max(fullest, len(found))
	}
	if fullest != most || len(few.held) > most*len(few.known) {
		t.Errorf("%d documents of a key are held, %d in all", fullest, len(few.held))
	}
}

// fewMade makes an index of documents that are built, and others that are added, of which some go.
func fewMade(t *rapid.T, fsys vfs.FS, o Options, built, added []Document) {
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := NewBuilder(indexDir, BuildOptions{Options: o, FS: fsys, Threads: 2})
	fatal(err)
	fatal(addAll(b, built, rapid.SampledFrom([]int{7, 1000}).Draw(t, "at once")))
	_, err = b.Finish(t.Context())
	fatal(errors.Join(err, b.Close()))
	x, err := Open(indexDir, OpenOptions{FS: fsys})
	fatal(err)
	change := func(docs []Document) {
		fatal(addAll(x, docs, 50))
		for i := range built {
			if o.ByID && i%9 == 1 {
				_, err := x.Delete(built[i].ID)
				fatal(err)
			}
		}
	}
	steps := rapid.SampledFrom([]string{"", "a", "ac", "aca", "afc", "fa"}).Draw(t, "steps")
	for i, step := range steps {
		switch step {
		case 'a':
			change(added[:len(added)/(len(steps)-i)])
		case 'c':
			fatal(x.Compact(t.Context()))
		case 'f': // a program that does not know filters has no use for them
			e := x.store.(*diskStore).engine
			half := x.view.Load().Next / 2
			fatal(e.db.DeleteRange(slotKey(nil, keyFilter, 0), slotKey(nil, keyFilter, half), pebble.Sync))
		}
	}
	fatal(x.Close())
}

func fewOpened(t *rapid.T, fsys vfs.FS, few bool) *Index {
	x, err := Open(indexDir, OpenOptions{FS: fsys, ReadOnly: true, Few: few, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// When searches have become many, or one compares all documents, memory is filled; an index that memory has no room for
// goes on without.
func TestMemoryIsFilledWhenSearchesHaveBecomeMany(t *testing.T) {
	fsys, docs := vfstest.NewMem(), documentsFor(4, 100)
	x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], Columns: []string{"one", "other"}}, FS: fsys})
	if err := errors.Join(err, addAll(x, docs, 10), x.Close()); err != nil {
		t.Fatal(err)
	}
	held := func(x *Index) int { return len(x.view.Load().chunks) }
	search := func(x *Index, o SearchOptions) {
		t.Helper()
		if _, err := x.NewSearcher().Search(docs[3].Text, o); err != nil {
			t.Fatal(err)
		}
	}
	open := func() *Index {
		x, err := Open(indexDir, OpenOptions{FS: fsys, ReadOnly: true, Few: true})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x = open()
	for range fewSearches {
		search(x, SearchOptions{})
	}
	before := held(x)
	search(x, SearchOptions{})
	if before != 0 || held(x) == 0 || x.Documents() != 100 {
		t.Fatalf("%d chunks after %d searches, then %d", before, fewSearches, held(x))
	}
	y := open()
	search(y, SearchOptions{Exact: true})
	if held(y) == 0 {
		t.Fatal("all documents are compared without memory")
	}
	z := open()
	z.filling.fill = func() error { return ErrMemory }
	for range 2 * fewSearches {
		search(z, SearchOptions{})
	}
	if _, err := z.NewSearcher().Search(docs[3].Text, SearchOptions{Exact: true}); !errors.Is(err, ErrMemory) {
		t.Fatal(err)
	}
	if err := errors.Join(x.Close(), y.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
}

// A block that is missing or damaged, and a damaged filter, are errors of a search that would have read them.
func TestDamageIsSeenByAFewSearches(t *testing.T) {
	for what, damage := range map[string]func(b *pebble.Batch) error{
		"missing block": func(b *pebble.Batch) error { return b.Delete(slotKey(nil, keyBlock, 0), nil) },
		"damaged block": func(b *pebble.Batch) error {
			return b.Set(slotKey(nil, keyBlock, 0), []byte("\x01\x01\x01 damaged"), nil)
		},
		"damaged filter": func(b *pebble.Batch) error { return b.Set(slotKey(nil, keyFilter, 0), make([]byte, 76), nil) },
	} {
		t.Run(what, func(t *testing.T) {
			fsys, docs := vfstest.NewMem(), documentsFor(4, 100)
			b, err := NewBuilder(indexDir, BuildOptions{Options: Options{Recipe: recipes(t)["sets"], Columns: []string{"one", "other"}}, FS: fsys})
			if err != nil {
				t.Fatal(err)
			}
			err = addAll(b, docs, 100)
			_, errFinish := b.Finish(t.Context())
			if err := errors.Join(err, errFinish, b.Close()); err != nil {
				t.Fatal(err)
			}
			x, err := Open(indexDir, OpenOptions{FS: fsys})
			if err != nil {
				t.Fatal(err)
			}
			batch := x.store.(*diskStore).engine.db.NewBatch()
			if err := errors.Join(damage(batch), batch.Commit(pebble.Sync)); err != nil {
				t.Fatal(err)
			}
			damages := 0
			if _, err := x.Verify(t.Context(), func(Damage) { damages++ }); err != nil || damages == 0 && what != "missing block" {
				t.Fatal("the check sees nothing", err)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			x, err = Open(indexDir, OpenOptions{FS: fsys, ReadOnly: true, Few: true})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if _, err := x.NewSearcher().Search(docs[0].Text, SearchOptions{}); !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
		})
	}
}
