package doctable

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// plainDocument is a document as the tests of tables know it.
type plainDocument struct {
	Document
	id, value string
	keys      []uint64
	features  []uint32 // hashes of them
	signature []uint32
	set       []uint64
}

// tableSize says what there is in a table of tests.
type tableSize struct {
	files, docs, bands, k int
	sets                  int // 0: no document has any features
	values                bool
}

// someTables makes the same documents into two tables: one in memory, the other in
// parts. docs are its documents in order.
func someTables(t failer, rng *rand.Rand, size tableSize) (inMemory, inParts *Table, docs []plainDocument) {
	t.Helper()
	w := scratch.New(scratch.Options{FS: vfstest.NewMem(), Scheme: "scheme"})
	if err := w.Keep("work"); err != nil {
		t.Fatalf("%v", err)
	}
	inMemory = &Table{ReferenceFiles: 1, bands: size.bands, k: size.k, HasSets: true, hasIDs: true}
	for i := range size.files {
		inMemory.Sources = append(inMemory.Sources, corpus.Source{Path: fmt.Sprintf("f%d.jsonl", i), Format: corpus.JSONL})
	}
	inParts = &Table{Sources: inMemory.Sources, ReferenceFiles: 1, bands: size.bands, k: size.k, HasSets: true}

	// Blocks come in any order, some of them without documents.
	type placed struct {
		file int
		seq  int64
		docs []plainDocument
	}
	var blocks []placed
	for file := range size.files {
		for seq := range int64(1 + rng.IntN(5)) {
			b := placed{file: file, seq: seq}
			for range rng.IntN(1 + 2*size.docs/max(size.files*3, 1)) {
				b.docs = append(b.docs, someDocument(rng, size, len(b.docs)))
			}
			docs = append(docs, b.docs...)
			blocks = append(blocks, b)
		}
		blocks = append(blocks, placed{file, endOfFile, nil})
	}
	rng.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })

	var part *partWriter
	var names []PartName
	seal := func() {
		if part != nil {
			if err := part.seal(); err != nil {
				t.Fatalf("%v", err)
			}
			names = append(names, part.part.PartName)
			if err := part.part.file.Close(); err != nil {
				t.Fatalf("%v", err)
			}
			part = nil
		}
	}
	for len(blocks) > 0 {
		some := blocks[:1+rng.IntN(min(3, len(blocks)))]
		blocks = blocks[len(some):]
		s := &segment{part: -1, resident: true}
		var of []Block
		for _, p := range some {
			b := Block{File: int32(p.file), Seq: p.seq, row: uint32(len(s.docs)), Docs: uint32(len(p.docs)), Lines: int64(len(p.docs)) * 2}
			if rng.IntN(3) == 0 {
				b.problems = appendProblem(nil, rng.Int64N(9), nil, corpus.ErrMalformed)
			}
			of = append(of, b)
			for i := range p.docs {
				addPlain(s, &p.docs[i], size.bands)
			}
		}
		s.seal(size.bands)
		if part == nil {
			var err error
			if part, err = newPartWriter(w); err != nil {
				t.Fatalf("%v", err)
			}
		}
		if err := part.add(s, of, size.bands, size.k, true); err != nil {
			t.Fatalf("%v", err)
		}
		for _, b := range of {
			b.segment = int32(len(inMemory.segments))
			inMemory.Blocks = append(inMemory.Blocks, b)
		}
		inMemory.segments = append(inMemory.segments, s)
		if rng.IntN(2) == 0 {
			seal()
		}
	}
	seal()
	for _, name := range names {
		p, index, err := openPart(w, name)
		if err != nil {
			t.Fatalf("%v", err)
		}
		first := int32(len(inParts.segments))
		for _, l := range index.segments {
			inParts.segments = append(inParts.segments, &segment{rows: int(l.rows), keyed: int(l.keyed), part: int32(len(inParts.parts)), layout: l})
		}
		inParts.parts = append(inParts.parts, p)
		for _, b := range index.blocks {
			b.segment += first
			inParts.Blocks = append(inParts.Blocks, b)
		}
	}
	for _, table := range []*Table{inMemory, inParts} {
		if err := table.number(); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return inMemory, inParts, docs
}

func someDocument(rng *rand.Rand, size tableSize, line int) plainDocument {
	d := plainDocument{Document: Document{
		Digest: rng.Uint64(), Check: rng.Uint32(), Length: rng.Uint32(), TextSize: rng.Uint32(), Features: rng.Uint32(), Line: uint32(2 * line),
	}.At(rng.Int64N(1 << 48))}
	if size.values && rng.IntN(2) == 0 {
		d.place |= hasValue
	}
	letters := func(n int) string {
		b := make([]byte, rng.IntN(n))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return string(b)
	}
	d.id = letters(20)
	if d.HasValue() {
		d.value = letters(9)
	}
	d.IDHash = HashID([]byte(d.id))
	if rng.IntN(3) > 0 {
		for range size.bands {
			d.keys = append(d.keys, rng.Uint64())
		}
	}
	if rng.IntN(2) == 0 {
		for range rng.IntN(5) {
			d.features = append(d.features, rng.Uint32())
		}
	}
	if d.place |= uint64(len(d.features)); len(d.keys) > 0 {
		d.place |= keyed
	}
	for range size.k {
		d.signature = append(d.signature, rng.Uint32())
	}
	for range rng.IntN(12) * size.sets {
		d.set = append(d.set, rng.Uint64())
	}
	return d
}

