package parquetfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// bounds are the least and the greatest of some values, in the order that the
// column's type defines.
type bounds struct {
	any         bool // there was a value
	least, most []byte
}

// merge widens b to include c.
func (b *bounds) merge(leaf *Leaf, c bounds) {
	if c.any {
		b.add(leaf, c.least)
		b.add(leaf, c.most)
	}
}

// add widens b to include v, which it copies.
func (b *bounds) add(leaf *Leaf, v []byte) {
	if leaf.isNaN(v) {
		return
	}
	if !b.any || leaf.compare(v, b.least) < 0 {
		b.least = append(b.least[:0:0], v...)
	}
	if !b.any || leaf.compare(v, b.most) > 0 {
		b.most = append(b.most[:0:0], v...)
	}
	b.any = true
}

// ordered tells whether the format defines an order of the column's values that this package knows.
func (l *Leaf) ordered() bool {
	return l.physical != int96s && l.logical != interval && l.logical != otherValue && l.logical != float16
}

// compare orders two values as statistics do. Zeros of either sign are equal.
func (l *Leaf) compare(a, b []byte) int {
	switch l.physical {
	case boolean:
		return cmp.Compare(a[0], b[0])
	case int32s, int64s:
		x, y := l.int(a), l.int(b)
		if l.logical != unsigned {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(uint64(x), uint64(y)) // sign extension keeps the order
	case floats, doubles:
		return cmp.Compare(l.float(a), l.float(b))
	}
	if l.logical == decimal {
		return l.bigInt(a).Cmp(l.bigInt(b))
	}
	return bytes.Compare(a, b)
}

func (l *Leaf) float(v []byte) float64 {
	if l.physical == floats {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v))
}

func (l *Leaf) isNaN(v []byte) bool {
	return (l.physical == floats || l.physical == doubles) && math.IsNaN(l.float(v))
}

// encoded returns bounds as statistics hold them: of zeros the least is
// negative and the greatest positive; booleans are one byte.
func (b bounds) encoded(leaf *Leaf) (least, most []byte) {
	least, most = b.least, b.most
	if leaf.physical == floats || leaf.physical == doubles {
		if leaf.float(least) == 0 {
			least = make([]byte, leaf.width)
			least[leaf.width-1] = 0x80
		}
		if leaf.float(most) == 0 {
			most = make([]byte, leaf.width)
		}
	}
	return least, most
}
