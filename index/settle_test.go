package index

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// Searches, look-ups and deletions answer the same wherever keys are, whatever was added, deleted,
// settled and opened again before.
func TestKeysOnDiskAnswerAsKeysInMemoryDo(t *testing.T) {
	containment := threshold(t, "containment>=0.5")
	all := recipes(t)
	names := slices.Sorted(maps.Keys(all))
	rapid.Check(t, func(t *rapid.T) {
		r := all[rapid.SampledFrom(names).Draw(t, "recipe")]
		p := newPair(t, r)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			p.step(t)
		}
		if a, b := p.both[0].Stats(), p.both[1].Stats(); a.Documents != b.Documents || a.Next != b.Next {
			t.Fatalf("%+v\n%+v", a, b)
		}
		maker := r.NewMaker(recipe.MakerOptions{Signature: true})
		for range 20 {
			text := []byte(p.texts.next())
			answers := [2]string{}
			for i, x := range p.both {
				matches, err := x.NewSearcher().Search(text, SearchOptions{})
				answers[i] = fmt.Sprint(matches, err)
				if r.BySets() {
					matches, err = x.NewSearcher().Search(text, SearchOptions{Threshold: containment})
					answers[i] += fmt.Sprint(matches, err)
				}
				if p.looks[i] != nil {
					id, similarity, found, err := p.looks[i].Look(maker, maker.Make(text), text, nil)
					answers[i] += fmt.Sprint(string(id), similarity, found, err)
				}
			}
			if answers[0] != answers[1] {
				t.Fatalf("%q:\n%s, on disk\n%s", text, answers[0], answers[1])
			}
		}
		var damages []Damage
		n, err := p.both[1].Verify(t.Context(), func(d Damage) { damages = append(damages, d) })
		if err != nil || len(damages) > 0 || n != p.both[1].Stats().Documents {
			t.Fatalf("%d documents, %v, %v", n, damages, err)
		}
		p.close(t)
	})
}

// pair is an index with keys in memory, and one with keys on disk.
type pair struct {
	options Options
	fs      [2]vfs.FS
	both    [2]*Index
	looks   [2]*Looker // of what was there at first
	texts   *texter
}

func newPair(t *rapid.T, r recipe.Recipe) *pair {
	p := &pair{options: Options{Recipe: r, ByID: true}, fs: [2]vfs.FS{vfstest.NewMem(), vfstest.NewMem()}, texts: newTexter(rapid.Uint64().Draw(t, "seed"))}
	if r.BySets() {
		p.options.Containment = 2
	}
	p.open(t, Create)
	return p
}

func (p *pair) open(t *rapid.T, open func(string, OpenOptions) (*Index, error)) {
	for i := range p.both {
		o := OpenOptions{Options: p.options, FS: p.fs[i], Threads: 1, TailKeys: fewKeys, pieceBytes: fewBytes}
		o.Keys = []Keys{KeysInMemory, KeysOnDisk}[i]
		var err error
		if p.both[i], err = open(indexDir, o); err != nil {
			t.Fatal(err)
		}
	}
	p.looks = [2]*Looker{}
}

