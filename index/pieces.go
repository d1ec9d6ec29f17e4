package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/alike-dev/alike/internal/durable"
)

// A record of more than pieceSize bytes is stored in pieces: Pebble holds a value in memory once more for its block,
// and again for the compressed block. In the place of the record is
//
//	┌───────────┬────────┬──────────────┬─────────────────────────┬──────────────────┐
//	│ version 1 │ kind l │ size uvarint │ CRC-32C of record, slot │ CRC-32C, slot in │
//	└───────────┴────────┴──────────────┴─────────────────────────┴──────────────────┘
//
// and the pieces, in the order of their numbers, are the record. Pieces to which no record leads may be left by a
// process that was killed. Letter and order are part of the format; sizes of pieces are not.
const (
	pieceSize = 1 << 20
	kindLong  = bodyKind('l')
)

func pieceKey(dst []byte, slot uint64, n uint32) []byte {
	return binary.BigEndian.AppendUint32(slotKey(dst, keyPiece, slot), n)
}

type putter func(key, value []byte) error

// putRecord stores a record, whose checksum is sum: the pieces of a long one first.
func (e *engine) putRecord(record []byte, sum uint32, slot uint64, piece, place putter) error {
	key := slotKey(nil, keyRecord, slot)
	if len(record) <= e.pieceSize {
		return place(key, seal(record, sum, slot))
	}
	e.long.Store(true)
	n := uint32(0)
	for part := range slices.Chunk(record, e.pieceSize) {
		if err := piece(pieceKey(nil, slot, n), part); err != nil {
			return err
		}
		n++
	}
	value := binary.AppendUvarint([]byte{recordVersion, byte(kindLong)}, uint64(len(record)))
	return place(key, sealed(seal(value, sum, slot), slot))
}

// anyLong tells whether pending documents have a record that is stored in pieces.
func (e *engine) anyLong(pending []arrival) bool {
	return slices.ContainsFunc(pending, func(a arrival) bool { return len(a.record) > e.pieceSize })
}

// findLong looks whether the store has pieces: if not, nothing asks for any.
func (e *engine) findLong() error {
	it, err := e.ofKind(keyPiece)
	if err != nil {
		return asDamage(err)
	}
	e.long.Store(it.First())
	return asDamage(errors.Join(it.Error(), it.Close()))
}

// record returns the record of a value that is stored for a slot: a part of the value or, of one in pieces, a copy. It
// is errGone if the record was removed, with its pieces, since the value was read.
func (e *engine) record(value []byte, slot uint64) (record []byte, isCopy bool, err error) {
	body, err := unseal(value, slot)
	if err != nil || len(body) < 2 || bodyKind(body[1]) != kindLong {
		return body, false, err
	}
	record, err = e.join(body, slot)
	if err != nil && !e.hasKey(slotKey(nil, keyRecord, slot)) {
		err = errGone
	}
	return record, true, err
}

// join returns a record that is in pieces by what is in its place.
func (e *engine) join(body []byte, slot uint64) ([]byte, error) {
	size, n := binary.Uvarint(body[2:])
	if body[0] != recordVersion || n <= 0 || len(body) != 2+n+durable.ChecksumSize || size > math.MaxInt32 {
		return nil, fmt.Errorf("%w: no place of a record in pieces", errDamaged)
	}
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: pieceKey(nil, slot, 0), UpperBound: slotKey(nil, keyPiece, slot+1)})
	if err != nil {
		return nil, asDamage(err)
	}
	whole := make([]byte, 0, size)
	for ok := it.First(); ok && err == nil && len(whole) < int(size); ok = it.Next() {
		var piece []byte
		if piece, err = it.ValueAndErr(); err == nil {
			whole = append(whole, piece[:min(len(piece), int(size)-len(whole))]...)
		}
	}
	if err = asDamage(errors.Join(err, it.Close())); err != nil {
		return nil, err
	}
	if sum := seal(nil, durable.Checksum(0, whole), slot); string(sum) != string(body[2+n:]) {
		return nil, fmt.Errorf("%w: checksum of a record in pieces", errDamaged)
	}
	return whole, nil
}

// bury removes a document: a settled one loses its facts; another one is marked, since its block stays.
func (e *engine) bury(b *pebble.Batch, slot uint64, settled bool) error {
	err := b.Delete(slotKey(nil, keyRecord, slot), nil)
	if e.long.Load() && e.hasKey(pieceKey(nil, slot, 0)) {
		err = errors.Join(err, b.DeleteRange(slotKey(nil, keyPiece, slot), slotKey(nil, keyPiece, slot+1), nil))
	}
	if settled {
		return errors.Join(err, b.Delete(slotKey(nil, keyFacts, slot), nil))
	}
	return errors.Join(err, b.Set(slotKey(nil, keyDead, slot), sealed(nil, slot), nil))
}
