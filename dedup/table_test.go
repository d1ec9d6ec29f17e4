package dedup

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/extsort"
)

// plainDocument is a document as the tests of tables know it.
type plainDocument struct {
	document
	id, value string
	keys      []uint64
	signature []uint32
	set       []uint64
}

// tableSize says what there is in a table of tests.
type tableSize struct{ files, docs, bands, k int }

// someTables makes the same documents into two tables: one in memory, the other in
// parts. docs are its documents in order.
func someTables(t failer, rng *rand.Rand, size tableSize) (inMemory, inParts *table, docs []plainDocument) {
	t.Helper()
	w := &workspace{fs: vfs.NewMem(), path: "work", scheme: "scheme"}
	if err := w.fs.MkdirAll("work", 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	inMemory = &table{refSources: 1, bands: size.bands, k: size.k, hasSets: true, hasIDs: true}
	for i := range size.files {
		inMemory.sources = append(inMemory.sources, corpus.Source{Path: fmt.Sprintf("f%d.jsonl", i), Format: corpus.JSONL})
	}
	inParts = &table{sources: inMemory.sources, refSources: 1, bands: size.bands, k: size.k, hasSets: true}

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
	var names []partName
	seal := func() {
		if part != nil {
			if err := part.seal(); err != nil {
				t.Fatalf("%v", err)
			}
			names = append(names, part.part.partName)
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
		var of []block
		for _, p := range some {
			b := block{file: int32(p.file), seq: p.seq, row: uint32(len(s.docs)), docs: uint32(len(p.docs)), lines: int64(len(p.docs)) * 2}
			if rng.IntN(3) == 0 {
				b.problems = appendProblem(nil, rng.Int64N(9), corpus.ErrMalformed)
			}
			of = append(of, b)
			for i := range p.docs {
				addPlain(s, &p.docs[i])
			}
		}
		s.seal(size.bands)
		if part == nil {
			var err error
			if part, err = w.createPart(); err != nil {
				t.Fatalf("%v", err)
			}
		}
		if err := part.add(s, of, size.bands, size.k, true); err != nil {
			t.Fatalf("%v", err)
		}
		for _, b := range of {
			b.segment = int32(len(inMemory.segments))
			inMemory.blocks = append(inMemory.blocks, b)
		}
		inMemory.segments = append(inMemory.segments, s)
		if rng.IntN(2) == 0 {
			seal()
		}
	}
	seal()
	for _, name := range names {
		p, index, err := w.openPart(name)
		if err != nil {
			t.Fatalf("%v", err)
		}
		first := int32(len(inParts.segments))
		for _, l := range index.segments {
			inParts.segments = append(inParts.segments, &segment{rows: int(l.rows), part: int32(len(inParts.parts)), layout: l})
		}
		inParts.parts = append(inParts.parts, p)
		for _, b := range index.blocks {
			b.segment += first
			inParts.blocks = append(inParts.blocks, b)
		}
	}
	for _, table := range []*table{inMemory, inParts} {
		if err := table.number(); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return inMemory, inParts, docs
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

func someDocument(rng *rand.Rand, size tableSize, line int) plainDocument {
	d := plainDocument{document: document{
		digest: [2]uint64{rng.Uint64(), rng.Uint64()}, offset: rng.Int64N(1 << 40), length: rng.Uint32(), textSize: rng.Uint32(),
		features: rng.Uint32(), line: uint32(2 * line), hasValue: rng.IntN(2) == 0,
	}}
	letters := func(n int) string {
		b := make([]byte, rng.IntN(n))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return string(b)
	}
	d.id = letters(20)
	if d.hasValue {
		d.value = letters(9)
	}
	d.idHash = hashID([]byte(d.id))
	for range size.bands {
		d.keys = append(d.keys, rng.Uint64())
	}
	for range size.k {
		d.signature = append(d.signature, rng.Uint32())
	}
	for range rng.IntN(12) {
		d.set = append(d.set, rng.Uint64())
	}
	return d
}

func addPlain(s *segment, d *plainDocument) {
	s.ids = append(s.ids, d.id...)
	s.values = append(s.values, d.value...)
	s.keys = append(s.keys, d.keys...)
	s.signatures = append(s.signatures, d.signature...)
	s.features = append(s.features, d.set...)
	row := d.document
	row.idEnd, row.valueEnd, row.setEnd = uint32(len(s.ids)), uint32(len(s.values)), uint32(len(s.features))
	s.docs = append(s.docs, row)
}

// told is all that a cursor tells of a document.
func told(c *cursor, doc uint32) string {
	d := *c.doc(doc)
	d.idEnd, d.valueEnd, d.setEnd = 0, 0, 0
	id := string(c.explicitID(doc)) // stands until the next call
	value := string(c.value(doc))
	var signature []uint32
	if c.t.k > 0 {
		signature = slices.Clone(c.signature(doc))
	}
	return fmt.Sprintf("%+v id %q, named %s, line %d of %s, %+v, %q, %x, %x",
		d, id, c.id(doc), c.line(doc), c.label(doc), c.meta(doc), value, signature, c.set(doc))
}

func (d *plainDocument) told(c *cursor, doc uint32) string {
	row := d.document
	name := d.id
	if name == "" {
		name = fmt.Sprintf("%s:%d", c.label(doc), c.line(doc))
	}
	m := cluster.Meta{Length: int64(d.textSize), HasValue: d.hasValue, Value: d.value}
	return fmt.Sprintf("%+v id %q, named %s, line %d of %s, %+v, %q, %x, %x",
		row, d.id, name, c.line(doc), c.label(doc), m, d.value, d.signature, d.set)
}

func TestTablesInMemoryAndInPartsTellTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		size := tableSize{
			files: rapid.IntRange(1, 4).Draw(t, "files"), docs: rapid.IntRange(0, 1000).Draw(t, "docs"),
			bands: rapid.IntRange(0, 3).Draw(t, "bands"), k: rapid.IntRange(0, 3).Draw(t, "k"),
		}
		inMemory, inParts, docs := someTables(t, rng, size)
		defer inParts.close()
		if inMemory.n != len(docs) || inParts.n != len(docs) || inMemory.refs != inParts.refs {
			t.Fatalf("%d documents, of which %d references, and %d, %d; want %d", inMemory.n, inMemory.refs, inParts.n, inParts.refs, len(docs))
		}
		a, b, scan := inMemory.cursor(), inParts.cursor(), inParts.scanner()
		for i := range docs {
			doc := uint32(i)
			want := docs[i].told(a, doc)
			for _, c := range []*cursor{a, scan} {
				if got := told(c, doc); got != want || c.err != nil {
					t.Fatalf("document %d of %d:\n%s\nwant\n%s (%v)", i, len(docs), got, want, c.err)
				}
			}
			if random := uint32(rng.IntN(len(docs))); i%3 == 0 {
				if got, want := told(b, random), docs[random].told(a, random); got != want {
					t.Fatalf("document %d of %d:\n%s\nwant\n%s (%v)", random, len(docs), got, want, b.err)
				}
			}
		}
		for _, table := range []*table{inMemory, inParts} {
			checkPlaces(t, table)
			checkColumns(t, table, docs)
		}
	})
}

// checkPlaces holds the table's places against its blocks, gone through one by one.
func checkPlaces(t *rapid.T, table *table) {
	for file := range len(table.sources) + 1 {
		first, end := table.docsOfFile(file)
		wantFirst, wantEnd := table.n, 0
		for i, b := range table.blocks {
			if int(b.file) != file {
				continue
			}
			wantFirst, wantEnd = min(wantFirst, int(b.firstDoc)), int(b.firstDoc+b.docs)
			if b.seq == endOfFile {
				continue
			}
			if f, e := table.docsOfBlock(file, b.seq); f != b.firstDoc || e != b.firstDoc+b.docs {
				t.Errorf("block %d of file %d: documents %d to %d", b.seq, file, f, e)
			}
			for doc := b.firstDoc; doc < b.firstDoc+b.docs; doc++ {
				if table.blockOf(doc) != i || table.fileOf(doc) != file {
					t.Errorf("document %d is in block %d of file %d, want %d of %d", doc, table.blockOf(doc), table.fileOf(doc), i, file)
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
func checkColumns(t *rapid.T, table *table, docs []plainDocument) {
	seen := newBitset(table.n)
	err := table.eachSegment(t.Context(), 1, func(_ int, s *rowScan) error {
		all, err := s.documents()
		if err != nil {
			return err
		}
		rows := slices.Clone(all)
		var keys [][]uint64
		for band := range table.bands {
			column, err := s.keys(band)
			if err != nil {
				return err
			}
			keys = append(keys, slices.Clone(column))
		}
		return s.eachBlock(func(_ *block, first uint32, row, end int) error {
			for ; row < end; row, first = row+1, first+1 {
				seen.add(first)
				if rows[row].digest != docs[first].digest {
					t.Errorf("document %d: another row", first)
				}
				for band := range table.bands {
					if keys[band][row] != docs[first].keys[band] {
						t.Errorf("document %d, band %d: another key", first, band)
					}
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Errorf("%v", err)
	}
	for doc := range docs {
		if !seen.has(uint32(doc)) {
			t.Errorf("document %d is in no segment", doc)
		}
	}
}

func TestEveryFlippedByteOfAPartIsFoundOrHarmless(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	_, table, docs := someTables(t, rng, tableSize{files: 2, docs: 16, bands: 2, k: 2})
	defer table.close()
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
			table.parts[i].file = inMemory(whole.partName, flipped).file
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
func allTold(table *table) (all []string, err error) {
	c := table.cursor()
	for doc := range table.n {
		all = append(all, told(c, uint32(doc)))
		if c.err != nil {
			return nil, c.err
		}
	}
	s := &rowScan{t: table}
	for _, s.s = range table.segments {
		docs, err := s.documents()
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
	}
	for i := range table.blocks {
		b := &table.blocks[i]
		if b.problemsLen == 0 {
			continue
		}
		p := table.parts[table.segments[b.segment].part]
		problems, err := p.readProblems(b)
		if err != nil {
			return nil, err
		}
		line, cause, _, err := nextProblem(problems)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		all = append(all, fmt.Sprint(line, cause))
	}
	return all, nil
}

func TestBitsetHoldsWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		b, want := newBitset(n), map[uint32]bool{}
		for range rapid.IntRange(0, 100).Draw(t, "adds") {
			doc := rapid.Uint32Range(0, uint32(n-1)).Draw(t, "doc")
			if want[doc] = true; doc%2 == 0 {
				b.add(doc)
			} else {
				b.addShared(doc)
			}
		}
		for doc := range uint32(n) {
			if b.has(doc) != want[doc] {
				t.Errorf("document %d: %t", doc, b.has(doc))
			}
		}
	})
}

// sortedOf sorts entries in memory.
func sortedOf(t failer, entries []extsort.Entry) *extsort.Sorted {
	t.Helper()
	sorter, err := extsort.New(extsort.Options{Threads: 1})
	if err != nil {
		t.Fatalf("%v", err)
	}
	to := sorter.Appender()
	for _, e := range entries {
		if err := to.Add(e.Key, e.Value); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if err := to.Flush(); err != nil {
		t.Fatalf("%v", err)
	}
	sorted, err := sorter.Sort(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return sorted
}

func TestLookupFindsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		there := map[uint64]uint64{}
		var entries []extsort.Entry
		for _, key := range rapid.SliceOfDistinct(rapid.Uint64Range(0, 60), rapid.ID).Draw(t, "keys") {
			there[key] = key * 7
			entries = append(entries, extsort.Entry{Key: key, Value: key * 7})
		}
		by := newLookup(sortedOf(t, entries))
		asked := rapid.SliceOf(rapid.Uint64Range(0, 70)).Draw(t, "asked")
		slices.Sort(asked)
		for _, key := range asked {
			value, ok := by.find(key)
			if want, there := there[key]; ok != there || value != want {
				t.Errorf("find(%d) = %d, %t", key, value, ok)
			}
		}
	})
}

func TestMoreDocumentsThanCanBeNumberedAreRefused(t *testing.T) {
	for _, docs := range [][]uint32{
		{math.MaxUint32 - 1, 1},
		{1 << 31, 1 << 31},
		{math.MaxUint32, math.MaxUint32, math.MaxUint32},
	} {
		table := &table{segments: []*segment{{}}}
		for i, n := range docs {
			table.blocks = append(table.blocks, block{seq: int64(i), docs: n})
		}
		err := table.number()
		if err == nil || !strings.Contains(err.Error(), "4294967294 documents") || !strings.Contains(err.Error(), "split the input") {
			t.Errorf("%d documents: error %v", docs, err)
		}
	}
}

// A worker that reads one document too many ends the run, so that hours of reading are
// not in vain.
func TestReadingEndsWhereDocumentsCannotBeNumbered(t *testing.T) {
	run, err := newRun(Config{Inputs: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{config: &run.config, recipe: run.recipe}
	w := newSketchWorker(r)
	r.items.Store(maxDocuments)
	w.addDocument(&corpus.Record{Text: []byte("a text of some words"), Raw: make([]byte, 20)})
	if _, err := w.addPiece(&block{}); err == nil || !strings.Contains(err.Error(), "split the input") {
		t.Errorf("error %v", err)
	}
}
