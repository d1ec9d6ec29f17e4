package stage

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// What was added to a spool is at its offset, in memory and in the file, within a piece and across pieces.
func TestASpoolReturnsWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fsys := vfstest.NewMem()
		if err := fsys.MkdirAll("/work", 0o755); err != nil {
			t.Fatal(err)
		}
		space := scratch.New(scratch.Options{FS: fsys, Threads: 1})
		if err := space.Keep("/work"); err != nil {
			t.Fatal(err)
		}
		s := newSpool(space, 2)
		s.most = rapid.SampledFrom([]int64{0, 10, spoolChunk / 2, 3 * spoolChunk}).Draw(t, "most")
		type place struct {
			offset int64
			n      int
		}
		var twin []byte
		var places []place
		for i := range rapid.IntRange(1, 12).Draw(t, "rows") {
			n := rapid.SampledFrom([]int{0, 1, 100, spoolChunk/3 + 1, spoolChunk - 1, spoolChunk, 2*spoolChunk + 5}).Draw(t, "bytes")
			row := bytes.Repeat([]byte{byte(i), byte(n)}, n/2+1)[:n]
			offset, err := s.add(row[:n/3], row[n/3:])
			if err != nil || offset != int64(len(twin)) {
				t.Fatal(offset, err)
			}
			twin = append(twin, row...)
			places = append(places, place{offset, n})
			for _, p := range places {
				got, err := s.at(p.offset, p.n)
				if err != nil || !bytes.Equal(got, twin[p.offset:][:p.n]) {
					t.Fatalf("%d bytes at %d differ: %v", p.n, p.offset, err)
				}
			}
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	})
}
