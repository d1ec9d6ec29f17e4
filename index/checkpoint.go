package index

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/durable"
)

// A Checkpoint is an index in memory at one moment. It has all that decisions depend on: an index that is made of it
// decides about what comes as the first one does, whatever the windows and the full buckets. So several indexes can
// follow one log, and some of them begin in its middle.
//
// It is written as values, each with its length before it (uvarint) and a CRC-32C at its end:
//
//	header    version, words, first slot, slots, clock, documents, then of each mark slot and time: 8 bytes each
//	of each chunk of slots: a block without keys, then the records of its living documents
//	of each shard of the table of keys: its entries, 8 bytes each
type Checkpoint struct {
	view      view
	words     int
	clock     int64
	documents int64
	marks     []mark
	dead      [][chunkDocs / 64]uint64 // of each chunk of the view
	keys      []uint64                 // of all shards
	ends      [keytable.Shards]int     // where the keys of a shard end
}

const checkpointVersion = 1

var errCheckpointOnDisk = errors.New("index: one in a folder has no checkpoints: copy the folder")

// Checkpoint returns the index as it is now. Writers wait for it, some 0.1 s for a million documents; what it holds
// stays in memory until it is let go.
func (x *Index) Checkpoint() (*Checkpoint, error) {
	x.lock.Lock()
	defer x.lock.Unlock()
	if err := x.writer.err(); err != nil {
		return nil, err
	}
	if !x.store.inMemory() {
		return nil, errCheckpointOnDisk
	}
	v := x.view.Load()
	c := &Checkpoint{
		view: *v, words: x.judge.words, clock: x.window.clock.Load(), documents: x.counts.live.Load(),
		marks: append([]mark{}, x.writer.marks...), dead: make([][chunkDocs / 64]uint64, len(v.chunks)),
		keys: make([]uint64, 0, v.table.Len()),
	}
	for i, chunk := range v.chunks {
		for j := range chunk.dead {
			c.dead[i][j] = chunk.dead[j].Load()
		}
	}
	for shard := range keytable.Shards {
		c.keys = v.table.Entries(c.keys, shard, v.Range)
		c.ends[shard] = len(c.keys)
	}
	return c, nil
}

// isDead tells whether a document was dead at the moment of the checkpoint.
func (c *Checkpoint) isDead(slot uint64) bool {
	i := slot % chunkDocs
	return c.dead[slot>>chunkBits-c.view.base][i/64]>>(i%64)&1 == 1
}

// Write writes the checkpoint. O(bytes).
func (c *Checkpoint) Write(to io.Writer) error {
	w := valueWriter{to: bufio.NewWriterSize(to, 1<<20)}
	header := []uint64{checkpointVersion, uint64(c.words), c.view.First, c.view.Next, uint64(c.clock), uint64(c.documents)}
	for _, m := range c.marks {
		header = append(header, m.slot, uint64(m.clock))
	}
	w.value(appendNumbers(nil, header), 0)
	for from := c.view.First; from < c.view.Next; {
		to := min(from&^(chunkDocs-1)+chunkDocs, c.view.Next)
		c.writeChunk(&w, from, to)
		from = to
	}
	from := 0
	for shard, end := range c.ends {
		w.value(appendNumbers(nil, c.keys[from:end]), uint64(shard))
		from = end
	}
	if w.err != nil {
		return w.err
	}
	return w.to.Flush()
}

// writeChunk writes the documents of some slots of one chunk.
func (c *Checkpoint) writeChunk(w *valueWriter, from, to uint64) {
	var docs []arrival
	chunk := c.view.chunk(from)
	for slot := from; slot < to; slot++ {
		i := slot % chunkDocs
		docs = append(docs, arrival{time: chunk.times[i], digest: chunk.digests[i], words: chunk.signature(slot, c.words)})
	}
	w.value(appendBlock(nil, c.words, docs, func(i int) bool { return c.isDead(from + uint64(i)) }), from)
	for slot := from; slot < to; slot++ {
		if !c.isDead(slot) {
			w.value(chunk.records[slot%chunkDocs], slot)
		}
	}
}

// valueWriter writes values until one fails.
type valueWriter struct {
	to  *bufio.Writer
	err error
}

func (w *valueWriter) value(value []byte, at uint64) {
	if w.err != nil {
		return
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(value)+durable.ChecksumSize))
	_, err := w.to.Write(length[:n])
	_, err2 := w.to.Write(value)
	_, err3 := w.to.Write(seal(length[:0], durable.Checksum(0, value), at))
	w.err = errors.Join(err, err2, err3)
}

