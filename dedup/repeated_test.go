package dedup

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/alike-dev/alike/passage"
)

// The page has what many kept documents share, the same from files of any kind and with any memory; copies of one text
// do not make a passage frequent.
func TestThePageHasPassagesThatManyKeptDocumentsShare(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := func(n int) (text string) {
		for range n {
			text += fmt.Sprintf("w%x ", random.Uint32())
		}
		return text
	}
	notice, copied := words(20), words(60)
	var docs bytes.Buffer
	line := func(text string) {
		raw, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&docs, "%s\n", raw)
	}
	for i := range 5000 {
		switch {
		case i%4 == 0:
			line(words(60) + notice)
		case i%4 == 1:
			line(copied)
		default:
			line(words(60))
		}
	}
	dir := t.TempDir()
	plain, zipped := filepath.Join(dir, "docs.jsonl"), filepath.Join(dir, "docs.jsonl.gz")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(docs.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{plain: docs.Bytes(), zipped: z.Bytes()} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var before []passage.Repeated
	for _, path := range []string{plain, zipped} {
		for _, small := range []bool{false, true} {
			c := Config{Inputs: []string{path}}
			if small {
				tiny(&c)
				c.Work = WorkFolder{Path: filepath.Join(t.TempDir(), "work")}
			}
			r, _ := reported(t, c)
			if len(r.Repeated) != 1 || r.Sampled < 500 || r.Sampled > 1000 {
				t.Fatalf("%d passages in %d documents", len(r.Repeated), r.Sampled)
			}
			p := r.Repeated[0]
			share := float64(p.Texts) / float64(r.Sampled) // a third, of those that are kept
			if string(p.Text)+" " != notice || p.Tokens != 20 || share < 0.28 || share > 0.39 {
				t.Errorf("%q in %d of %d", p.Text, p.Texts, r.Sampled)
			}
			if before != nil && !reflect.DeepEqual(r.Repeated, before) {
				t.Errorf("%s, small %v: %v, before %v", path, small, r.Repeated, before)
			}
			before = r.Repeated
		}
	}
}
