package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/internal/bom"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/hashing"
)

// A record is the stored data of a document:
//
//	┌───────────┬────────────┬─────────┬────┬───────────────────────┬──────┬──────────────────┐
//	│ version 1 │ kind 1     │ id size │ id │ columns, see columns  │ body │ CRC-32C, slot in │
//	│           │ text, …    │ uvarint │    │ size uvarint          │      │ 4 bytes          │
//	└───────────┴────────────┴─────────┴────┴───────────────────────┴──────┴──────────────────┘
//
// The checksum covers all bytes before it and the slot, eight bytes. These constants are part
// of the format.
const recordVersion = 1

// recordOverhead is how many bytes a record and its checksum take at most beside id, columns and text.
const recordOverhead = 2 + 2*binary.MaxVarintLen64 + 1 + durable.ChecksumSize

type bodyKind byte

const (
	bodyText     bodyKind = 't'
	bodyFeatures bodyKind = 'f' // the number of keys; keys; features, ascending: 8 bytes each
	bodyKeys     bodyKind = 'k' // the number of keys; keys
	// bodyMarked is the text of a file with a byte order mark: bom.Encoding, 1 byte; text. A parsed record has bodyText.
	bodyMarked bodyKind = 'm'
)

// errDamaged says that stored data differ from what was written.
var errDamaged = errors.New("damaged")

// record is a parsed record. Its slices are views of the encoded record.
type record struct {
	kind     bodyKind
	id       []byte
	columns  []byte
	body     []byte
	encoding bom.Encoding // of the file of a text
}

func appendRecord(dst []byte, r record) []byte {
	marked := r.kind == bodyText && r.encoding != bom.None
	if marked {
		r.kind = bodyMarked
	}
	dst = append(dst, recordVersion, byte(r.kind))
	dst = binary.AppendUvarint(dst, uint64(len(r.id)))
	dst = append(dst, r.id...)
	dst = binary.AppendUvarint(dst, uint64(len(r.columns)))
	dst = append(dst, r.columns...)
	if marked {
		dst = append(dst, byte(r.encoding))
	}
	return append(dst, r.body...)
}

// seal appends a checksum to dst. sum is the checksum of the value, which can be computed
// before the slot is known.
func seal(dst []byte, sum uint32, slot uint64) []byte {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], slot)
	return binary.LittleEndian.AppendUint32(dst, durable.Checksum(sum, at[:]))
}

// unseal checks the checksum and returns the value without it.
func unseal(value []byte, slot uint64) ([]byte, error) {
	n := len(value) - durable.ChecksumSize
	if n < 0 {
		return nil, fmt.Errorf("%w: %d bytes", errDamaged, len(value))
	}
	if sealed := seal(nil, durable.Checksum(0, value[:n]), slot); string(sealed) != string(value[n:]) {
		return nil, fmt.Errorf("%w: checksum", errDamaged)
	}
	return value[:n], nil
}

// parseRecord parses a record without its checksum.
func parseRecord(value []byte) (r record, err error) {
	if len(value) < 2 || value[0] != recordVersion {
		return r, fmt.Errorf("%w: no record of version %d", errDamaged, recordVersion)
	}
	r.kind = bodyKind(value[1])
	rest := value[2:]
	for _, part := range []*[]byte{&r.id, &r.columns} {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return r, fmt.Errorf("%w: record is cut", errDamaged)
		}
		*part, rest = rest[n:n+int(size)], rest[n+int(size):]
	}
	r.body = rest
	switch r.kind {
	case bodyText:
	case bodyMarked:
		if len(rest) == 0 || rest[0] == byte(bom.None) || rest[0] > byte(bom.UTF16BE) {
			return r, fmt.Errorf("%w: text of an unknown encoding", errDamaged)
		}
		r.kind, r.encoding, r.body = bodyText, bom.Encoding(rest[0]), rest[1:]
	case bodyFeatures, bodyKeys:
		if len(rest)%8 != 0 || len(rest) < 8 || binary.LittleEndian.Uint64(rest) > uint64(len(rest)/8-1) {
			return r, fmt.Errorf("%w: %d bytes of numbers", errDamaged, len(rest))
		}
	default:
		return r, fmt.Errorf("%w: record of kind %q", errDamaged, r.kind)
	}
	return r, nil
}

// keysSize returns the size of the keys in a body that is not text, their number included.
func keysSize(body []byte) int { return 8 + 8*int(binary.LittleEndian.Uint64(body)) }

func appendNumbers(dst []byte, numbers []uint64) []byte {
	for _, n := range numbers {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

func numbers(dst []uint64, b []byte) []uint64 {
	for ; len(b) >= 8; b = b[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(b))
	}
	return dst
}

// appendColumns appends the values of columns, nil for a missing one.
func appendColumns(dst []byte, values [][]byte) []byte {
	for _, v := range values {
		size := 0
		if v != nil {
			size = len(v) + 1
		}
		dst = binary.AppendUvarint(dst, uint64(size))
		dst = append(dst, v...)
	}
	return dst
}

// parseColumns is the inverse of appendColumns.
func parseColumns(b []byte) (values [][]byte, err error) {
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n)+1 {
			return nil, fmt.Errorf("%w: columns are cut", errDamaged)
		}
		b = b[n:]
		if size == 0 {
			values = append(values, nil)
			continue
		}
		values = append(values, b[:size-1:size-1])
		b = b[size-1:]
	}
	return values, nil
}

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
