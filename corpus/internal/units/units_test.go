package units

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

func TestMagicNumbersAreFoundAtEveryBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.IntRange(0, 200).Draw(t, "bits before")
		after := rapid.IntRange(0, 200).Draw(t, "bits after")
		magic := rapid.SampledFrom([]uint64{blockMagic, endMagic}).Draw(t, "magic")
		at := rapid.IntRange(0, bits).Draw(t, "from")
		noise := byte(rapid.SampledFrom([]int{0, 0xff, 0x31, 0x55}).Draw(t, "noise"))
		buf := bytes.Repeat([]byte{noise}, (bits+magicBits+after+7)/8)
		for i := range magicBits {
			p := bits + i
			buf[p/8] &^= 0x80 >> (p % 8)
			buf[p/8] |= byte(magic>>(magicBits-1-i)&1) << (7 - p%8)
		}
		slow := -1
		for i := at; slow < 0 && i+magicBits <= len(buf)*8; i++ {
			var w [16]byte
			copy(w[:], buf[i/8:])
			m := binary.BigEndian.Uint64(w[:]) << (i % 8) >> 16
			if m == blockMagic || m == endMagic {
				slow = i
			}
		}
		if have := findMagic(buf, at); have != slow {
			t.Fatalf("found at %d, want %d", have, slow)
		}
	})
}
