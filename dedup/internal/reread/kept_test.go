package reread

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-dev/alike/corpus"
)

func TestKeptRecordsAreThoseOfTheFile(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 3000 {
		fmt.Fprintf(z, "{\"id\":%d,\"text\":\"%s\\n\"}\n", i, strings.Repeat(fmt.Sprint("word ", i, " "), i%60))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.jsonl.gz")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	options := corpus.Options{BlockSize: 16 << 10}
	sources, _, err := corpus.Find(t.Context(), []string{path}, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{0, 200 << 10, 1} {
		kept := &Kept{Memory: memory}
		each := func(visit func(b *corpus.Block, r *corpus.Record), before func(b *corpus.Block)) {
			file, err := corpus.Open(t.Context(), sources[0], options)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var b corpus.Block
			defer b.Release()
			var r corpus.Record
			for p := corpus.NewParser(options); ; {
				if err := file.Next(&b); err == io.EOF {
					return
				} else if err != nil {
					t.Fatal(err)
				}
				before(&b)
				for p.Start(file, &b); p.Next(&r); {
					visit(&b, &r)
				}
			}
		}
		each(func(b *corpus.Block, _ *corpus.Record) { b.Data()[0] = 0 }, func(b *corpus.Block) { kept.Add(3, b) })
		kept.Seal()
		found := 0
		each(func(b *corpus.Block, r *corpus.Record) {
			got := kept.Record(3, r.Offset, uint32(len(r.Raw)))
			if got != nil {
				found++
			}
			if got != nil && !bytes.Equal(got, r.Raw) {
				t.Fatalf("memory %d: record at %d is %q, kept as %q", memory, r.Offset, r.Raw, got)
			}
			if kept.Record(2, r.Offset, uint32(len(r.Raw))) != nil {
				t.Fatal("a record of a file that was not kept")
			}
		}, func(*corpus.Block) {})
		if full := found == 3000; full != (memory == 0) || (found == 0) != (memory == 1) {
			t.Errorf("memory %d: %d records kept", memory, found)
		}
	}
}