func addPlain(s *segment, d *plainDocument, bands int) {
	s.ids = append(s.ids, d.id...)
	s.values = append(s.values, d.value...)
	s.Keys = append(s.Keys, d.keys...)
	s.Signatures = append(s.Signatures, d.signature...)
	s.Features = append(s.Features, d.set...)
	s.Hashes = append(s.Hashes, d.features...)
	s.add(d.Document, d.HasValue(), bands)
}

// told is all that a cursor tells of a document.
func told(c *Cursor, doc uint32) string {
	d := *c.Doc(doc)
	d.idEnd = 0
	id := string(c.OwnID(doc)) // stands until the next call
	value := string(c.Value(doc))
	var signature []uint32
	if c.t.k > 0 {
		signature = slices.Clone(c.Signature(doc))
	}
	return fmt.Sprintf("%+v id %q, named %s, line %d of %s, %+v, %q, %x, %x",
		d, id, c.ID(doc), c.Line(doc), c.Label(doc), c.Meta(doc), value, signature, c.Set(doc))
}

func (d *plainDocument) told(c *Cursor, doc uint32) string {
	row := d.Document
	name := d.id
	if name == "" {
		name = fmt.Sprintf("%s:%d", c.Label(doc), c.Line(doc))
	}
	m := cluster.Meta{Length: int64(d.TextSize), HasValue: d.HasValue(), Value: d.value}
	return fmt.Sprintf("%+v id %q, named %s, line %d of %s, %+v, %q, %x, %x",
		row, d.id, name, c.Line(doc), c.Label(doc), m, d.value, d.signature, d.set)
}

func TestTablesInMemoryAndInPartsTellTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		size := tableSize{
			files: rapid.IntRange(1, 4).Draw(t, "files"), docs: rapid.IntRange(0, 1000).Draw(t, "docs"),
			bands: rapid.IntRange(0, 3).Draw(t, "bands"), k: rapid.IntRange(0, 3).Draw(t, "k"),
			sets: rapid.IntRange(0, 1).Draw(t, "sets"), values: rapid.Bool().Draw(t, "values"),
		}
		inMemory, inParts, docs := someTables(t, rng, size)
		defer inParts.Close()
		if inMemory.Docs != len(docs) || inParts.Docs != len(docs) || inMemory.References != inParts.References {
			t.Fatalf("%d documents, of which %d references, and %d, %d; want %d", inMemory.Docs, inMemory.References, inParts.Docs, inParts.References, len(docs))
		}
		a, b, scan := inMemory.Cursor(), inParts.Cursor(), inParts.Scanner()
		for i := range docs {
			doc := uint32(i)
			want := docs[i].told(a, doc)
			for _, c := range []*Cursor{a, scan} {
				if got := told(c, doc); got != want || c.Err != nil {
					t.Fatalf("document %d of %d:\n%s\nwant\n%s (%v)", i, len(docs), got, want, c.Err)
				}
			}
			if random := uint32(rng.IntN(len(docs))); i%3 == 0 {
				if got, want := told(b, random), docs[random].told(a, random); got != want {
					t.Fatalf("document %d of %d:\n%s\nwant\n%s (%v)", random, len(docs), got, want, b.Err)
				}
			}
		}
		for _, table := range []*Table{inMemory, inParts} {
			checkPlaces(t, table)
			checkColumns(t, table, docs)
		}
	})
}

// checkPlaces holds the table's places against its blocks, gone through one by one.
func checkPlaces(t *rapid.T, table *Table) {
	for file := range len(table.Sources) + 1 {
		first, end := table.DocsOfFile(file)
		wantFirst, wantEnd := table.Docs, 0
		for i, b := range table.Blocks {
			if int(b.File) != file {
				continue
			}
			wantFirst, wantEnd = min(wantFirst, int(b.FirstDoc)), int(b.FirstDoc+b.Docs)
			if b.Seq == endOfFile {
				continue
			}
			if f, e := table.DocsOfBlock(file, b.Seq); f != b.FirstDoc || e != b.FirstDoc+b.Docs {
				t.Errorf("block %d of file %d: documents %d to %d", b.Seq, file, f, e)
			}
			for doc := b.FirstDoc; doc < b.FirstDoc+b.Docs; doc++ {
				if table.BlockOf(doc) != i || table.FileOf(doc) != file {
					t.Errorf("document %d is in block %d of file %d, want %d of %d", doc, table.BlockOf(doc), table.FileOf(doc), i, file)
				}
			}
		}
		if wantEnd == 0 {
			wantEnd = int(end)
		}
		if first != end && (int(first) != wantFirst || int(end) != wantEnd) {
			t.Errorf("file %d: documents %d to %d, want %d to %d", file, first, end, wantFirst, wantEnd)
		}
	}
}

