package dedup

import (
	"context"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/recipe"
)

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
