package index

import (
	"encoding/binary"
	"fmt"

	"github.com/alike-dev/alike/internal/durable"
)

// An entry is a prepared document, for a log that several indexes apply in one order:
//
//	flags 1, time 8, digest 16, words: number uvarint, 4 each, keys: ways uvarint, number uvarint, 8 each, record
//
// Numbers are little-endian.
const (
	entryTimed = 1 << iota
	entryMade
)

// AppendEntry appends document i of the batch in the form that AddEntry takes. O(length).
func (b *Batch) AppendEntry(dst []byte, i int) []byte {
	p := &b.docs[i]
	flags := byte(0)
	if p.timed {
		flags |= entryTimed
	}
	if p.made {
		flags |= entryMade
	}
	dst = binary.LittleEndian.AppendUint64(append(dst, flags), uint64(p.time))
	dst = appendNumbers(dst, p.digest[:])
	words, keys := spanned(b.words, p.words), spanned(b.keys, p.keys)
	dst = binary.AppendUvarint(dst, uint64(len(words)))
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	dst = binary.AppendUvarint(dst, uint64(p.ways))
	dst = appendNumbers(binary.AppendUvarint(dst, uint64(len(keys))), keys)
	return append(dst, spanned(b.bytes, p.record)...)
}

// AddEntry adds a document that a batch of an index with the same options has prepared, and compares it with nothing:
// Check does all of that. So the verdict depends on the collection at that moment alone, and not on what it was when
// the document was prepared. accepts is Document.Accepts. O(length).
func (b *Batch) AddEntry(entry []byte, accepts func(columns [][]byte) bool) error {
	p := prepared{accepts: accepts}
	e := entryReader{rest: entry}
	flags := e.bytes(1)
	p.time = int64(e.number64())
	p.digest = [2]uint64{e.number64(), e.number64()}
	words := e.bytes(4 * e.count(4))
	p.ways = e.count(0)
	keys := e.bytes(8 * e.count(8))
	if e.bad || len(words) != 4*b.x.judge.words || p.ways > len(keys)/8 || flags[0]&^(entryTimed|entryMade) != 0 {
		return fmt.Errorf("index: %w: no entry of a document", errDamaged)
	}
	r, err := parseRecord(e.rest)
	if err != nil {
		return err
	}
	p.timed, p.made = flags[0]&entryTimed != 0, flags[0]&entryMade != 0
	from := len(b.keys)
	b.keys = numbers(b.keys, keys)
	p.keys = span{from, len(b.keys)}
	from = len(b.words)
	for ; len(words) > 0; words = words[4:] {
		b.words = append(b.words, binary.LittleEndian.Uint32(words))
	}
	p.words = span{from, len(b.words)}
	b.grow(len(e.rest) + durable.ChecksumSize)
	from = len(b.bytes)
	b.bytes = append(b.bytes, e.rest...)
	p.record = span{from, len(b.bytes)}
	p.sum = durable.Checksum(0, e.rest)
	b.bytes = append(b.bytes, make([]byte, durable.ChecksumSize)...) // see arrival.record
	from = len(b.ids)
	b.ids = append(b.ids, r.id...)
	p.id = span{from, len(b.ids)}
	b.docs = append(b.docs, p)
	return nil
}

// EntryBytes returns for how many bytes Batch.Grow makes room for an entry, 0 for what is none.
func EntryBytes(entry []byte) int {
	e := entryReader{rest: entry}
	e.bytes(1 + 8 + 16)
	e.bytes(4 * e.count(4))
	e.count(0)
	e.bytes(8 * e.count(8))
	if e.bad {
		return 0
	}
	return len(e.rest) + durable.ChecksumSize
}

// entryReader reads an entry. After an end that comes too early, bad is set and all else is empty.
type entryReader struct {
	rest []byte
	bad  bool
}

func (e *entryReader) bytes(n int) []byte {
	if e.bad || n > len(e.rest) {
		e.bad = true
		return nil
	}
	b := e.rest[:n]
	e.rest = e.rest[n:]
	return b
}

func (e *entryReader) number64() uint64 {
	b := e.bytes(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// count reads the number of elements of a size, which the rest must have room for.
func (e *entryReader) count(size int) int {
	v, n := binary.Uvarint(e.rest)
	if e.bad || n <= 0 || v > uint64(len(e.rest)) || int(v)*size > len(e.rest)-n {
		e.bad = true
		return 0
	}
	e.rest = e.rest[n:]
	return int(v)
}