func (p *pair) close(t *rapid.T) {
	for _, x := range p.both {
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// step does the same to both.
func (p *pair) step(t *rapid.T) {
	random := p.texts.random
	switch rapid.IntRange(0, 5).Draw(t, "step") {
	case 0:
		p.close(t)
		p.open(t, Open)
	case 1:
		var ids [][]byte
		for range 5 {
			ids = append(ids, fmt.Append(nil, random.IntN(80)))
		}
		a, errA := p.both[0].Delete(ids...)
		b, errB := p.both[1].Delete(ids...)
		if a != b || errA != nil || errB != nil {
			t.Fatalf("%d, %v; %d, %v deleted", a, errA, b, errB)
		}
	case 2:
		if err := p.both[1].Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	default:
		a, b := p.both[0].NewBatch(), p.both[1].NewBatch()
		for range random.IntN(40) {
			d := Document{ID: fmt.Append(nil, random.IntN(80)), Text: []byte(p.texts.next())}
			a.Add(d)
			b.Add(d)
		}
		if errA, errB := p.both[0].Add(a), p.both[1].Add(b); errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if p.looks[0] == nil {
			for i, x := range p.both {
				p.looks[i] = x.NewLooker(x.Stats().Next)
			}
		}
	}
}

// What is settled leaves memory, and what is lost of it is told.
func TestLostKeysOnDiskAreNamed(t *testing.T) {
	x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true, Keys: KeysOnDisk}, FS: vfstest.NewMem(), TailKeys: fewKeys, pieceBytes: fewBytes})
	if err != nil {
		t.Fatal(err)
	}
	texts := newTexter(4)
	for i := range 30 {
		b := x.NewBatch()
		for j := range 10 {
			b.Add(Document{ID: fmt.Append(nil, i, " ", j), Text: []byte(texts.next())})
		}
		if err := x.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.store.settle(true); err != nil {
		t.Fatal(err)
	}
	v := x.view.Load()
	if v.settled < 200 || v.table.Len() > 2*fewKeys || len(v.chunks) > 1 {
		t.Fatalf("%d slots of %d are settled; memory has %d keys, %d chunks", v.settled, v.Next, v.table.Len(), len(v.chunks))
	}
	s := x.store.(*diskStore)
	damages := func() (n int) {
		if _, err := x.Verify(t.Context(), func(Damage) { n++ }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := damages(); n != 0 {
		t.Fatalf("%d damages of an index that is whole", n)
	}
	it, err := s.engine.db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var keys, values [][]byte
	for ok := it.First(); ok; ok = it.Next() {
		if k := it.Key()[0]; k == keyKey || k == keyFacts {
			keys, values = append(keys, slices.Clone(it.Key())), append(values, slices.Clone(it.Value()))
		}
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, len(keys) / 3, len(keys) / 2, len(keys) - 1} {
		if err := s.engine.db.Delete(keys[i], nil); err != nil {
			t.Fatal(err)
		}
		if damages() == 0 {
			t.Errorf("%q is gone, and nobody says so", keys[i])
		}
		if err := s.engine.db.Set(keys[i], values[i], nil); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := x.Delete([]byte("7 7")); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := s.engine.db.Set(keyOf{print: 5, slot: 77}.append(nil), nil, nil); err != nil {
		t.Fatal(err)
	}
	if damages() == 0 {
		t.Error("a key that leads nowhere is not told")
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// Of a document with many keys two may have the same print, and a table takes a key once.
func TestADocumentIsSettledWhenTwoOfItsKeysHaveOnePrint(t *testing.T) {
	x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], Keys: KeysOnDisk}, FS: vfstest.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.CheckOne(Document{ID: []byte("a"), Text: []byte("some words of a text")}); err != nil {
		t.Fatal(err)
	}
	v := x.view.Load()
	for range 2 {
		v.table.Insert(1<<40|1, 0, v.Range)
	}
	if err := errors.Join(x.store.settle(true), x.Close()); err != nil {
		t.Fatal(err)
	}
}

// While documents are being settled some of them are deleted, expire, and are replaced by a copy. What the disk has of
// those goes, whether the process goes on, or ends before it has noted that they are settled and another one
// settles them again.
func TestWhatGoesWhileItIsSettledLeavesNothingOnDisk(t *testing.T) {
	for _, o := range []Options{{ByID: true}, {Window: Window{Docs: 150}}} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%+v killed %t", o.Window, killed), func(t *testing.T) {
				fs := vfstest.NewCrashable()
				o.Recipe, o.Keys = recipes(t)["sets"], KeysOnDisk
				open := OpenOptions{Options: o, FS: fs, TailKeys: 1 << 20, Threads: 1}
				x, err := Create(indexDir, open)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				add := func(texts ...int) {
					b := x.NewBatch()
					for _, i := range texts {
						b.Add(Document{ID: fmt.Append(nil, n), Text: fmt.Append(nil, "words that all have, and then ", i, i*i, i*i*i, i, 7*i)})
						n++
					}
					if err := x.Add(b); err != nil {
						t.Fatal(err)
					}
				}
				for i := range 100 {
					add(i, i)
				}
				s := x.store.(*diskStore)
				s.settler.begin()
				w := s.settler.current
				<-w.ended
				ended := w.ended
				w.ended = make(chan struct{}) // as if it were at work still
				for i := range 100 {
					add(1000 + i)
					if o.ByID && i%3 == 0 {
						if n, err := x.Delete(fmt.Append(nil, 2*i)); n != 1 || err != nil {
							t.Fatal(n, err)
						}
					}
				}
				if killed {
					if err := x.Sync(); err != nil {
						t.Fatal(err)
					}
					open.FS = fs.CrashClone(vfstest.CrashCloneCfg{})
					left, err := Open(indexDir, open)
					if err != nil {
						t.Fatal(err)
					}
					if s := left.store.(*diskStore); s.settler.ready != 200 || left.view.Load().settled != 0 {
						t.Fatalf("%d documents are ready, %d settled", s.settler.ready, left.view.Load().settled)
					}
					w.ended = ended
					if err := x.Close(); err != nil {
						t.Fatal(err)
					}
					x = left
				}
				w.ended = ended
				for i := range 2 {
					add(2000 + i)
					if err := x.store.settle(true); err != nil {
						t.Fatal(err)
					}
					if docs, err := x.Verify(t.Context(), func(d Damage) { t.Error(d) }); err != nil || docs != x.Documents() {
						t.Fatal(docs, x.Documents(), err)
					}
				}
				keys := keysOfLiving(t, x)
				if err := x.Close(); err != nil || keys < 17*100 {
					t.Fatal(keys, err)
				}
			})
		}
	}
}

