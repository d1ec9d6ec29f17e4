package serve

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/alike-dev/alike/index"
)

// The first byte of an operation.
const (
	opCheck  = 'c' // of documents: see logged.op
	opPut    = 'p'
	opDelete = 'd'
	opCreate = 'C' // of collections: JSON
	opDrop   = 'D'
	opRule   = 'R'
)

// aboutCollection is an operation on a collection as a whole.
type aboutCollection struct {
	Name     string          `json:"name"`
	Settings json.RawMessage `json:"settings,omitempty"`
	Epoch    uint64          `json:"epoch,omitempty"`
	Rule     int             `json:"rule,omitempty"`
}

func (a *aboutCollection) op(kind byte) ([]byte, error) {
	body, err := json.Marshal(a)
	return append([]byte{kind}, body...), err
}

// targetOf reads the beginning of an operation on documents: see logged.op.
func targetOf(op []byte) (to aboutCollection, rest []byte, ok bool) {
	epoch, n := binary.Uvarint(op[1:])
	if n <= 0 {
		return to, nil, false
	}
	name, rest, ok := sized(op[1+n:])
	return aboutCollection{Name: string(name), Epoch: epoch}, rest, ok
}

var errMalformed = errors.New("an operation in the log cannot be read")

func appendSized[T ~string | ~[]byte](dst []byte, b T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// sized reads what appendSized has written.
func sized(b []byte) (value, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n : n+int(size)], b[n+int(size):], true
}

// appendDocument appends a document of a batch to an operation: its filter, and its entry.
func appendDocument(op []byte, b *index.Batch, i int, filter []byte) []byte {
	op = appendSized(op, filter)
	var room [4]byte // for the size of the entry, which is known behind it
	at := len(op)
	op = b.AppendEntry(append(op, room[:]...), i)
	binary.LittleEndian.PutUint32(op[at:], uint32(len(op)-at-len(room)))
	return op
}

// nextDocument reads a document of an operation.
func nextDocument(b []byte) (filter, entry, rest []byte, ok bool) {
	filter, b, ok = sized(b)
	if !ok || len(b) < 4 {
		return nil, nil, nil, false
	}
	size := binary.LittleEndian.Uint32(b)
	if uint64(size) > uint64(len(b)-4) {
		return nil, nil, nil, false
	}
	return filter, b[4 : 4+size], b[4+size:], true
}