// checkColumns compares what goes through whole segments.
func checkColumns(t *rapid.T, table *Table, docs []plainDocument) {
	seen := bitset.New[uint32](table.Docs)
	keys, hashes := make([]map[uint32]uint64, table.bands), map[uint32][]uint32{}
	for band := range keys {
		keys[band] = map[uint32]uint64{}
	}
	err := table.EachSegment(t.Context(), 1, func(_ int, s *Scan) error {
		first, end := uint32(table.Docs/3), uint32(table.Docs-table.Docs/5)
		for band := range table.bands {
			err := s.EachKey(band, first, end, func(doc uint32, key uint64) error {
				keys[band][doc] = key
				return nil
			})
			if err != nil {
				return err
			}
		}
		err := s.EachHashes(first, end, func(doc uint32, of []uint32) error {
			hashes[doc] = slices.Clone(of)
			return nil
		})
		if err != nil {
			return err
		}
		all, err := s.Documents()
		if err != nil {
			return err
		}
		return s.EachBlock(func(b *Block, row, end int) error {
			for first := b.FirstDoc; row < end; row, first = row+1, first+1 {
				seen.Add(first)
				if all[row].Digest != docs[first].Digest {
					t.Errorf("document %d: another row", first)
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Errorf("%v", err)
	}
	for i := range docs {
		doc := uint32(i)
		if !seen.Has(doc) {
			t.Errorf("document %d is in no segment", doc)
		}
		within := i >= table.Docs/3 && i < table.Docs-table.Docs/5
		if want := docs[i].features; within && !slices.Equal(hashes[doc], want) || !within && hashes[doc] != nil {
			t.Errorf("document %d: hashes %x, want %x if %v", doc, hashes[doc], want, within)
		}
		for band := range keys {
			key, found := keys[band][doc]
			if found != (within && docs[i].keyed()) || found && key != docs[i].keys[band] {
				t.Errorf("document %d, band %d: another key", doc, band)
			}
		}
	}
}

func TestEveryFlippedByteOfAPartIsFoundOrHarmless(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	_, table, docs := someTables(t, rng, tableSize{files: 2, docs: 16, bands: 2, k: 2, sets: 1, values: true})
	defer table.Close()
	all := func() (told []string, err error) { return allTold(table) }
	want, err := all()
	if err != nil || len(docs) < 4 {
		t.Fatal(len(docs), err)
	}
	found := 0
	for i := range table.parts {
		whole := table.parts[i]
		size, err := whole.file.Size()
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, size)
		if _, err := whole.file.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		for at := range data {
			flipped := bytes.Clone(data)
			flipped[at] ^= 1 << rng.IntN(8)
			table.parts[i].file = inMemory(whole.PartName, flipped).file
			_, indexErr := table.parts[i].readIndex("scheme")
			got, err := all()
			switch {
			case indexErr != nil || err != nil:
				found++
				if err != nil && !strings.Contains(err.Error(), whole.Name) {
					t.Errorf("byte %d: error %q does not name the part", at, err)
				}
			case !slices.Equal(got, want):
				t.Errorf("byte %d of %d of part %d: other data, and no error", at, len(data), i)
			}
		}
		table.parts[i] = whole
	}
	if found == 0 {
		t.Error("nothing was found")
	}
}

// allTold returns all that a table tells.
func allTold(table *Table) (all []string, err error) {
	c := table.Cursor()
	for doc := range table.Docs {
		all = append(all, told(c, uint32(doc)))
		if c.Err != nil {
			return nil, c.Err
		}
	}
	s := &Scan{t: table}
	for _, s.s = range table.segments {
		docs, err := s.Documents()
		if err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprintf("%+v", docs))
		for band := range table.bands {
			keys, err := s.keys(band)
			if err != nil {
				return nil, err
			}
			all = append(all, fmt.Sprintf("%x", keys))
		}
		hashes, err := s.hashes()
		if err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprintf("%x", hashes))
	}
	for i := range table.Blocks {
		b := &table.Blocks[i]
		if b.problemsLen == 0 {
			continue
		}
		p := table.parts[table.segments[b.segment].part]
		problems, err := p.readProblems(b)
		if err != nil {
			return nil, err
		}
		stored, _, err := nextProblem(problems)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		all = append(all, fmt.Sprint(stored.line, stored.err))
	}
	return all, nil
}

func TestMoreDocumentsThanCanBeNumberedAreRefused(t *testing.T) {
	for _, docs := range [][]uint32{
		{math.MaxUint32 - 1, 1},
		{1 << 31, 1 << 31},
		{math.MaxUint32, math.MaxUint32, math.MaxUint32},
	} {
		table := &Table{segments: []*segment{{}}}
		for i, n := range docs {
			table.Blocks = append(table.Blocks, Block{Seq: int64(i), Docs: n})
		}
		err := table.number()
		if err == nil || !strings.Contains(err.Error(), "4294967294 documents") || !strings.Contains(err.Error(), "split the input") {
			t.Errorf("%d documents: error %v", docs, err)
		}
	}
}

// failer is a test, of package testing or of package rapid.
type failer interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}
