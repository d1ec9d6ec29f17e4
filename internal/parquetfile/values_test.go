package parquetfile

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"
)

// encoded makes values of a column's type and encodes them with parquet-go.
func encoded(t *rapid.T, leaf *Leaf, e encoding.Encoding) (want []string, src []byte) {
	n := rapid.IntRange(1, 150).Draw(t, "n")
	data, offsets := []byte{}, []uint32{0}
	shared := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "shared")
	for range n {
		var v []byte
		switch {
		case leaf.physical == boolean:
			v = []byte{byte(rapid.IntRange(0, 1).Draw(t, "bit"))}
		case leaf.width > 0:
			v = make([]byte, leaf.width)
			binary.LittleEndian.PutUint32(v, rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(0, 9)).Draw(t, "low"))
			if leaf.width >= 8 {
				binary.LittleEndian.PutUint32(v[4:], rapid.SampledFrom([]uint32{0, 0, 1, math.MaxUint32, 1 << 31}).Draw(t, "high"))
			}
		default:
			v = slices.Concat(shared[:rapid.IntRange(0, len(shared)).Draw(t, "prefix")], rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "own"))
		}
		data = append(data, v...)
		offsets = append(offsets, uint32(len(data)))
		want = append(want, string(v))
	}
	var err error
	switch leaf.physical {
	case boolean:
		src, err = e.EncodeBoolean(nil, pack8(data))
	case int32s:
		src, err = e.EncodeInt32(nil, words[int32](data, 4))
	case int64s:
		src, err = e.EncodeInt64(nil, words[int64](data, 8))
	case fixedArrays:
		src, err = e.EncodeFixedLenByteArray(nil, data, leaf.width)
	default:
		src, err = e.EncodeByteArray(nil, data, offsets)
	}
	if err != nil {
		t.Fatal(err)
	}
	return want, src
}

func pack8(values []byte) []byte {
	packed := make([]byte, (len(values)+7)/8)
	for i, v := range values {
		packed[i/8] |= v << (i % 8)
	}
	return packed
}

func words[T int32 | int64](data []byte, width int) []T {
	var all []T
	for ; len(data) > 0; data = data[width:] {
		v := make([]byte, 8)
		copy(v, data[:width])
		all = append(all, T(binary.LittleEndian.Uint64(v)))
	}
	return all
}

// encodings are those of each type.
var encodings = map[*Leaf][]format.Encoding{
	{physical: boolean, width: 1}:     {format.Plain, format.RLE},
	{physical: int32s, width: 4}:      {format.Plain, format.DeltaBinaryPacked, format.ByteStreamSplit},
	{physical: int64s, width: 8}:      {format.Plain, format.DeltaBinaryPacked, format.ByteStreamSplit},
	{physical: fixedArrays, width: 5}: {format.Plain, format.DeltaByteArray, format.ByteStreamSplit},
	{physical: byteArrays}:            {format.Plain, format.DeltaLengthByteArray, format.DeltaByteArray},
}

func TestValuesOfEveryEncodingAreReadAndWrittenAgain(t *testing.T) {
	for leaf, all := range encodings {
		for _, id := range all {
			t.Run(leaf.physical.String()+" "+id.String(), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					want, src := encoded(t, leaf, parquet.LookupEncoding(id))
					var v values
					if err := v.decode(leaf, id, src, len(want), nil, 1<<20); err != nil {
						t.Fatal(err)
					}
					f := &filter{page: &page{values: v}}
					for i := range want {
						if have := string(v.at(i)); have != want[i] {
							t.Fatalf("value %d is %q, want %q", i, have, want[i])
						}
					}
					// A choice of them, encoded again.
					var chosen []string
					for i := range want {
						if rapid.Bool().Draw(t, "keep") {
							chosen = append(chosen, want[i])
							f.runs = append(f.runs, span{uint32(i), uint32(i) + 1})
						}
					}
					again, err := f.encode(nil, leaf, id, nil)
					if err != nil {
						t.Fatal(err)
					}
					var second values
					if err := second.decode(leaf, id, again, len(chosen), nil, 1<<20); err != nil {
						t.Fatal(err)
					}
					for i := range chosen {
						if have := string(second.at(i)); have != chosen[i] {
							t.Fatalf("chosen value %d is %q, want %q", i, have, chosen[i])
						}
					}
					// Cut short, it is an error or the same: never a panic.
					for n := range src {
						var cut values
						if err := cut.decode(leaf, id, src[:n], len(want), nil, 1<<20); err != nil && !errors.Is(err, ErrCorrupt) {
							t.Fatalf("%d of %d bytes: %v", n, len(src), err)
						}
					}
				})
			})
		}
	}
}

func TestValuesThatClaimMoreThanThereIsAreRefusedAtNoCost(t *testing.T) {
	bytesOf, fixed := &Leaf{physical: byteArrays}, &Leaf{physical: int64s, width: 8}
	for name, tt := range map[string]struct {
		leaf *Leaf
		e    format.Encoding
		src  []byte
		n    int
	}{
		"plain":      {fixed, format.Plain, make([]byte, 80), 11},
		"byte array": {bytesOf, format.Plain, []byte{0xff, 0xff, 0xff, 0x7f, 'x'}, 1},
		"negative":   {bytesOf, format.Plain, []byte{0xff, 0xff, 0xff, 0xff, 'x'}, 1},
		"split":      {fixed, format.ByteStreamSplit, make([]byte, 80), 11},
		"delta":      {fixed, format.DeltaBinaryPacked, []byte{0x80, 1, 4, 0xff, 0xff, 0xff, 0x7f, 0, 0}, maxPageValues},
		"no block":   {fixed, format.DeltaBinaryPacked, []byte{0, 0, 2, 0, 0}, 2},
		"wide":       {fixed, format.DeltaBinaryPacked, []byte{0x80, 1, 4, 2, 0, 0, 65, 0, 0, 0, 1, 2, 3}, 2},
		"index":      {bytesOf, format.RLEDictionary, []byte{2, 200, 1, 3}, 100},
		"no width":   {bytesOf, format.RLEDictionary, []byte{}, 100},
	} {
		if err := new(values).decode(tt.leaf, tt.e, tt.src, tt.n, &values{n: 2}, 1<<20); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// 100 000 values of 1000 bytes in a few hundred bytes.
	lengths := make([]int32, 100_000)
	for i := range lengths {
		lengths[i] = 1000
	}
	suffixes, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, append([]int32{1000}, make([]int32, len(lengths)-1)...))
	if err != nil {
		t.Fatal(err)
	}
	lengths[0] = 0
	bomb, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, lengths)
	if err != nil {
		t.Fatal(err)
	}
	bomb = append(append(bomb, suffixes...), make([]byte, 1000)...)
	if err := new(values).decode(bytesOf, format.DeltaByteArray, bomb, len(lengths), nil, 1<<20); !errors.Is(err, ErrUnsupported) {
		t.Errorf("%d bytes that expand to 100 MB: %v", len(bomb), err)
	}
	if err := new(values).decode(bytesOf, format.DeltaByteArray, bomb, len(lengths), nil, 1<<30); err != nil {
		t.Errorf("%d bytes that expand to 100 MB, which may be: %v", len(bomb), err)
	}
	if err := new(values).decode(fixed, format.DeltaByteArray, nil, 1, nil, 0); !errors.Is(err, ErrUnsupported) {
		t.Errorf("an encoding of another type: %v", err)
	}
}
