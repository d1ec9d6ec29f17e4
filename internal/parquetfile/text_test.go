package parquetfile

import (
	"encoding/binary"
	"math"
	"testing"
)

func u32(v uint32) []byte  { return binary.LittleEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte  { return binary.LittleEndian.AppendUint64(nil, v) }
func f64(v float64) []byte { return u64(math.Float64bits(v)) }

func TestTextFormOfEveryType(t *testing.T) {
	minus := func(v int64) uint64 { return uint64(-v) }
	for _, tt := range []struct {
		leaf Leaf
		v    []byte
		want string
	}{
		{Leaf{physical: byteArrays, logical: utf8String}, []byte("héllo"), "héllo"},
		{Leaf{physical: byteArrays}, []byte("raw\xff"), "raw\xff"},
		{Leaf{physical: byteArrays, logical: otherValue}, []byte("\x00\xff"), "00ff"},
		{Leaf{physical: fixedArrays, width: 3}, []byte("abc"), "616263"},
		{Leaf{physical: boolean, width: 1}, []byte{1}, "true"},
		{Leaf{physical: boolean, width: 1}, []byte{0}, "false"},
		{Leaf{physical: int32s, width: 4}, u32(math.MaxUint32), "-1"},
		{Leaf{physical: int32s, width: 4, logical: unsigned}, u32(math.MaxUint32), "4294967295"},
		{Leaf{physical: int64s, width: 8}, u64(minus(math.MaxInt64)), "-9223372036854775807"},
		{Leaf{physical: int64s, width: 8, logical: unsigned}, u64(math.MaxUint64), "18446744073709551615"},
		{Leaf{physical: doubles, width: 8}, f64(1e6), "1000000"},
		{Leaf{physical: doubles, width: 8}, f64(0.1), "0.1"},
		{Leaf{physical: doubles, width: 8}, f64(-1e300), "-1e+300"},
		{Leaf{physical: doubles, width: 8}, f64(math.Inf(1)), "+Inf"},
		{Leaf{physical: doubles, width: 8}, f64(math.NaN()), "NaN"},
		{Leaf{physical: floats, width: 4}, u32(math.Float32bits(0.1)), "0.1"},
		{Leaf{physical: fixedArrays, width: 2, logical: float16}, []byte{0x00, 0x3e}, "1.5"},
		{Leaf{physical: fixedArrays, width: 2, logical: float16}, []byte{0x01, 0x80}, "-5.9604645e-08"},
		{Leaf{physical: fixedArrays, width: 2, logical: float16}, []byte{0x00, 0xfc}, "-Inf"},
		{Leaf{physical: fixedArrays, width: 2, logical: float16}, []byte{0x01, 0x7c}, "NaN"},
		{Leaf{physical: int64s, width: 8, logical: decimal, scale: 2}, u64(12345), "123.45"},
		{Leaf{physical: int64s, width: 8, logical: decimal, scale: 3}, u64(minus(5)), "-0.005"},
		{Leaf{physical: int32s, width: 4, logical: decimal}, u32(7), "7"},
		{Leaf{physical: fixedArrays, width: 3, logical: decimal, scale: 1}, []byte{0xff, 0xff, 0xf6}, "-1.0"},
		{Leaf{physical: byteArrays, logical: decimal, scale: 1}, []byte{0x00, 0x80}, "12.8"},
		{Leaf{physical: byteArrays, logical: decimal, scale: 1}, nil, "0.0"},
		{Leaf{physical: int32s, width: 4, logical: date}, u32(19000), "2022-01-08"},
		{Leaf{physical: int32s, width: 4, logical: date}, u32(math.MaxUint32), "1969-12-31"},
		{Leaf{physical: int32s, width: 4, logical: timeOfDay, unit: 1e3}, u32(3_723_004), "01:02:03.004"},
		{Leaf{physical: int64s, width: 8, logical: timestamp, unit: 1e6, utc: true}, u64(1_700_000_000_000_001), "2023-11-14T22:13:20.000001Z"},
		{Leaf{physical: int64s, width: 8, logical: timestamp, unit: 1e3}, u64(1_700_000_000_000), "2023-11-14T22:13:20"},
		{Leaf{physical: int64s, width: 8, logical: timestamp, unit: 1e9, utc: true}, u64(minus(1)), "1969-12-31T23:59:59.999999999Z"},
		{Leaf{physical: int96s, width: 12}, append(u64(3_600_000_000_000), u32(2440589)...), "1970-01-02T01:00:00"},
		{Leaf{physical: fixedArrays, width: 16, logical: uuid}, []byte("0123456789abcdef"), "30313233-3435-3637-3839-616263646566"},
		{Leaf{physical: fixedArrays, width: 12, logical: interval}, []byte("abcdefghijkl"), "6162636465666768696a6b6c"},
	} {
		if have := string(tt.leaf.AppendText([]byte("x"), tt.v)); have != "x"+tt.want {
			t.Errorf("%s %d: %q, want %q", tt.leaf.Type(), tt.leaf.logical, have[1:], tt.want)
		}
	}
}

func TestBoundsAreInTheOrderOfTheType(t *testing.T) {
	for _, tt := range []struct {
		leaf   Leaf
		values [][]byte // ascending
	}{
		{Leaf{physical: int32s, width: 4}, [][]byte{u32(math.MaxUint32), u32(0), u32(1)}},
		{Leaf{physical: int32s, width: 4, logical: unsigned}, [][]byte{u32(0), u32(1), u32(math.MaxUint32)}},
		{Leaf{physical: int64s, width: 8, logical: unsigned}, [][]byte{u64(0), u64(math.MaxInt64), u64(math.MaxUint64)}},
		{Leaf{physical: doubles, width: 8}, [][]byte{f64(math.Inf(-1)), f64(-1), f64(1e300)}},
		{Leaf{physical: byteArrays}, [][]byte{{}, {0}, {'a'}, {'a', 'b'}, {0xff}}},
		{Leaf{physical: byteArrays, logical: decimal}, [][]byte{{0x80, 0}, {0xff}, {}, {1}, {1, 0}}},
		{Leaf{physical: boolean, width: 1}, [][]byte{{0}, {1}}},
	} {
		var b bounds
		for i := range tt.values { // from the middle outwards
			v := tt.values[(i+len(tt.values)/2)%len(tt.values)]
			b.add(&tt.leaf, v)
		}
		b.add(&tt.leaf, tt.values[0])
		least, most := b.encoded(&tt.leaf)
		if string(least) != string(tt.values[0]) || string(most) != string(tt.values[len(tt.values)-1]) {
			t.Errorf("%s: bounds %x and %x of %x", tt.leaf.Type(), least, most, tt.values)
		}
	}
	leaf := Leaf{physical: doubles, width: 8}
	var b bounds
	b.add(&leaf, f64(math.NaN()))
	if b.any {
		t.Error("NaN is a bound")
	}
	b.add(&leaf, f64(0))
	least, most := b.encoded(&leaf)
	if math.Signbit(leaf.float(most)) || !math.Signbit(leaf.float(least)) {
		t.Errorf("zeros have the bounds %x and %x", least, most)
	}
}
