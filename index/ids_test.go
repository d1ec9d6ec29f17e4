package index

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// kept is a document of the model: texts of equal numbers are equal, others have nothing in common.
type kept struct{ id, number, lang int }

// windowed is a list of documents, the oldest first, and the index that is to behave like it.
type windowed struct {
	options OpenOptions
	inFile  bool
	x       *Index
	docs    []kept
}

func (w *windowed) open(t *rapid.T, open func(string, OpenOptions) (*Index, error)) {
	var err error
	if w.inFile {
		w.x, err = open(indexDir, w.options)
	} else {
		w.x, err = New(w.options.Options)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (k kept) document() Document {
	text := ""
	for i := range 12 {
		text += fmt.Sprintf("word%d ", 100*k.number+i)
	}
	return Document{ID: fmt.Append(nil, k.id), Text: []byte(text), Columns: [][]byte{fmt.Append(nil, k.lang)}}
}

func (w *windowed) find(wanted func(k kept) bool) int { return slices.IndexFunc(w.docs, wanted) }

func (w *windowed) insert(k kept) {
	w.docs = append(w.docs, k)
	w.docs = w.docs[max(0, len(w.docs)-w.options.Window.Docs):]
}

// check compares the verdicts on a few documents with those of the list.
func (w *windowed) check(t *rapid.T) {
	b := w.x.NewCheck()
	var asked []kept
	filtered := rapid.Bool().Draw(t, "filtered")
	for range rapid.IntRange(1, 5).Draw(t, "documents") {
		k := drawKept(t)
		asked = append(asked, k)
		d := k.document()
		if filtered {
			d.Accepts = func(columns [][]byte) bool { return slices.Equal(columns[0], d.Columns[0]) }
		}
		b.Add(d)
	}
	if len(asked) == 1 { // asking gives the same answer and changes nothing
		if _, err := w.x.Ask(b); err != nil {
			t.Fatal(err)
		}
		asking := fmt.Sprint(b.verdicts)
		defer func() {
			if told := fmt.Sprint(b.verdicts); told != asking {
				t.Fatalf("asked: %s, then decided: %s", asking, told)
			}
		}()
	}
	verdicts, err := w.x.Check(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range asked {
		v := verdicts[i]
		known := w.find(func(of kept) bool { return of.id == k.id })
		of := w.find(func(of kept) bool { return of.number == k.number && (!filtered || of.lang == k.lang) })
		switch {
		case known >= 0:
			if !v.Known || v.New || string(v.Columns[0]) != fmt.Sprint(w.docs[known].lang) {
				t.Fatalf("%+v: %+v, but it is known", k, v)
			}
		case of >= 0:
			if v.New || v.Known || string(v.Of) != fmt.Sprint(w.docs[of].id) || v.Similarity != 1 {
				t.Fatalf("%+v: %+v, but it is like %+v", k, v, w.docs[of])
			}
		default:
			if !v.New || v.Known {
				t.Fatalf("%+v: %+v, but it is new", k, v)
			}
			w.insert(k)
		}
	}
}

func drawKept(t *rapid.T) kept {
	return kept{rapid.IntRange(0, 20).Draw(t, "id"), rapid.IntRange(0, 20).Draw(t, "number"), rapid.IntRange(0, 1).Draw(t, "lang")}
}

// step does the same to the list and the index.
func (w *windowed) step(t *rapid.T) {
	switch rapid.IntRange(0, 5).Draw(t, "step") {
	case 0:
		k := drawKept(t)
		b := w.x.NewBatch()
		b.Add(k.document())
		if err := w.x.Add(b); err != nil {
			t.Fatal(err)
		}
		w.docs = slices.DeleteFunc(w.docs, func(of kept) bool { return of.id == k.id })
		w.insert(k)
	case 1:
		id := rapid.IntRange(0, 20).Draw(t, "id")
		before := len(w.docs)
		w.docs = slices.DeleteFunc(w.docs, func(of kept) bool { return of.id == id })
		if n, err := w.x.Delete(fmt.Append(nil, id)); err != nil || n != before-len(w.docs) {
			t.Fatal(n, err)
		}
	case 2:
		if w.inFile {
			if err := w.x.Close(); err != nil {
				t.Fatal(err)
			}
			w.open(t, Open)
		}
	default:
		w.check(t)
	}
}

// What has left a window leaves its id too: another document can have it, and nothing of it is left in the store.
func TestDocumentsOfAWindowAreKnownByTheirIDs(t *testing.T) {
	sets := recipes(t)["sets"]
	rapid.Check(t, func(t *rapid.T) {
		w := &windowed{inFile: rapid.Bool().Draw(t, "in a folder")}
		w.options = OpenOptions{FS: vfs.FS(vfstest.NewMem()), Threads: 1, TailKeys: fewKeys, pieceBytes: fewBytes}
		w.options.Options = Options{Recipe: sets, ByID: true, Window: Window{Docs: rapid.IntRange(1, 12).Draw(t, "window")}, Columns: []string{"lang"}}
		if w.inFile {
			w.options.Keys = rapid.SampledFrom(bothKeys()).Draw(t, "keys")
		}
		w.open(t, Create)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step(t)
			for id := range 21 {
				w.get(t, id)
			}
		}
		if !w.inFile {
			if slots := w.x.store.(*memoryStore).slots; len(slots) != len(w.docs) {
				t.Fatalf("%d ids of %d documents", len(slots), len(w.docs))
			}
			return
		}
		if docs, err := w.x.Verify(t.Context(), func(d Damage) { t.Error(d) }); err != nil || docs != int64(len(w.docs)) {
			t.Fatal(docs, err)
		}
		if err := errors.Join(w.ids(len(w.docs)), w.x.Close()); err != nil {
			t.Fatal(err)
		}
	})
}

// ids is an error unless the store has so many ids.
func (w *windowed) ids(want int) error {
	it, err := w.x.store.(*diskStore).engine.ofKind(keyID)
	if err != nil {
		return err
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	if n != want {
		err = fmt.Errorf("%d ids of %d documents", n, want)
	}
	return errors.Join(err, it.Close())
}

func (w *windowed) get(t *rapid.T, id int) {
	at := w.find(func(of kept) bool { return of.id == id })
	d, found, err := w.x.Get(fmt.Append(nil, id))
	if err != nil || found != (at >= 0) {
		t.Fatalf("id %d: found %t, %v", id, found, err)
	}
	if found {
		want := w.docs[at].document()
		if string(d.Text) != string(want.Text) || string(d.Columns[0]) != string(want.Columns[0]) || string(d.ID) != string(want.ID) {
			t.Fatalf("%+v, want %+v", d, want)
		}
	}
}
