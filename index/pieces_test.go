package index

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/vfs/vfstest"
	"github.com/cockroachdb/pebble/v2"
)

// longText returns a text whose record is in four pieces.
func longText() string {
	var b strings.Builder
	for i := 0; b.Len() < 3*fewBytes+fewBytes/2; i++ {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}

// pieces returns how many pieces a store has.
func (e *engine) pieces(t *testing.T) (n int) {
	t.Helper()
	it, err := e.ofKind(keyPiece)
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

// put adds documents.
func put(t *testing.T, x *Index, docs ...Document) {
	t.Helper()
	if err := addAll(x, docs, len(docs)); err != nil {
		t.Fatal(err)
	}
}

// textOf returns the text of a document with an id.
func textOf(t *testing.T, x *Index, id string) (string, error) {
	t.Helper()
	d, found, err := x.Get([]byte(id))
	if err == nil && !found {
		t.Errorf("%s is not there", id)
	}
	return string(d.Text), err
}

func TestALongRecordIsStoredInPiecesAndGoesWithThem(t *testing.T) {
	long := longText()
	for _, keys := range bothKeys() {
		x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true, Keys: keys}, FS: vfstest.NewMem(), TailKeys: fewKeys, pieceBytes: fewBytes})
		if err != nil {
			t.Fatal(err)
		}
		store := x.store.(*diskStore)
		put(t, x, Document{ID: []byte("short"), Text: []byte("a short text of six words")}, Document{ID: []byte("long"), Text: []byte(long)})
		if n := store.engine.pieces(t); n != 4 {
			t.Errorf("%d pieces", n)
		}
		if got, err := textOf(t, x, "long"); err != nil || got != long {
			t.Errorf("%q, %v", got, err)
		}
		place, closer, err := store.engine.db.Get(slotKey(nil, keyRecord, 1))
		if err != nil {
			t.Fatal(err)
		}
		place = slices.Clone(place)
		_ = closer.Close()
		put(t, x, Document{ID: []byte("long"), Text: []byte("it is short now, in one piece")})
		if n := store.engine.pieces(t); n != 0 {
			t.Errorf("%d pieces after it was replaced", n)
		}
		if _, _, err := store.engine.record(place, 1); !errors.Is(err, errGone) {
			t.Errorf("to a reader who has seen its place: %v", err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamagedPiecesAreNamed(t *testing.T) {
	fs := vfstest.NewMem()
	x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true}, FS: fs, pieceBytes: fewBytes})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	put(t, x, Document{ID: []byte("long"), Text: []byte(longText())})
	db := x.store.(*diskStore).engine.db
	piece := bytes.Repeat([]byte("x"), fewBytes)
	for what, damage := range map[string]func() error{
		"another piece": func() error { return db.Set(pieceKey(nil, 0, 1), piece, pebble.NoSync) },
		"a piece fewer": func() error { return db.Delete(pieceKey(nil, 0, 1), pebble.NoSync) },
		"no piece":      func() error { return db.DeleteRange(pieceKey(nil, 0, 0), pieceKey(nil, 1, 0), pebble.NoSync) },
		"a longer place": func() error {
			return db.Set(slotKey(nil, keyRecord, 0), sealed([]byte{recordVersion, byte(kindLong), 1, 2}, 0), pebble.NoSync)
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := textOf(t, x, "long"); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Before, records of any length were stored whole.
func TestALongRecordThatIsStoredWholeIsRead(t *testing.T) {
	x, err := Create(indexDir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true}, FS: vfstest.NewMem(), pieceBytes: fewBytes})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	long := longText()
	put(t, x, Document{ID: []byte("long"), Text: []byte(long)})
	e := x.store.(*diskStore).engine
	record := appendRecord(nil, record{kind: bodyText, id: []byte("long"), body: []byte(long)})
	if err := errors.Join(e.db.DeleteRange(pieceKey(nil, 0, 0), pieceKey(nil, 1, 0), pebble.NoSync),
		e.db.Set(slotKey(nil, keyRecord, 0), seal(record, durable.Checksum(0, record), 0), pebble.NoSync)); err != nil {
		t.Fatal(err)
	}
	if got, err := textOf(t, x, "long"); err != nil || got != long {
		t.Errorf("%q, %v", got, err)
	}
}
