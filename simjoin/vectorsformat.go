package simjoin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Stored vectors, little endian, for files that one process and its successors read:
//
//	 0  "ALIKEVEC"   magic
//	 8  1            version, 4 bytes
//	12  vectors      4 bytes
//	16  features     8 bytes, of all vectors
//	24  lengths      4 bytes a vector
//	 …  features     4 bytes each
//	 …  weights      4 bytes each
//	 …  CRC-32C      4 bytes, of all before
const (
	vectorsMagic   = "ALIKEVEC"
	vectorsVersion = 1
	vectorsHeader  = 24
	vectorsSum     = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrCorrupt means that Vectors.AppendBinary has not written these bytes.
var ErrCorrupt = errors.New("corrupt vectors")

// AppendBinary implements encoding.BinaryAppender: 28 bytes, 4 a vector and 8 a feature.
// The error is always nil; there must be fewer than 2³² vectors.
func (v *Vectors) AppendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = append(b, vectorsMagic...)
	b = binary.LittleEndian.AppendUint32(b, vectorsVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(v.Len()))
	b = binary.LittleEndian.AppendUint64(b, uint64(v.Features()))
	before := 0
	for _, end := range v.ends {
		b = binary.LittleEndian.AppendUint32(b, uint32(end-before))
		before = end
	}
	for _, f := range v.features {
		b = binary.LittleEndian.AppendUint32(b, f)
	}
	for _, w := range v.weights {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli)), nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler and reuses the memory of v. It
// makes all checks of Append; if one fails, it returns ErrCorrupt and v is empty.
func (v *Vectors) UnmarshalBinary(b []byte) error {
	v.Reset()
	if err := v.unmarshal(b); err != nil {
		v.Reset()
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

func (v *Vectors) unmarshal(b []byte) error {
	if len(b) < vectorsHeader+vectorsSum || string(b[:8]) != vectorsMagic || binary.LittleEndian.Uint32(b[8:]) != vectorsVersion {
		return errors.New("another format")
	}
	body := b[:len(b)-vectorsSum]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[len(body):]) {
		return errors.New("its checksum is wrong")
	}
	count, total := uint64(binary.LittleEndian.Uint32(b[12:])), binary.LittleEndian.Uint64(b[16:])
	if rest := uint64(len(body) - vectorsHeader); total > rest || rest != 4*count+8*total {
		return fmt.Errorf("%d bytes for %d vectors of %d features", len(b), count, total)
	}
	v.Grow(int(count), int(total))
	lengths, features := body[vectorsHeader:][:4*count], body[vectorsHeader+4*count:]
	for i := range total {
		v.features = append(v.features, binary.LittleEndian.Uint32(features[4*i:]))
		v.weights = append(v.weights, binary.LittleEndian.Uint32(features[4*(total+i):]))
	}
	end := uint64(0)
	for i := range count {
		start := end
		if end += uint64(binary.LittleEndian.Uint32(lengths[4*i:])); end > total {
			return fmt.Errorf("vector %d ends after the last feature", i)
		}
		if err := checkVector(v.features[start:end], v.weights[start:end]); err != nil {
			return err
		}
		v.ends = append(v.ends, int(end))
	}
	if end != total {
		return fmt.Errorf("%d of %d features belong to no vector", total-end, total)
	}
	return nil
}