// keysOfLiving counts the keys on disk, which all lead to documents that are there.
func keysOfLiving(t *testing.T, x *Index) (keys int) {
	v := x.view.Load()
	it, err := newBuckets(x.store.(*diskStore).engine, v)
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		k, err := parseKeyOf(it.Key())
		if err != nil || !v.has(k.slot) {
			t.Fatalf("key %+v is left, %v", k, err)
		}
		keys++
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// A document is moved to the end of the window while it is being settled, and others expire: none of those gets its
// keys on disk.
func TestKeysThatGoWhileTheyAreSettledAreNobodysThen(t *testing.T) {
	mem, began, goOn := vfstest.NewMem(), make(chan struct{}, 100), make(chan struct{})
	wait := func(op vfstest.Op) error {
		if op.Kind == vfstest.OpCreate && isSettleFile(filepath.Base(op.Path)) {
			began <- struct{}{}
			<-goOn
		}
		return nil
	}
	o := OpenOptions{Options: Options{Recipe: recipes(t)["sets"], Keys: KeysOnDisk, Window: Window{Docs: 50, Refresh: true}}, FS: vfstest.Inject(mem, wait), Threads: 1}
	x, err := Create(indexDir, o)
	if err != nil {
		t.Fatal(err)
	}
	text := func(n int) []byte {
		return fmt.Appendf(nil, "one%d two%d three%d four%d five%d six%d", n, n, n, n, n, n)
	}
	n := 0
	add := func(docs int) {
		b := x.NewBatch()
		for range docs {
			b.Add(Document{Text: text(n)})
			n++
		}
		if err := x.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	add(100)
	x.store.(*diskStore).settler.begin()
	<-began
	add(30)
	if v, err := x.CheckOne(Document{Text: text(85)}); v.New || v.Slot != 85 || err != nil {
		t.Fatal(v, err)
	}
	close(goOn)
	for range 2 { // what expires goes when documents are settled the next time
		if err := x.store.settle(true); err != nil {
			t.Fatal(err)
		}
		add(60)
	}
	if err := x.store.settle(true); err != nil {
		t.Fatal(err)
	}
	keys := keysOfLiving(t, x)
	if err := x.Close(); err != nil || keys == 0 {
		t.Error(keys, err)
	}
}

// A disk that refuses one table of what is settled is not given the next ones, the index takes no more, and
// nothing is lost or left.
func TestSettlingEndsWhereItFails(t *testing.T) {
	mem, refused := vfstest.NewMem(), errors.New("refused")
	tries := 0 // of the goroutine that settles
	refuse := func(op vfstest.Op) error {
		if op.Kind == vfstest.OpCreate && isSettleFile(filepath.Base(op.Path)) {
			tries++
			return refused
		}
		return nil
	}
	o := OpenOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true, Keys: KeysOnDisk}, FS: vfstest.Inject(mem, refuse), Threads: 1}
	x, err := Create(indexDir, o)
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBatch()
	for i := range 100 {
		b.Add(Document{ID: fmt.Append(nil, i), Text: fmt.Append(nil, "a text of some words, number ", i, i*i)})
	}
	if err := x.Add(b); err != nil {
		t.Fatal(err)
	}
	x.store.(*diskStore).settler.begin()
	if err := x.store.settle(true); !errors.Is(err, refused) || tries != 1 {
		t.Errorf("%v after %d tries", err, tries)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	o.FS = mem
	if x, err = Open(indexDir, o); err != nil {
		t.Fatal(err)
	}
	docs, err := x.Verify(t.Context(), func(d Damage) { t.Error(d) })
	if err := errors.Join(err, x.Close()); docs != 100 || err != nil {
		t.Error(docs, err)
	}
}
