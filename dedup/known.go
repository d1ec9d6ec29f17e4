package dedup

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/read"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/recipe"
)

// ErrKnownName says that a document has the name of one in NewTo.Known, and is not like any there. It is skipped.
var ErrKnownName = fault.ErrKnownName

// beginKnown tells the collection that the run begins. It returns the state of the collection.
func beginKnown(ctx context.Context, j *job, in *inputs) (state string, err error) {
	known := j.Known
	if known == nil {
		return "", nil
	}
	if mine, its := j.recipe.String(), known.Recipe().String(); mine != its {
		return "", fmt.Errorf("%w: the index has the recipe\n  %s\nand the run\n  %s\ntake the settings with which the index was made", ErrUsage, its, mine)
	}
	sum := sha256.New()
	for s := range identity(j.settings, "dedup", in, "") {
		fmt.Fprintln(sum, s)
	}
	if state, err = known.Begin(ctx, hex.EncodeToString(sum.Sum(nil)[:16]), in.own(), j.Corpus); err == nil {
		j.space.Leave(known.Memory())
	}
	return state, err
}

// look returns the look-ups of the read stage for each document of the inputs; nil: none.
func look(known Known) func() read.Look {
	if known == nil {
		return nil
	}
	return func() read.Look {
		l := known.NewLooker()
		var note []byte
		return func(m *recipe.Maker, made recipe.Made, text, within []byte) ([]byte, error) {
			name, similarity, found, err := l.Look(m, made, text, within)
			if err != nil || !found {
				return nil, err
			}
			note = binary.LittleEndian.AppendUint64(note[:0], math.Float64bits(similarity))
			note = append(note, name...)
			return note, nil
		}
	}
}

// markKnown marks documents that are like one of the collection, and skips others whose name a
// document of the collection has.
func markKnown(ctx context.Context, j *job, t *doctable.Table) error {
	known := j.Known
	if known == nil {
		return nil
	}
	t.Known = bitset.New[uint32](t.Docs)
	taken := bitset.New[uint32](t.Docs)
	cursors := make([]*doctable.Cursor, j.Threads)
	names := make([][]byte, j.Threads)
	err := t.EachDocument(ctx, j.Threads, func(worker int, _ *doctable.Block, doc uint32, d *doctable.Document) error {
		switch {
		case int(doc) < t.References:
			return nil
		case d.HasValue():
			t.Known.AddShared(doc)
			return nil
		}
		if cursors[worker] == nil {
			cursors[worker] = t.Scanner()
		}
		c := cursors[worker]
		names[worker] = c.AppendID(names[worker][:0], doc)
		if c.Err != nil {
			return c.Err
		}
		if c.Made(doc) && c.Source(doc).MakesIDs() {
			return nil // Keep names it apart
		}
		has, err := known.Has(names[worker])
		if has {
			taken.AddShared(doc)
		}
		return err
	})
	if err != nil {
		return err
	}
	return skipTaken(j.account, t, taken)
}

// skipTaken skips documents whose names are taken.
func skipTaken(a *account, t *doctable.Table, taken bitset.Set[uint32]) error {
	c := t.Scanner()
	for i := t.References; i < t.Docs; i++ {
		doc := uint32(i)
		if !taken.Has(doc) {
			continue
		}
		t.Skipped.Add(doc)
		p := &corpus.Problem{Path: c.Label(doc), Line: c.Line(doc), Offset: c.Doc(doc).Offset()}
		remedy := "make ids unique"
		if c.Made(doc) {
			remedy = "give the file another name"
		} else {
			p.ID = c.ID(doc)
		}
		p.Err = fault.Because(ErrKnownName, "its name %s is that of a document in the index, which is not like it; %s", fault.Shown(c.ID(doc)), remedy)
		if c.Err != nil {
			return c.Err
		}
		if err := a.skip(p, false); err != nil {
			return err
		}
	}
	return nil
}

// tableMemory returns how many bytes of memory the table takes at most.
func tableMemory(j *job, t *doctable.Table) int64 {
	const row = 80 // of a document: its columns without keys, and an id
	n := int64(t.Docs) * int64(row+8*j.recipe.Keys())
	if share := j.space.Share(2); share > 0 {
		n = min(n, share)
	}
	return n
}

