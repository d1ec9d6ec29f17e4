package reread

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs/vfstest"
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
	for _, c := range []struct {
		name       string
		most, held int64
		fails      []vfstest.OpKind
		found      func(n int) bool
	}{
		{"all in memory", 0, 1 << 20, nil, func(n int) bool { return n == 3000 }},
		{"all on disk", 0, 0, nil, func(n int) bool { return n == 3000 }},
		{"both, to their end", 0, 200 << 10, nil, func(n int) bool { return n == 3000 }},
		{"both", 0, 200 << 10, nil, func(n int) bool { return n == 3000 }},
		{"some in memory", 200 << 10, 200 << 10, nil, func(n int) bool { return n > 0 && n < 3000 }},
		{"some on disk", 200 << 10, 0, nil, func(n int) bool { return n > 0 && n < 3000 }},
		{"no room", 1, 1, nil, func(n int) bool { return n == 0 }},
		{"no file", 0, 0, []vfstest.OpKind{vfstest.OpCreate}, func(n int) bool { return n == 0 }},
		{"a full disk", 0, 200 << 10, []vfstest.OpKind{vfstest.OpFileWrite, vfstest.OpFileWriteAt}, func(n int) bool { return n > 0 && n < 3000 }},
	} {
		on := vfstest.Inject(vfstest.NewMem(), func(o vfstest.Op) error {
			if slices.Contains(c.fails, o.Kind) {
				return syscall.ENOSPC
			}
			return nil
		})
		space := scratch.New(scratch.Options{FS: on})
		if err := space.Keep("work"); err != nil {
			t.Fatal(err)
		}
		kept := &Kept{Held: c.held, space: space, most: c.most}
		var blocks []block
		table := &doctable.Table{}
		each(func(b *corpus.Block, _ *corpus.Record) {
			b.Data()[0] = 0
			table.Blocks[b.Seq].Docs++
		}, func(b *corpus.Block) {
			blocks = append(blocks, block{b.Seq, b.Offset, bytes.Clone(b.Data())})
			table.Blocks = append(table.Blocks, doctable.Block{File: 3, Seq: b.Seq})
			kept.Add(3, b)
		})
		table.Blocks = append(table.Blocks, doctable.EndBlock(3, int64(len(blocks))))
		kept.Seal()
		found := 0
		each(func(b *corpus.Block, r *corpus.Record) {
			length := uint32(len(r.Raw))
			if kept.Has(2, r.Offset, length) {
				t.Fatal("a record of a file that was not kept")
			}
			if !kept.Has(3, r.Offset, length) {
				return
			}
			found++
			if got, _, err := kept.Record(nil, 3, r.Offset, length); err != nil || !bytes.Equal(got, r.Raw) {
				t.Fatalf("%s: record at %d is %q, kept as %q, %v", c.name, r.Offset, r.Raw, got, err)
			}
		}, func(*corpus.Block) {})
		if !c.found(found) {
			t.Errorf("%s: %d records kept", c.name, found)
		}
		again := &Kept{space: space, files: map[int][]keptBlock{3: slices.Clone(kept.files[3])}, disk: kept.disk, taken: 1}
		if whole := again.Whole(table, 3); (whole != nil) != (found == 3000) {
			t.Errorf("%s: %d records of 3000 are kept, but whole is %t", c.name, found, whole != nil)
		} else if whole != nil {
			if got := taken(t, whole); !reflect.DeepEqual(got, blocks) {
				t.Errorf("%s: the blocks of the file are not those that were added", c.name)
			}
		}
		if again.Has(3, 0, 1) || again.Whole(table, 3) != nil {
			t.Errorf("%s: a file is taken twice", c.name)
		}
		if kept.disk != nil && found > 0 && c.name != "both, to their end" {
			if _, err := kept.disk.WriteAt(make([]byte, kept.used), 0); err == nil {
				refused := 0
				for _, b := range kept.files[3] {
					if b.data == nil {
						_, _, err := kept.Record(nil, 3, b.offset, uint32(b.length))
						if errors.Is(err, scratch.ErrDamaged) {
							refused++
						}
					}
				}
				if refused == 0 {
					t.Errorf("%s: damage was not found", c.name)
				}
			}
		}
		if c.name == "both, to their end" {
			if taken(t, kept.Whole(table, 3)); on.Left() > 0 {
				t.Errorf("%s: %d files are left open after all is taken", c.name, on.Left())
			}
		}
		kept.Release()
		if open := on.Left(); open > 0 || kept.Has(3, 0, 1) {
			t.Errorf("%s: %d files are left open", c.name, open)
		}
	}
}

// block is a block that was kept.
type block struct {
	seq, offset int64
	data        []byte
}

// taken takes all blocks, and tells whether what is said to be read of the file ascends to all of it.
func taken(t *testing.T, blocks *Blocks) (all []block) {
	for last := int64(0); ; {
		seq, offset, data, ok, err := blocks.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			if last != 1000 {
				t.Errorf("%d of 1000 bytes are read at the end", last)
			}
			return all
		}
		all = append(all, block{seq, offset, bytes.Clone(data)})
		if read := blocks.Read(1000); read < last || read > 1000 {
			t.Errorf("%d of 1000 bytes are read, before %d", read, last)
		} else {
			last = read
		}
	}
}
