package index

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// A Document is the input of an index. Only Batch.Add reads its slices.
type Document struct {
	ID, Text []byte
	// Made says that ID was made up, such as file:line, for a document that has none. With Options.ByID such a
	// document replaces only one that is equal in all that is stored. If another one has the ID, its ID becomes
	// ID#hash, with a hash of its content.
	Made bool
	// Encoding is that of the file if Text is all of it: corpus.Record has it. Passages are then places in the file.
	Encoding bom.Encoding
	// Time is the time of the event, for windows with an age. The zero time stands for Window.Now
	// or, if that is not set, for the newest time so far.
	Time    time.Time
	Columns [][]byte // values to store with it, nil for none
	// Accepts, if set, limits Check to stored documents whose columns it accepts: others are not similar to this
	// one. It must give the same answer each time; any goroutine may call it.
	Accepts func(columns [][]byte) bool
}

// A Verdict is the result of Check for one document.
type Verdict struct {
	New  bool   // it was added
	Slot uint64 // its slot if it was added, else the slot of the similar document
	// For a document that is not new: the id of the similar document, valid until the batch is reset, and the
	// similarity of the two, from 0 to 1.
	Of         []byte
	Columns    [][]byte // Document.Columns of that document; valid as long as Of
	Similarity float64
	// Late says that the document came too late to be added: see Window.Late. New then says whether it is
	// similar to no document that is still in the collection.
	Late bool
	// Known says that the collection has a document with this id already, in Slot and with Columns, and that nothing
	// was decided: with Options.ByID only.
	Known bool
}

// A Batch prepares documents to be checked or added, which is nearly all of the work and needs no
// lock: any number of batches may be filled at the same time. It owns scratch memory and belongs to
// one goroutine.
type Batch struct {
	x *collection
	cargo
	check    bool
	view     *view // of the candidates
	docs     []prepared
	keys     []uint64
	words    []uint32
	replaced int64 // see Replaced
	apart    int64 // see Apart
	verdicts []Verdict
	unasked  func() []uint64 // the set of the last document, if nobody has searched for it yet; else nil
	err      error           // of the first document that could not be compared

	maker  *recipe.Maker
	finder *finder
	scaled minhash.Scaled
	ids    []byte

	columns []byte
	before  int // size of the memory that the index has taken over, until there is new one
}

// prepared is a document of a batch. Its ranges are positions in the batch's memory.
type prepared struct {
	keys, record, words span
	ways                int // number of keys before the keys of containment
	id                  span
	digest              [2]uint64
	sum                 uint32 // checksum of the record
	time                int64
	timed               bool
	made                bool                        // the id
	accepts             func(columns [][]byte) bool // nil: all

	found      bool // a similar document is in the batch's view
	slot       uint64
	similarity float64
}

// tick gives a document a time if it has none, and advances the clock to it.
func (p *prepared) tick(w *window) {
	if !p.timed {
		p.time = w.untimed()
	}
	w.tick(p.time)
}

type span struct{ from, to int }

func spanned[T any](s []T, at span) []T { return s[at.from:at.to:at.to] }

// newBatch returns an empty batch, for Check or for Add.
func newBatch(x *collection, check bool) *Batch {
	b := &Batch{x: x, check: check, maker: x.options.Recipe.NewMaker(recipe.MakerOptions{Signature: true}), finder: newFinder(x)}
	if x.options.Containment > 0 {
		b.scaled = x.options.scaled()
	}
	return b
}

// Len returns the number of documents in the batch.
func (b *Batch) Len() int { return len(b.docs) }

// Keys returns the number of keys of all its documents.
func (b *Batch) Keys() int { return len(b.keys) }

// Replaced returns how many documents Index.Add has removed since a document of the batch has their id.
func (b *Batch) Replaced() int64 { return b.replaced }

// Apart returns how many documents of the batch Index.Add has named apart: see Document.Made.
func (b *Batch) Apart() int64 { return b.apart }

// Size returns how many bytes of documents and keys the batch holds.
func (b *Batch) Size() int { return len(b.bytes) + 8*len(b.keys) }

// Note stores a note with the documents of the batch: a crash keeps all of them or none. note is
// called when the documents have their slots, first up to but not including next. The new note
// replaces the note of the same name.
func (b *Batch) Note(note func(first, next uint64) (name string, value []byte)) { b.note = note }

// Remember appends hashes to the history of an index in a folder, together with the documents of the
// batch: see Index.History. A batch remembers up to 65536 hashes.
func (b *Batch) Remember(hashes ...uint64) {
	b.past = append(b.past, hashes[:min(len(hashes), mostPast-len(b.past))]...)
}

// Grow makes room for so many bytes of documents: see EntryBytes.
func (b *Batch) Grow(bytes int) {
	if b.bytes == nil {
		b.bytes = make([]byte, 0, bytes) // slices.Grow would clear it, even if the system has
		return
	}
	b.bytes = slices.Grow(b.bytes, bytes)
}

// grow is Grow for one document more. Where the index has taken the memory over, there is as much again at once.
func (b *Batch) grow(bytes int) {
	if b.bytes == nil {
		bytes, b.before = max(bytes, b.before), 0
	}
	b.Grow(bytes)
}

// Drop removes the first n documents from the batch.
func (b *Batch) Drop(n int) {
	b.ask()
	b.docs = b.docs[:copy(b.docs, b.docs[n:])]
}