// addKept adds the kept documents to the collection.
func addKept(ctx context.Context, j *job, in *inputs, t *doctable.Table, removed bitset.Set[uint32]) error {
	if j.Known == nil {
		return nil
	}
	return j.account.stage("index", in.bytes(), func() (int64, int64, error) {
		kept := &Kept{
			Documents: j.account.Kept, Memory: tableMemory(j, t), Sources: in.own(), Corpus: j.Corpus, table: t, removed: removed,
		}
		kept.Corpus.Admit = nil
		err := j.Known.Keep(ctx, kept)
		j.account.Apart = kept.Apart
		return kept.Documents, 0, err
	})
}

// removedSet returns the documents that are removed in favour of another one of the run.
func removedSet(t *doctable.Table, c *clusters.Result) (bitset.Set[uint32], error) {
	removed := bitset.New[uint32](t.Docs)
	err := c.Removed.Visit(func(e extsort.Entry) error {
		removed.Add(uint32(e.Key))
		return nil
	})
	return removed, err
}

// Known is a collection of documents that exists before the run, and to which the run adds the
// documents that it keeps. See NewTo.Known; package index/grow has one.
type Known interface {
	// Recipe says what counts as similar in the collection. It must be that of the run.
	Recipe() recipe.Recipe
	// Folder returns the folder of the collection and the collection's names in it; "" if it has no
	// folder. No input, and no other output, may lie among these names.
	Folder() (path string, names []string)
	// Begin is called once, when the inputs are found and before they are read. run identifies the
	// run. If the collection already has some of the documents that this run keeps, it answers from
	// here on as before they were added. state identifies the state that it answers from. The name of a
	// run does not tell what its streams hold: another run may have it.
	Begin(ctx context.Context, run string, inputs []corpus.Source, how corpus.Options) (state string, err error)
	// Memory returns how many bytes of Config.Memory the collection takes from Begin until Keep. The
	// run has the rest.
	Memory() int64
	// NewLooker returns a Looker for one goroutine.
	NewLooker() Looker
	// Has tells whether a document of the collection has the name. Any number of goroutines
	// call it.
	Has(name []byte) (bool, error)
	// Keep adds the documents that the run keeps: all of them or, if another process has begun with
	// it, the rest. It is called when all output is on disk, but not in its place yet; the added
	// documents must survive from its return on. It sets Kept.Apart.
	Keep(ctx context.Context, kept *Kept) error
	// End is called when the output is in its place.
	End() error
}

// A Looker looks for documents of a collection. It belongs to one goroutine.
type Looker interface {
	// Look looks for the document that a text is like; of several it returns the first one. m has
	// processed the text last. within is the value of Config.Within. The name is valid until the next call.
	Look(m *recipe.Maker, made recipe.Made, text, within []byte) (name []byte, similarity float64, found bool, err error)
}

// Kept tells which records of a run's inputs are kept, and their names.
type Kept struct {
	Documents int64
	Memory    int64           // bytes that the run still needs, at most
	Sources   []corpus.Source // of the inputs, in order
	Corpus    corpus.Options  // how they are read
	Apart     int64           // set by Known.Keep: documents that have another name in the collection
	table     *doctable.Table
	removed   bitset.Set[uint32]
}

// NewReader returns a reader for one goroutine.
func (k *Kept) NewReader() *KeptReader { return &KeptReader{k: k, c: k.table.Scanner()} }

// A KeptReader reads the kept records block by block.
type KeptReader struct {
	k        *Kept
	c        *doctable.Cursor
	doc, end uint32
	name     []byte
}

// Block goes to a block of the source with that number.
func (r *KeptReader) Block(source int, seq int64) {
	r.doc, r.end = r.k.table.DocsOfBlock(r.k.table.ReferenceFiles+source, seq)
}

// Record tells whether the record at an offset of the source is kept. Offsets must ascend within a
// block. The name is valid until the next call; made says that it is made up (corpus.Source.MakesIDs).
func (r *KeptReader) Record(offset int64) (name []byte, made, kept bool, err error) {
	for r.doc < r.end && r.c.Doc(r.doc).Offset() < offset {
		r.doc++
	}
	if r.c.Err != nil || r.doc == r.end || r.c.Doc(r.doc).Offset() != offset || !r.k.table.Counts(r.doc) || r.k.removed.Has(r.doc) {
		return nil, false, false, r.c.Err
	}
	r.name = r.c.AppendID(r.name[:0], r.doc)
	return r.name, r.c.Made(r.doc) && r.c.Source(r.doc).MakesIDs(), true, r.c.Err
}
