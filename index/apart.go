package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/hashing"
)

// A made id is one that a program has made up for a document without an id of its own: file:line, or the place in
// a stream. Two documents can have it by chance: the line 1 of standard input is another document each day. So
// with Options.ByID a document with a made id replaces only itself. If another document has the id, it is named
// apart:
//
//	stdin.jsonl:1#3f2a9c0d11e8b7a4      # and the hash of its columns and its text, or what is stored of it
//
// A text gets the same name each time, so a command that is repeated finds the document there.

// same reports whether two documents with one id are equal in all that is stored of them.
func (r *record) same(as *record) bool {
	return r.kind == as.kind && bytes.Equal(r.columns, as.columns) && bytes.Equal(r.body, as.body)
}

// renamedApart returns the record under its name apart.
func (r record) renamedApart() record {
	content := hashing.Bytes(appendRecord(nil, record{kind: r.kind, columns: r.columns, body: r.body}))
	r.id = fmt.Appendf(nil, "%s#%016x", r.id, content)
	return r
}

// nameApart gives a document with a made id another one for as long as another document has it. It tells whether
// it did.
func (x *Index) nameApart(a *arrival) (renamed bool, err error) {
	mine, err := parseRecord(a.record)
	if err != nil {
		return false, err
	}
	for ; ; renamed = true {
		slot, found, err := x.holderOf(mine.id)
		if err != nil {
			return renamed, err
		}
		if found {
			its, err := x.read(slot)
			if err != nil {
				return renamed, err
			}
			if !its.same(&mine) {
				mine = mine.renamedApart()
				continue
			}
		}
		if renamed {
			a.id, a.record = mine.id, appendRecord(nil, mine)
			a.sum = durable.Checksum(0, a.record)
		}
		return renamed, nil
	}
}

// apartAtEnd does for a build what Index.Add does for each document: it names documents with made ids apart. dead has
// the slots of all documents whose ids came again; those that come back are taken out of it.
//
// An id is seldom that of a file and line, so few documents are read for this.
func (b *Builder) apartAtEnd(ctx context.Context, dead slotSet) error {
	if len(b.made) == 0 {
		return nil
	}
	b.made = b.made.grown(b.next)
	shared := map[string][]uint64{} // ids that a document with a made id shares with others → slots but for the last
	visit := func(found func(id []byte, slot, last uint64)) error {
		return dead.each(func(slot uint64) error {
			r, err := b.stored(slot)
			if err != nil {
				return err
			}
			last, _, err := b.s.slotOf(r.id)
			found(r.id, slot, last)
			return errors.Join(err, ctx.Err())
		})
	}
	err := visit(func(id []byte, slot, last uint64) {
		if b.made.has(slot) || b.made.has(last) {
			shared[string(id)] = nil
		}
	})
	if err != nil || len(shared) == 0 {
		return err
	}
	ends := map[string]uint64{}
	err = visit(func(id []byte, slot, last uint64) {
		if slots, ok := shared[string(id)]; ok {
			shared[string(id)], ends[string(id)] = append(slots, slot), last
		}
	})
	batch := b.s.db.NewBatch()
	for id, slots := range shared {
		if err == nil {
			err = b.share(batch, dead, append(slots, ends[id]))
		}
	}
	if err != nil {
		return errors.Join(err, batch.Close())
	}
	return b.s.commit(batch)
}

// share decides about the documents with one id, in the order in which they came.
func (b *Builder) share(batch *pebble.Batch, dead slotSet, slots []uint64) error {
	taken := map[string]uint64{} // ids of the documents so far
	for _, slot := range slots {
		mine, err := b.stored(slot)
		if err != nil {
			return err
		}
		given := len(mine.id)
		for b.made.has(slot) {
			free, err := b.isFree(&mine, taken, len(mine.id) > given)
			if err != nil {
				return err
			}
			if free {
				break
			}
			mine = mine.renamedApart()
		}
		if before, found := taken[string(mine.id)]; found {
			dead.set(before)
		}
		dead.clear(slot)
		taken[string(mine.id)] = slot
		if len(mine.id) > given {
			b.apart++
			value := appendRecord(nil, mine)
			if err := batch.Set(slotKey(nil, keyRecord, slot), seal(value, durable.Checksum(0, value), slot), nil); err != nil {
				return err
			}
		}
	}
	for id, slot := range taken {
		if err := batch.Set(append([]byte{keyID}, id...), appendSlotOf(nil, []byte(id), slot), nil); err != nil {
			return err
		}
	}
	return nil
}

// isFree tells whether a document with a made id can have its id: no document has it, or an equal one. taken has the
// ids of the documents before it that are decided about; renamed says that its id is a new one.
func (b *Builder) isFree(mine *record, taken map[string]uint64, renamed bool) (bool, error) {
	if slot, found := taken[string(mine.id)]; found {
		its, err := b.stored(slot)
		return its.same(mine), err
	}
	if !renamed {
		return true, nil
	}
	_, found, err := b.s.slotOf(mine.id)
	return !found, err
}

// stored reads a record that the build has written. The caller may keep it.
func (b *Builder) stored(slot uint64) (record, error) {
	value, err := b.s.get(b.x, nil, slot, nil)
	if err != nil {
		return record{}, err
	}
	return parseRecord(value)
}
