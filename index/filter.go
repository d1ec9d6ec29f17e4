package index

import (
	"encoding/binary"
	"fmt"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/hashing"
)

// A filter tells which keys documents of some consecutive slots cannot have, so that a search without a table of keys
// (few.go) reads few blocks: of a million documents 26 MB of filters and some blocks, not 226 MB of blocks. It is a Bloom
// filter of lines:
//
//	┌─────────────┬──────────────────────────┬──────────────────────────┐
//	│ documents 8 │ lines of 512 bits        │ CRC-32C, first slot in
//	└─────────────┴──────────────────────────┴──────────────────────────┘
//
//	a key → hash of its print → a line, and six bits in it: one miss of the cache for each key that is asked for
//
// A program that does not know filters leaves them when it merges blocks or adds others. So a filter stands for slots and not
// for a block, may have keys of documents that have gone, and slots without a filter are read. These constants are part of
// the format.
const (
	filterLine    = 64 // bytes
	filterBits    = 12 // for each key: of 100 to 200 lines that do not have a key, one says that it may
	filterPerLine = filterLine * 8 / filterBits
	filterPlaces  = 6
)

// filterKeys is from how many keys on blocks are read without asking filters.
const filterKeys = 1000

type filter struct {
	docs  uint64
	lines []byte
}

// place returns the line of a key, and the bits that it has there, 9 bits each.
func filterPlace(key uint64, lines int) (line int, places uint64) {
	h := hashing.Mix(keytable.Print(key))
	return int(h >> 32 * uint64(lines) >> 32), hashing.Mix(h ^ hashing.Key3)
}

// appendFilter appends the filter of some documents.
func appendFilter(dst []byte, docs []arrival) []byte {
	keys := 0
	for i := range docs {
		keys += len(docs[i].keys)
	}
	lines := (keys + filterPerLine - 1) / filterPerLine
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(docs)))
	from := len(dst)
	dst = append(dst, make([]byte, lines*filterLine)...)
	for i := range docs {
		for _, key := range docs[i].keys {
			line, places := filterPlace(key, lines)
			at := dst[from+line*filterLine:][:filterLine]
			for range filterPlaces {
				at[places/8%filterLine] |= 1 << (places % 8)
				places >>= 9
			}
		}
	}
	return dst
}

// parseFilter parses the filter of documents from a slot on, in the same memory.
func parseFilter(value []byte, slot uint64) (f filter, err error) {
	body, err := unseal(value, slot)
	if err == nil && (len(body) < 8 || (len(body)-8)%filterLine != 0) {
		err = fmt.Errorf("%w: %d bytes", errDamaged, len(body))
	}
	if err != nil {
		return f, fmt.Errorf("index: filter of slot %d: %w", slot, err)
	}
	return filter{binary.LittleEndian.Uint64(body), body[8:]}, nil
}

// may tells whether a document of the filter may have one of the keys.
func (f *filter) may(keys []uint64) bool {
	lines := len(f.lines) / filterLine
	if lines == 0 {
		return false
	}
next:
	for _, key := range keys {
		line, places := filterPlace(key, lines)
		at := f.lines[line*filterLine:][:filterLine]
		for range filterPlaces {
			if at[places/8%filterLine]>>(places%8)&1 == 0 {
				continue next
			}
			places >>= 9
		}
		return true
	}
	return false
}

// toRead calls read for the parts of a range of slots in which documents may have one of the keys.
func toRead(e *engine, r keytable.Range, keys []uint64, read func(r keytable.Range) error) error {
	if len(keys) >= filterKeys {
		return read(r)
	}
	at := r.First // what is before it is done
	err := e.each(keyFilter, at&^(chunkDocs-1), r.Next, func(start uint64, value []byte) error {
		f, err := parseFilter(value, start)
		if err == nil && start > at { // without a filter
			err = read(keytable.Range{First: at, Next: start})
		}
		from, to := max(at, start), min(start+f.docs, r.Next)
		if err == nil && from < to && f.may(keys) {
			err = read(keytable.Range{First: from, Next: to})
		}
		at = max(from, to)
		return err
	})
	if err == nil && at < r.Next {
		err = read(keytable.Range{First: at, Next: r.Next})
	}
	return err
}
