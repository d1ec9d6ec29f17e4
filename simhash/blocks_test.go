package simhash

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
)

func mustBlocks(t interface{ Fatal(...any) }, width, distance int) Blocks {
	b, err := NewBlocks(width, distance)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// meet tells whether two lists of keys have one in common; keys of different choices
// never do.
func meet(t interface{ Fatalf(string, ...any) }, a, b []uint64) bool {
	shared := false
	for i, x := range a {
		for j, y := range b {
			if x == y && i != j {
				t.Fatalf("key %d of one fingerprint is key %d of the other", i, j)
			}
			shared = shared || x == y
		}
	}
	return shared
}

func TestFingerprintsWithinTheDistanceShareAKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.OneOf(rapid.IntRange(1, 200), rapid.SampledFrom([]int{64, 128, 1024})).Draw(t, "width")
		distance := rapid.IntRange(0, min(width-1, 12)).Draw(t, "distance")
		blocks := mustBlocks(t, width, distance)
		seed := rapid.Uint64().Draw(t, "seed")
		a := make([]uint32, (width+31)/32)
		for i := range a {
			a[i] = uint32(hashing.Mix(seed + uint64(i)))
		}
		b := slices.Clone(a)
		for range distance { // some bits twice: then fewer differ
			bit := rapid.IntRange(0, width-1).Draw(t, "bit")
			b[bit/32] ^= 1 << (bit % 32)
		}
		if !meet(t, blocks.AppendKeys(nil, a), blocks.AppendKeys(nil, b)) {
			t.Fatalf("%d bits, distance %d, %d keys: %x and %x share none", width, distance, blocks.Keys(), a, b)
		}
	})
}

// Twelve different bits, one in every place, leave no choice of blocks equal.
func TestFingerprintsFarApartShareNoKey(t *testing.T) {
	blocks := mustBlocks(t, 64, 3)
	a, b := []uint32{0, 0}, []uint32{0x11111111, 0x11111111}
	if meet(t, blocks.AppendKeys(nil, a), blocks.AppendKeys(nil, b)) {
		t.Error("fingerprints that differ everywhere share a key")
	}
}

func TestBitsBehindTheWidthDoNotCount(t *testing.T) {
	blocks := mustBlocks(t, 40, 2)
	a, b := []uint32{7, 9}, []uint32{7, 9 | 0xffffff00}
	if !slices.Equal(blocks.AppendKeys(nil, a), blocks.AppendKeys(nil, b)) {
		t.Error("unused bits change the keys")
	}
}

func TestBlocksOfSixtyFourBitsAreFive(t *testing.T) {
	if b := mustBlocks(t, 64, 3); b.blocks != 5 || b.Keys() != 10 {
		t.Errorf("64 bits and distance 3 take %d blocks and %d keys", b.blocks, b.Keys())
	}
	if b := mustBlocks(t, 64, 0); b.Keys() != 1 {
		t.Errorf("distance 0 takes %d keys", b.Keys())
	}
}

func TestBlocksOutOfRangeAreErrors(t *testing.T) {
	for _, c := range [][2]int{{0, 0}, {MaxBits + 1, 1}, {64, -1}, {64, 64}, {4096, 256}} {
		if _, err := NewBlocks(c[0], c[1]); err == nil {
			t.Errorf("%d bits and distance %d are accepted", c[0], c[1])
		}
	}
}

// Keys are part of what work folders hold.
func TestKeysOfBlocksArePinned(t *testing.T) {
	got := mustBlocks(t, 64, 1).AppendKeys(nil, []uint32{0x89abcdef, 0x01234567})
	want := []uint64{0xe4aaf340e1ebc978, 0x7deb1ba2eb35063e}
	if !slices.Equal(got, want) {
		t.Errorf("got %#x", got)
	}
}

func TestBlocksDoNotAllocateOnceWarm(t *testing.T) {
	blocks := mustBlocks(t, 64, 3)
	keys := make([]uint64, 0, blocks.Keys())
	if n := testing.AllocsPerRun(100, func() { keys = blocks.AppendKeys(keys[:0], []uint32{1, 2}) }); n > 0 {
		t.Errorf("%g allocations a fingerprint", n)
	}
}
