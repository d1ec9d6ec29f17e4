package index

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// A writer adds batches of documents to an index whose tables in memory are small, so that logs
// are used again and tables come and go; readers open it all the while. Each sees whole batches up to
// one that is not older than what was safe when it began, and nothing that is damaged.
func TestAnIndexIsReadWhileAnotherProcessWritesToIt(t *testing.T) {
	for _, keys := range bothKeys() {
		t.Run("keys "+string(keys), func(t *testing.T) { readBeside(t, keys) })
	}
}

func readBeside(t *testing.T, keys Keys) {
	const each = 20
	dir := t.TempDir()
	x, err := Create(dir, OpenOptions{Options: Options{Recipe: recipes(t)["sets"], ByID: true, Keys: keys}, memTable: 64 << 10, TailKeys: 20 * fewKeys, pieceBytes: fewBytes})
	if err != nil {
		t.Fatal(err)
	}
	var safe atomic.Int64 // documents
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		b := x.NewBatch()
		for n := 0; n < 8000; {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			b.Reset()
			for range each {
				b.Add(Document{ID: []byte(strconv.Itoa(n)), Text: fmt.Appendf(nil, "document %d has a text of %d words and %d", n, n%97, n%89)})
				n++
			}
			if err := errors.Join(x.Add(b), x.Sync()); err != nil {
				stopped <- err
				return
			}
			safe.Store(int64(n))
		}
		<-stop
		stopped <- nil
	}()
	seen := uint64(0)
	for opened := 0; opened < 8 || safe.Load() < 2000; opened++ {
		atLeast := safe.Load()
		r, err := Open(dir, OpenOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		n := r.Stats().Next
		if n < uint64(atLeast) || n%each != 0 || n < seen {
			t.Fatalf("%d documents are seen, %d were safe before and %d seen", n, atLeast, seen)
		}
		documents, err := r.Verify(t.Context(), func(d Damage) { t.Error(d) })
		if err != nil || uint64(documents) != n {
			t.Fatalf("%d of %d documents, %v", documents, n, err)
		}
		if n > 0 {
			last := n - 1
			query := fmt.Appendf(nil, "document %d has a text of %d words and %d", last, last%97, last%89)
			if m, err := r.NewSearcher().Search(query, SearchOptions{}); err != nil || len(m) == 0 || m[0].Similarity != 1 {
				t.Fatalf("%v, %v", m, err)
			}
		}
		if _, err := r.CheckOne(Document{Text: []byte("a b c")}); !errors.Is(err, ErrReadOnly) {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		seen = n
	}
	close(stop)
	if err := errors.Join(<-stopped, x.Close()); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 3 {
		t.Errorf("%v are left, %v", names, err)
	}
}
