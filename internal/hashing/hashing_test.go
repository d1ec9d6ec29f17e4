package hashing

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// padded is the definition of halves: copy into 16 zero bytes.
func padded(b []byte) (lo, hi uint64) {
	var buf [16]byte
	copy(buf[:], b)
	return binary.LittleEndian.Uint64(buf[:8]), binary.LittleEndian.Uint64(buf[8:])
}

func TestHalvesEqualsZeroPaddedCopy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "b")
		lo, hi := halves(b)
		wantLo, wantHi := padded(b)
		if lo != wantLo || hi != wantHi {
			t.Fatalf("halves(%x) = %x, %x; want %x, %x", b, lo, hi, wantLo, wantHi)
		}
	})
}

// The values are part of the text format; they must never change.
func TestBytesIsPinned(t *testing.T) {
	for in, want := range map[string]uint64{
		"":                                      0xf90109d2335f6b4f,
		"a":                                     0x952cc4609c5fe020,
		"seventeen letters":                     0x1ae1fad107f9de3b,
		"a token of more than thirty-two bytes": 0x4c533e08319333b5,
	} {
		if got := Bytes([]byte(in)); got != want {
			t.Errorf("Bytes(%q) = %#x, want %#x", in, got, want)
		}
	}
}

func TestBytesTellsPaddingFromLength(t *testing.T) {
	seen := map[uint64]string{}
	for n := range 70 {
		s := string(make([]byte, n))
		if prev, ok := seen[Bytes([]byte(s))]; ok {
			t.Errorf("%d and %d zero bytes hash alike", len(prev), n)
		}
		seen[Bytes([]byte(s))] = s
	}
}

func TestMixIsABijectionOnSamples(t *testing.T) {
	seen := make(map[uint64]bool)
	for i := range uint64(100_000) {
		seen[Mix(i)] = true
	}
	if len(seen) != 100_000 {
		t.Errorf("Mix maps 100000 words to %d", len(seen))
	}
}