// Reset empties the batch.
func (b *Batch) Reset() {
	b.docs, b.keys, b.words, b.bytes, b.ids = b.docs[:0], b.keys[:0], b.words[:0], b.bytes[:0], b.ids[:0]
	b.view, b.err, b.note, b.past, b.unasked = nil, nil, nil, b.past[:0], nil
	b.replaced, b.apart = 0, 0
	b.maker.Trim()
	if b.given {
		b.bytes, b.before, b.given = nil, min(cap(b.bytes), mostScratch), false
	}
	if cap(b.bytes) > mostScratch {
		b.bytes = nil
	}
	if cap(b.finder.text) > mostScratch/8 {
		b.finder.text = nil
	}
}

// mostScratch is how many bytes of memory a batch keeps when it is reset.
const mostScratch = 8 << 20

// Add prepares a document. O(length), and O(length) of each document that it is compared with.
func (b *Batch) Add(d Document) {
	b.ask()
	v := b.x.valueOf(d.Columns)
	b.maker.Within(v.Within)
	p := prepared{timed: !d.Time.IsZero(), made: d.Made, accepts: d.Accepts}
	if b.check && b.x.within >= 0 {
		p.accepts = b.x.accepting(fieldValue{v.Within, bytes.Clone(v.bytes)}, d.Accepts)
	}
	if p.timed {
		p.time = d.Time.UnixNano()
	}
	made := b.maker.Make(d.Text)
	p.digest = made.Digest
	from := len(b.keys)
	if made.Features > 0 {
		b.keys = append(b.maker.AppendKeys(b.keys), digestKey(made.Digest))
	}
	p.ways = len(b.keys) - from
	set := b.finder.setOfText(b.maker, d.Text)
	if b.x.options.Containment > 0 && made.Features > 0 {
		b.keys = appendScaled(b.keys, b.scaled, set(), v.Within)
	}
	p.keys = span{from, len(b.keys)}
	if b.check {
		if b.view == nil {
			b.view = b.x.view.Load()
		}
		b.touch(b.view, &p)
	}
	from = len(b.words)
	b.words = b.x.judge.appendWords(b.words, b.maker.Signature())
	p.words = span{from, len(b.words)}
	b.addRecord(&p, d, set)
	b.docs = append(b.docs, p)
	if !b.check {
		return
	}
	b.unasked = set
	if len(d.Text) > recipe.LongText { // its set is made of d.Text
		b.ask()
	}
}

// ask searches for the last document. That is put off until the next one comes, so that its buckets are in the cache by
// then: waiting for memory took a fifth of the time of a stream.
func (b *Batch) ask() {
	if b.unasked != nil {
		b.look(&b.docs[len(b.docs)-1], b.unasked)
		b.unasked = nil
	}
}

// touch asks for the buckets of a document.
func (b *Batch) touch(v *view, p *prepared) {
	v.touch(spanned(b.keys, span{p.keys.from, p.keys.from + p.ways}))
}

func (b *Batch) addRecord(p *prepared, d Document, set func() []uint64) {
	r := record{id: d.ID}
	b.columns = appendColumns(b.columns[:0], d.Columns)
	r.columns = b.columns
	b.grow(len(d.ID) + len(b.columns) + len(d.Text) + recordOverhead)
	from := len(b.bytes)
	switch b.x.options.Keep {
	case KeepText:
		r.kind, r.body, r.encoding = bodyText, d.Text, d.Encoding
		b.bytes = appendRecord(b.bytes, r)
	case KeepFeatures:
		r.kind = bodyFeatures
		b.bytes = b.appendKeys(appendRecord(b.bytes, r), p)
		b.bytes = appendNumbers(b.bytes, set())
	case KeepNothing:
		r.kind = bodyKeys
		b.bytes = b.appendKeys(appendRecord(b.bytes, r), p)
	}
	p.record = span{from, len(b.bytes)}
	p.sum = durable.Checksum(0, b.bytes[from:])
	b.bytes = append(b.bytes, make([]byte, durable.ChecksumSize)...) // see arrival.record
	from = len(b.ids)
	b.ids = append(b.ids, d.ID...)
	p.id = span{from, len(b.ids)}
}

func (b *Batch) appendKeys(dst []byte, p *prepared) []byte {
	keys := spanned(b.keys, p.keys)
	return appendNumbers(binary.LittleEndian.AppendUint64(dst, uint64(len(keys))), keys)
}

// look searches the collection, as it is now, for a document that is similar to this one.
func (b *Batch) look(p *prepared, set func() []uint64) {
	if !p.timed {
		p.time = b.x.window.untimed()
	}
	q := b.query(p, set)
	slot, similarity, found, err := b.finder.oldest(b.view, b.view.Range, &q, b.finder.read(b.view))
	if err != nil && b.err == nil {
		b.err = err
	}
	p.slot, p.similarity, p.found = slot, similarity, found
}

// query returns the query that finds documents that are similar to this one.
func (b *Batch) query(p *prepared, set func() []uint64) query {
	return query{keys: spanned(b.keys, span{p.keys.from, p.keys.from + p.ways}), digest: p.digest,
		words: spanned(b.words, p.words), time: p.time, set: set, accepts: p.accepts}
}

// arrival returns a document of the batch in the form that insert takes.
func (b *Batch) arrival(p *prepared) arrival {
	return arrival{
		keys: spanned(b.keys, p.keys), ways: p.ways, record: b.bytes[p.record.from : p.record.to : p.record.to+durable.ChecksumSize], sum: p.sum, id: spanned(b.ids, p.id),
		digest: p.digest, words: spanned(b.words, p.words), time: p.time,
	}
}
