package index

// changes are what the current batch changes. A store stores all of them or none.
type changes struct {
	shown   *view             // the collection before the batch
	growing view              // the collection with the batch, and with room for it
	next    uint64            // slots given out: those of shown and of pending
	pending []arrival         // new documents, the first of which has the slot shown.Next
	batch   *Batch            // they come from it; nil: from none
	named   map[string]uint64 // with ByID: slots of their ids
	dropped [][]byte          // with ByID: ids of dead documents
	dead    []uint64          // slots of documents that are removed
	keyed   []keyOf           // keys on disk that documents gain or lose
	notes   []noteOf          // to be stored with the documents

	newest    int64 // the clock, set when the changes are complete
	documents int64 // number of living documents, likewise
}

// noteOf is a name with its note, see Batch.Note.
type noteOf struct {
	name  string
	value []byte
}

// begin empties the changes for a batch of documents; b is nil if they come from none.
func (c *changes) begin(shown *view, b *Batch) {
	c.shown, c.growing, c.next, c.batch = shown, *shown, shown.Next, b
	c.pending, c.dead = c.pending[:0], c.dead[:0]
	c.dropped, c.notes, c.keyed = c.dropped[:0], c.notes[:0], c.keyed[:0]
	clear(c.named)
	if c.growing.settled > 0 {
		c.growing.gone = map[uint64]bool{}
	}
}

// isDead tells whether a pending document was removed again.
func (c *changes) isDead(slot uint64) bool {
	return slot >= c.growing.First && c.growing.chunk(slot).isDead(slot)
}
