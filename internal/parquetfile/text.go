package parquetfile

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"time"
)

// AppendText appends a value of the column, given as in a page, in its canonical text form: text
// unchanged, integers and decimals in digits, floats as the shortest number that reads as the same,
// true and false, dates and times after RFC 3339 (UTC, or without a zone for local times), UUIDs
// with hyphens, other bytes in hexadecimal. The form is stable: ids are made of it.
func (l *Leaf) AppendText(dst, v []byte) []byte {
	switch l.logical {
	case utf8String:
		return append(dst, v...)
	case decimal:
		return appendDecimal(dst, l.bigInt(v), l.scale)
	case date:
		return time.Unix(l.int(v)*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
	case timeOfDay:
		return l.clock(v).AppendFormat(dst, "15:04:05.999999999")
	case timestamp:
		return appendTime(dst, l.clock(v), l.utc)
	case unsigned:
		if l.physical == int32s {
			return strconv.AppendUint(dst, uint64(uint32(l.int(v))), 10)
		}
		return strconv.AppendUint(dst, uint64(l.int(v)), 10)
	case uuid:
		for i, n := 0, 0; n < 5; n++ {
			size := [...]int{4, 2, 2, 2, 6}[n]
			if n > 0 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, v[i:i+size])
			i += size
		}
		return dst
	case float16:
		return appendFloat(dst, float16Value(v), 32)
	}
	switch l.physical {
	case boolean:
		return strconv.AppendBool(dst, v[0] != 0)
	case int32s, int64s:
		return strconv.AppendInt(dst, l.int(v), 10)
	case int96s: // nanoseconds of the day, and the Julian day: timestamps of old writers
		const epoch = 2440588
		day := int64(binary.LittleEndian.Uint32(v[8:])) - epoch
		return appendTime(dst, time.Unix(day*86400, int64(binary.LittleEndian.Uint64(v))).UTC(), false)
	case floats:
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(v))), 32)
	case doubles:
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(v)), 64)
	case byteArrays:
		if l.logical == plainValue {
			return append(dst, v...)
		}
	}
	return hex.AppendEncode(dst, v)
}

// int returns the value of an integer column.
func (l *Leaf) int(v []byte) int64 {
	if l.physical == int32s {
		return int64(int32(binary.LittleEndian.Uint32(v)))
	}
	return int64(binary.LittleEndian.Uint64(v))
}

// clock returns a time, counted in the column's unit from 1970 or midnight.
func (l *Leaf) clock(v []byte) time.Time {
	n, unit := l.int(v), int64(l.unit)
	seconds, rest := n/unit, n%unit
	if rest < 0 {
		seconds, rest = seconds-1, rest+unit
	}
	return time.Unix(seconds, rest*(1e9/unit)).UTC()
}

func appendTime(dst []byte, t time.Time, utc bool) []byte {
	dst = t.AppendFormat(dst, "2006-01-02T15:04:05.999999999")
	if utc {
		dst = append(dst, 'Z')
	}
	return dst
}

// bigInt returns the unscaled value of a decimal: little-endian in an integer,
// big-endian two's complement in bytes.
func (l *Leaf) bigInt(v []byte) *big.Int {
	if l.physical == int32s || l.physical == int64s {
		return big.NewInt(l.int(v))
	}
	n := new(big.Int).SetBytes(v)
	if len(v) > 0 && v[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v))))
	}
	return n
}

func appendDecimal(dst []byte, n *big.Int, scale int) []byte {
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	digits := new(big.Int).Abs(n).Append(nil, 10)
	for len(digits) <= scale {
		digits = append([]byte{'0'}, digits...)
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	if scale > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-scale:]...)
	}
	return dst
}

// appendFloat writes a number as JavaScript and JSON libraries do.
func appendFloat(dst []byte, v float64, bits int) []byte {
	form := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, v, form, -1, bits)
}

// float16Value widens an IEEE half-precision number.
func float16Value(v []byte) float64 {
	h := binary.LittleEndian.Uint16(v)
	sign, exponent, fraction := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 != 0 {
		sign = -1
	}
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1+fraction/1024, exponent-15)
}