// LoadCheckpoint makes an index in memory of what Checkpoint.Write has written, and reads no further. The options must
// be those of the index that it is of; only the window's Now may be another. O(bytes).
func LoadCheckpoint(o Options, from *bufio.Reader) (*Index, error) {
	x, err := New(o)
	if err != nil {
		return nil, err
	}
	l := checkpointLoader{x: x, from: from}
	if err := l.load(); err != nil {
		return nil, fmt.Errorf("index: checkpoint: %w", err)
	}
	return x, nil
}

// checkpointLoader reads a checkpoint into an empty index.
type checkpointLoader struct {
	x     *Index
	from  *bufio.Reader
	value []byte
	view  view
}

func (l *checkpointLoader) load() error {
	w, c := l.x.writer, l.x.collection
	documents, err := l.header(w)
	if err != nil {
		return err
	}
	living := int64(0)
	for from := l.view.First; from < l.view.Next; {
		to := min(from&^(chunkDocs-1)+chunkDocs, l.view.Next)
		n, err := l.chunk(from, to)
		if err != nil {
			return err
		}
		living += n
		from = to
	}
	if living != documents {
		return fmt.Errorf("%w: %d living documents, not %d", errDamaged, living, documents)
	}
	for shard := range keytable.Shards {
		body, err := l.next(uint64(shard))
		if err != nil {
			return err
		}
		l.view.table.Restore(shard, numbers(nil, body))
	}
	c.counts.live.Store(documents)
	w.growing = l.view
	c.view.Store(&l.view)
	return nil
}

// header reads the header into the writer and an empty view.
func (l *checkpointLoader) header(w *writer) (documents int64, err error) {
	body, err := l.next(0)
	if err != nil {
		return 0, err
	}
	n := numbers(nil, body)
	if len(n) < 6 || len(n)%2 != 0 || n[0] != checkpointVersion || n[1] != uint64(w.judge.words) || n[2] > n[3] {
		return 0, fmt.Errorf("%w: no header of version %d for documents of %d words", errDamaged, checkpointVersion, w.judge.words)
	}
	l.view = *w.view.Load()
	l.view.Range, l.view.base = keytable.Range{First: n[2], Next: n[3]}, n[2]>>chunkBits
	w.window.clock.Store(int64(n[4]))
	for at := 6; at < len(n); at += 2 {
		w.marks = append(w.marks, mark{n[at], int64(n[at+1])})
	}
	return int64(n[5]), nil
}

// chunk reads the documents of some slots of one chunk, and returns how many are alive.
func (l *checkpointLoader) chunk(from, to uint64) (living int64, err error) {
	body, err := l.next(from)
	if err != nil {
		return 0, err
	}
	c := newChunk(l.view.words, true)
	l.view.chunks = append(l.view.chunks, c)
	n, err := parseBlock(body, l.view.words, func(i int, d *arrival, dead bool) error {
		slot := from + uint64(i)
		if slot >= to {
			return fmt.Errorf("%w: a block has too many documents", errDamaged)
		}
		c.times[slot%chunkDocs], c.digests[slot%chunkDocs] = d.time, d.digest
		copy(c.signature(slot, l.view.words), d.words)
		if dead {
			c.bury(slot)
		}
		return nil
	})
	if err == nil && uint64(n) != to-from {
		err = fmt.Errorf("%w: a block has too few documents", errDamaged)
	}
	for slot := from; slot < to && err == nil; slot++ {
		if !c.isDead(slot) {
			living++
			err = l.record(c, slot)
		}
	}
	return living, err
}

func (l *checkpointLoader) record(c *chunk, slot uint64) error {
	body, err := l.next(slot)
	if err != nil {
		return err
	}
	c.put(slot, body)
	if !l.x.options.ByID {
		return nil
	}
	r, err := parseRecord(body)
	if err == nil {
		l.x.store.(*memoryStore).slots[string(r.id)] = slot
	}
	return err
}

// mostAtOnce is how many bytes of a value are allocated before any of them was read: its length may be damaged.
const mostAtOnce = 1 << 20

// next reads a value, which is valid until the next call.
func (l *checkpointLoader) next(at uint64) ([]byte, error) {
	length, err := binary.ReadUvarint(l.from)
	if err != nil {
		return nil, endsEarly(err)
	}
	if length > mostAtOnce {
		var long bytes.Buffer
		if n, err := io.CopyN(&long, l.from, int64(min(length, 1<<40))); err != nil || uint64(n) != length {
			return nil, endsEarly(err)
		}
		return unseal(long.Bytes(), at)
	}
	if uint64(cap(l.value)) < length {
		l.value = make([]byte, mostAtOnce)
	}
	l.value = l.value[:length]
	if _, err := io.ReadFull(l.from, l.value); err != nil {
		return nil, endsEarly(err)
	}
	return unseal(l.value, at)
}

// endsEarly is the error of a checkpoint that ends too early.
func endsEarly(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends too early", errDamaged)
	}
	return err
}
