package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

const indexDir = "an index"

// fewKeys is how many keys memory holds in tests with keys on disk: some ten documents.
const fewKeys = 200

// fewBytes is the length of a record from which on tests store it in pieces: some records are longer.
const fewBytes = 300

// reopened closes an index and opens it again.
func reopened(t testing.TB, x *Index, fs vfs.FS, w Window) *Index {
	t.Helper()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := Open(indexDir, OpenOptions{Options: Options{Window: w}, FS: fs, TailKeys: fewKeys, pieceBytes: fewBytes})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// An index in a folder, closed and opened again now and then, decides as one in memory does.
func TestAnIndexThatIsOpenedAgainDecidesAsOneInMemory(t *testing.T) {
	type kind struct {
		Window
		cap  int
		keys Keys
	}
	kinds := map[string]kind{}
	for _, keys := range bothKeys() {
		for name, w := range map[string]Window{
			"all": {}, "docs": {Docs: 200}, "refresh": {Docs: 200, Refresh: true}, "age": {Age: 300 * time.Second, Late: 30 * time.Second},
		} {
			kinds[name+" "+string(keys)] = kind{w, 0, keys}
		}
		kinds["full "+string(keys)] = kind{Window{}, 3, keys}
	}
	for rname, r := range recipes(t) {
		for name, k := range kinds {
			w := k.Window
			t.Run(rname+" "+name, func(t *testing.T) {
				t.Parallel()
				fs := vfstest.NewMem()
				o := Options{Recipe: r, Window: w, BucketCap: k.cap}
				memory := made(t, o)
				o.Keys = k.keys
				x, err := Create(indexDir, OpenOptions{Options: o, FS: fs, TailKeys: fewKeys, pieceBytes: fewBytes})
				if err != nil {
					t.Fatal(err)
				}
				texts, now := newTexter(11), int64(1000)
				for batch := range 60 {
					if batch%9 == 8 {
						x = reopened(t, x, fs, w)
					}
					a, b := memory.NewCheck(), x.NewCheck()
					for range texts.random.IntN(30) {
						now += int64(texts.random.IntN(4))
						d := Document{ID: fmt.Append(nil, now), Text: []byte(texts.next()), Time: time.Unix(now-int64(texts.random.IntN(40)), 0)}
						a.Add(d)
						b.Add(d)
					}
					want, err := memory.Check(a, nil)
					if err != nil {
						t.Fatal(err)
					}
					got, err := x.Check(b, nil)
					if err != nil {
						t.Fatal(err)
					}
					for i := range want {
						if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
							t.Fatalf("batch %d: %+v, want %+v", batch, got[i], want[i])
						}
					}
					if got, want := x.Stats().Documents, memory.Stats().Documents; got != want && w.Age == 0 { // ages are known less finely
						t.Fatalf("batch %d: %d documents, want %d", batch, got, want)
					}
				}
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// What ByID holds is a map from ids to texts.
func TestDocumentsAreReplacedAndDeletedById(t *testing.T) {
	steps := 160
	if testsize.Small() {
		steps = 60
	}
	for _, place := range []string{"memory", "folder", "keys on disk"} {
		t.Run(place, func(t *testing.T) {
			fs, o := vfstest.NewMem(), Options{Recipe: recipes(t)["sets"], ByID: true, Containment: 4}
			x, err := New(o)
			onDisk := place != "memory"
			if onDisk {
				if place == "keys on disk" {
					o.Keys = KeysOnDisk
				}
				x, err = Create(indexDir, OpenOptions{Options: o, FS: fs, TailKeys: fewKeys, pieceBytes: fewBytes})
			}
			if err != nil {
				t.Fatal(err)
			}
			twin, random := map[string]string{}, rand.New(rand.NewPCG(5, 5))
			text := func() string { return fmt.Sprint("a b c d e f ", random.IntN(40)) } // many copies
			for step := range steps {
				switch id := fmt.Sprint(random.IntN(60)); {
				case onDisk && step%50 == 49:
					x = reopened(t, x, fs, Window{})
				case random.IntN(3) == 0:
					n, err := x.Delete([]byte(id), []byte("nobody"))
					_, had := twin[id]
					if err != nil || (n == 1) != had {
						t.Fatalf("%d deleted, %v; it was there: %v", n, err, had)
					}
					delete(twin, id)
				default:
					b := x.NewBatch()
					for _, id := range []string{id, fmt.Sprint(random.IntN(60)), id} {
						twin[id] = text()
						b.Add(Document{ID: []byte(id), Text: []byte(twin[id])})
					}
					if err := x.Add(b); err != nil {
						t.Fatal(err)
					}
				}
				if step%10 != 0 {
					continue
				}
				if got := x.Stats().Documents; got != int64(len(twin)) {
					t.Fatalf("step %d: %d documents, want %d", step, got, len(twin))
				}
				s := x.NewSearcher()
				for id, text := range twin {
					matches, err := s.Search([]byte(text), SearchOptions{})
					if err != nil {
						t.Fatal(err)
					}
					if !slices.ContainsFunc(matches, func(m Match) bool { return string(m.ID) == id && m.Similarity == 1 }) {
						t.Fatalf("step %d: %q of %s is not found among %v", step, text, id, matches)
					}
					for _, m := range matches {
						if _, there := twin[string(m.ID)]; !there {
							t.Fatalf("step %d: %s was deleted", step, m.ID)
						}
					}
				}
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestASecondProcessIsRefusedAndSoAreOtherOptions(t *testing.T) {
	dir := t.TempDir()
	o := Options{Recipe: recipes(t)["sets"], ByID: true}
	x, err := Create(dir, OpenOptions{Options: o})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, OpenOptions{}); !errors.Is(err, ErrInUse) {
		t.Errorf("%v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, OpenOptions{Options: o}); err == nil {
		t.Error("an index was made over another one")
	}
	for _, other := range []Options{{Recipe: recipes(t)["estimate"]}, {Keys: KeysOnDisk}, {BucketCap: 65}, {Window: Window{Docs: 1}}} {
		if _, err := Open(dir, OpenOptions{Options: other}); !errors.Is(err, ErrOther) {
			t.Errorf("%+v: %v", other, err)
		}
	}
	x, err = Open(dir, OpenOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.CheckOne(Document{Text: []byte("a b c")}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("%v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}
