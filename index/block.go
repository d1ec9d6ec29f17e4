package index

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/hashing"
)

// A block stores the data that memory holds of up to chunkDocs consecutive documents, so that an index is opened
// without reading any record:
//
//	┌───────────┬────────────────────┬────────────────┬──────────────────┐
//	│ version 1 │ documents uvarint  │ words uvarint  │ of each document │ CRC-32C, first slot in
//	└───────────┴────────────────────┴────────────────┴──────────────────┘
//	of each: flags 1, time 8, digest 16, words 4 each, number of keys uvarint, keys 8 each
//
// Numbers are little-endian. These constants are part of the format.
const (
	blockVersion = 1
	flagDead     = 1 // deleted before the block was written: the rest of its entry has no meaning
)

// appendBlock appends the block of some documents.
func appendBlock(dst []byte, words int, docs []arrival, dead func(i int) bool) []byte {
	dst = append(dst, blockVersion)
	dst = binary.AppendUvarint(dst, uint64(len(docs)))
	dst = binary.AppendUvarint(dst, uint64(words))
	for i := range docs {
		d := &docs[i]
		flags := byte(0)
		if dead(i) {
			flags, d = flagDead, &arrival{words: make([]uint32, words)}
		}
		dst = append(dst, flags)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(d.time))
		dst = appendNumbers(dst, d.digest[:])
		for _, w := range d.words {
			dst = binary.LittleEndian.AppendUint32(dst, w)
		}
		dst = binary.AppendUvarint(dst, uint64(len(d.keys)))
		dst = appendNumbers(dst, d.keys)
	}
	return dst
}

// inChunks divides documents, the first of which has the slot, at the ends of chunks, and calls visit for each part.
func inChunks(docs []arrival, slot uint64, visit func(slot uint64, docs []arrival) error) error {
	for len(docs) > 0 {
		n := min(len(docs), int(chunkDocs-slot%chunkDocs))
		if err := visit(slot, docs[:n]); err != nil {
			return err
		}
		docs, slot = docs[n:], slot+uint64(n)
	}
	return nil
}

func sealed(value []byte, slot uint64) []byte { return seal(value, durable.Checksum(0, value), slot) }

// blockHead returns the numbers of documents and of words of a block, and where its first document begins.
func blockHead(value []byte) (docs, words, at int, err error) {
	if len(value) < 1 || value[0] != blockVersion {
		return 0, 0, 0, fmt.Errorf("%w: no block of version %d", errDamaged, blockVersion)
	}
	at = 1
	var numbers [2]int
	for i := range numbers {
		v, k := binary.Uvarint(value[at:])
		if k <= 0 || v > uint64(len(value)) {
			return 0, 0, 0, fmt.Errorf("%w: block is cut", errDamaged)
		}
		numbers[i] = int(v)
		at += k
	}
	return numbers[0], numbers[1], at, nil
}

// parseBlock calls each for every document of a block, in order. Only keys, digest, words and
// time of the arrival are set; its slices are valid during the call.
func parseBlock(value []byte, words int, each func(i int, d *arrival, dead bool) error) (n int, err error) {
	cut := fmt.Errorf("%w: block is cut", errDamaged)
	docs, w, at, err := blockHead(value)
	if err != nil || w != words {
		return 0, cmp.Or(err, cut)
	}
	number := func() int {
		v, k := binary.Uvarint(value[at:])
		if k <= 0 || v > uint64(len(value)) {
			err = cut
			return 0
		}
		at += k
		return int(v)
	}
	d := arrival{words: make([]uint32, words)}
	for i := range docs {
		if len(value)-at < 1+8+16+4*words {
			return 0, cut
		}
		dead := value[at]&flagDead != 0
		d.time = int64(binary.LittleEndian.Uint64(value[at+1:]))
		d.digest = [2]uint64{binary.LittleEndian.Uint64(value[at+9:]), binary.LittleEndian.Uint64(value[at+17:])}
		at += 25
		for j := range d.words {
			d.words[j] = binary.LittleEndian.Uint32(value[at:])
			at += 4
		}
		keys := number()
		if err != nil || keys > (len(value)-at)/8 {
			return 0, cut
		}
		d.keys = numbers(d.keys[:0], value[at:at+8*keys])
		at += 8 * keys
		if err := each(i, &d, dead); err != nil {
			return 0, err
		}
	}
	if at != len(value) {
		return 0, cut
	}
	return docs, nil
}

// arrival is a document on its way into the collection.
type arrival struct {
	keys   []uint64
	ways   int
	record []byte // without checksum; a batch leaves room for one behind it, so that a long record is not copied for that
	sum    uint32
	id     []byte
	digest [2]uint64
	words  []uint32
	time   int64
}

// A filter tells which keys documents of some consecutive slots cannot have, so that a search without a table of keys
// (few.go) reads few blocks: of a million documents 35 MB of filters and some blocks, not 226 MB of blocks.
//
//	┌─────────────┬────────────────────────────────┬──────────────────────────┐
//	│ documents 8 │ words of a bloom.Filter, 8 each │ CRC-32C, first slot in
//	└─────────────┴────────────────────────────────┴──────────────────────────┘
//
// A program that does not know filters leaves them when it merges blocks or adds others. So a filter stands for slots and not
// for a block, may have keys of documents that have gone, and slots without a filter are read.

// filterKeys is from how many keys on blocks are read without asking filters.
const filterKeys = 1000

type filter struct {
	docs uint64
	bloom.Stored
}

// filterHash returns what stands for a key in filters.
func filterHash(key uint64) uint64 { return hashing.Mix(keytable.Print(key)) }

func appendFilter(dst []byte, docs []arrival) []byte {
	keys := 0
	for i := range docs {
		keys += len(docs[i].keys)
	}
	f := bloom.New(keys)
	for i := range docs {
		for _, key := range docs[i].keys {
			f.Add(filterHash(key))
		}
	}
	return appendNumbers(binary.LittleEndian.AppendUint64(dst, uint64(len(docs))), f.Words())
}

// parseFilter parses the filter of documents from a slot on. It holds the value.
func parseFilter(value []byte, slot uint64) (f filter, err error) {
	body, err := unseal(value, slot)
	if err == nil && (len(body) < 16 || len(body)%8 != 0) {
		err = fmt.Errorf("%w: %d bytes", errDamaged, len(body))
	}
	if err != nil {
		return f, fmt.Errorf("index: filter of slot %d: %w", slot, err)
	}
	return filter{binary.LittleEndian.Uint64(body), body[8:]}, nil
}

// toRead calls read for the parts of a range of slots in which documents may have one of the keys.
func toRead(e *engine, r keytable.Range, keys []uint64, read func(r keytable.Range) error) error {
	if len(keys) >= filterKeys {
		return read(r)
	}
	hashes := make([]uint64, len(keys))
	for i, key := range keys {
		hashes[i] = filterHash(key)
	}
	at := r.First // what is before it is done
	err := e.each(keyFilter, at&^(chunkDocs-1), r.Next, func(start uint64, value []byte) error {
		f, err := parseFilter(value, start)
		if err == nil && start > at { // without a filter
			err = read(keytable.Range{First: at, Next: start})
		}
		from, to := max(at, start), min(start+f.docs, r.Next)
		if err == nil && from < to && slices.ContainsFunc(hashes, f.Has) {
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
