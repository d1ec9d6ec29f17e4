package index

import "github.com/alike-dev/alike/index/internal/keytable"

// changes are what the current batch changes. A store stores all of them or none.
type changes struct {
	shown   *view             // the collection before the batch
	growing view              // the collection with the batch, and with room for it
	next    uint64            // slots given out: those of shown and of pending
	pending []arrival         // new documents, the first of which has the slot shown.Next
	cargo   *cargo            // of their batch; nil: they come from none
	named   map[string]uint64 // with ByID: slots of their ids
	dropped [][]byte          // with ByID: ids of dead documents
	dead    []uint64          // slots of documents that are removed
	keyed   []keyOf           // keys on disk that documents gain or lose
	late    late              // with keys on disk: changes to documents that are being settled
	notes   []noteOf          // to be stored with the documents

	newest    int64 // the clock, set when the changes are complete
	documents int64 // number of living documents, likewise
}

// A cargo is what a batch brings beside its documents.
type cargo struct {
	bytes []byte   // memory of the records
	given bool     // the index has taken bytes over
	past  []uint64 // see Batch.Remember
	note  func(first, next uint64) (name string, value []byte)
}

// noteOf is a name with its note, see Batch.Note.
type noteOf struct {
	name  string
	value []byte
}

// begin empties the changes for a batch of documents; b is nil if they come from none.
func (c *changes) begin(shown *view, b *cargo) {
	c.shown, c.growing, c.next, c.cargo = shown, *shown, shown.Next, b
	c.pending, c.dead = c.pending[:0], c.dead[:0]
	c.dropped, c.notes, c.keyed = c.dropped[:0], c.notes[:0], c.keyed[:0]
	c.late = late{c.late.keys[:0], c.late.dead[:0]}
	clear(c.named)
	if c.growing.settled > 0 {
		c.growing.gone = map[uint64]bool{}
	}
}

// isDead tells whether a pending document was removed again.
func (c *changes) isDead(slot uint64) bool {
	return slot >= c.growing.First && c.growing.chunk(slot).isDead(slot)
}

// late are changes to documents that are being settled.
type late struct {
	keys []keyOf
	dead []uint64
}

// link gives the key to a document of the collection; unlink removes it.
func (c *changes) link(key, slot uint64) {
	if c.onDisk(key, slot, true) {
		return
	}
	c.growing.tableOf(slot).Insert(key, slot, keytable.Range{First: c.growing.First, Next: c.next})
}

func (c *changes) unlink(key, slot uint64) {
	if c.onDisk(key, slot, false) {
		return
	}
	first := c.growing.First
	if slot < c.growing.frozen {
		// The table then has the slot before first with this key. It has expired for readers, but
		// must not be a slot that is being settled, or it would get the key on disk.
		first = min(first, c.growing.settled)
	}
	c.growing.tableOf(slot).Remove(key, slot, keytable.Range{First: first, Next: c.next})
}

// onDisk records that a document gains or loses a key, if its keys are on disk or on their way there.
// It tells whether they are only on disk.
func (c *changes) onDisk(key, slot uint64, has bool) bool {
	k := keyOf{keytable.Print(key), slot, has}
	switch {
	case slot < c.growing.settled:
		c.keyed = append(c.keyed, k)
		return true
	case slot < c.growing.frozen:
		c.late.keys = append(c.late.keys, k)
	}
	return false
}
