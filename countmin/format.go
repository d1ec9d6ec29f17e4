package countmin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A stored sketch, little endian. These constants are part of the format and do not change.
//
//	 0  "ALIKECM\x00"   magic
//	 8  1               version
//	 9  0 or 1          conservative
//	10  depth           2 bytes, 1 to 64
//	12  0               4 bytes
//	16  width           8 bytes, 1 to 2³²
//	24  seed            8 bytes
//	32  total           8 bytes
//	40  counters        4·width·depth bytes, row by row
//	 …  CRC-32C         4 bytes, of all before
const (
	magic        = "ALIKECM\x00"
	version      = 1
	headerLength = 40
	sumLength    = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors of stored sketches; the text around them says what is wrong.
var (
	ErrCorrupt = errors.New("corrupt count-min sketch")
	ErrVersion = errors.New("count-min sketch of another format version")
)

// AppendBinary implements encoding.BinaryAppender: 44 bytes and 4 a counter. The error is
// always nil.
func (s *Sketch) AppendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = append(b, magic...)
	kind := byte(0)
	if s.conservative {
		kind = 1
	}
	b = append(b, version, kind)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s.rows)))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.width))
	b = binary.LittleEndian.AppendUint64(b, s.seed)
	b = binary.LittleEndian.AppendUint64(b, s.total)
	for _, c := range s.counters {
		b = binary.LittleEndian.AppendUint32(b, c)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli)), nil
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (s *Sketch) MarshalBinary() ([]byte, error) {
	return s.AppendBinary(make([]byte, 0, headerLength+4*len(s.counters)+sumLength))
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It returns ErrCorrupt or
// ErrVersion for anything that AppendBinary has not written, and then leaves the sketch
// unchanged. It allocates no more than the length of b.
func (s *Sketch) UnmarshalBinary(b []byte) error {
	if len(b) < headerLength+sumLength || string(b[:len(magic)]) != magic {
		return fmt.Errorf("%w: %d bytes that do not begin as one", ErrCorrupt, len(b))
	}
	if b[8] != version {
		return fmt.Errorf("%w: %d, this program knows %d", ErrVersion, b[8], version)
	}
	body := b[:len(b)-sumLength]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[len(body):]) {
		return fmt.Errorf("%w: its checksum is wrong", ErrCorrupt)
	}
	depth, width := int(binary.LittleEndian.Uint16(b[10:])), binary.LittleEndian.Uint64(b[16:])
	counters := body[headerLength:]
	switch {
	case b[9] > 1 || binary.LittleEndian.Uint32(b[12:]) != 0:
		return fmt.Errorf("%w: unknown settings", ErrCorrupt)
	case depth < 1 || depth > mostDepth || width < 1 || width > mostWidth:
		return fmt.Errorf("%w: %d rows of %d counters", ErrCorrupt, depth, width)
	case uint64(len(counters)) != 4*width*uint64(depth):
		return fmt.Errorf("%w: %d bytes of counters for %d rows of %d", ErrCorrupt, len(counters), depth, width)
	}
	*s = Sketch{
		width: int(width), seed: binary.LittleEndian.Uint64(b[24:]), conservative: b[9] == 1,
		total: binary.LittleEndian.Uint64(b[32:]), counters: make([]uint32, len(counters)/4),
	}
	for i := range s.counters {
		s.counters[i] = binary.LittleEndian.Uint32(counters[4*i:])
	}
	s.makeRows(depth)
	return nil
}
