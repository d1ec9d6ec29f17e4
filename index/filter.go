package index

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/index/internal/keytable"
	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/hashing"
)

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
	*bloom.Filter
}

// filterHash returns what stands for a key in filters.
func filterHash(key uint64) uint64 { return hashing.Mix(keytable.Print(key)) }

// appendFilter appends the filter of some documents.
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

// parseFilter parses the filter of documents from a slot on. It uses the memory of words, which are those of an earlier one.
func parseFilter(value []byte, slot uint64, words []uint64) (f filter, err error) {
	body, err := unseal(value, slot)
	if err == nil && (len(body) < 16 || len(body)%8 != 0) {
		err = fmt.Errorf("%w: %d bytes", errDamaged, len(body))
	}
	if err != nil {
		return f, fmt.Errorf("index: filter of slot %d: %w", slot, err)
	}
	words = words[:0]
	for at := 8; at < len(body); at += 8 {
		words = append(words, binary.LittleEndian.Uint64(body[at:]))
	}
	return filter{binary.LittleEndian.Uint64(body), bloom.Of(words)}, nil
}

func (f *filter) may(keys []uint64) bool {
	return slices.ContainsFunc(keys, func(key uint64) bool { return f.Has(filterHash(key)) })
}

// toRead calls read for the parts of a range of slots in which documents may have one of the keys.
func toRead(e *engine, r keytable.Range, keys []uint64, read func(r keytable.Range) error) error {
	if len(keys) >= filterKeys {
		return read(r)
	}
	at := r.First // what is before it is done
	var words []uint64
	err := e.each(keyFilter, at&^(chunkDocs-1), r.Next, func(start uint64, value []byte) error {
		f, err := parseFilter(value, start, words)
		if err == nil {
			words = f.Words()
		}
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
