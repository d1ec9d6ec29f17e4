package lsh

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The keys are part of the index format; they must never change.
func TestKeysArePinned(t *testing.T) {
	sig := []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	for _, c := range []struct {
		p    Params
		want []uint64
	}{
		{Params{Bands: 2, Rows: 1}, []uint64{0x7b446c1e1dc0266d, 0x20a43aff65235d0}},
		{Params{Bands: 2, Rows: 2}, []uint64{0x397ec27b40605cf6, 0xd5617a53a23117d9}},
		{Params{Bands: 2, Rows: 3}, []uint64{0x9216430d08c22744, 0xa1777ec19fb57136}},
		{Params{Bands: 2, Rows: 4}, []uint64{0x5b59586462215ce1, 0x8f9d0b80f8ca8b19}},
		{Params{Bands: 2, Rows: 6}, []uint64{0x1fdcaa3289b40141, 0xdec4b245526d2cd5}},
	} {
		if got := c.p.AppendKeys(nil, sig); !slices.Equal(got, c.want) {
			t.Errorf("%v: %#x, want %#x", c.p, got, c.want)
		}
	}
}

func TestKeysAgreeExactlyWhereBandsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Params{Bands: rapid.IntRange(1, 20).Draw(t, "bands"), Rows: rapid.IntRange(1, 9).Draw(t, "rows")}
		n := p.Bands*p.Rows + rapid.IntRange(0, 5).Draw(t, "unused")
		component := rapid.Uint32Range(0, 2) // equal bands are likely
		a := rapid.SliceOfN(component, n, n).Draw(t, "a")
		b := rapid.SliceOfN(component, n, n).Draw(t, "b")
		prefix := []uint64{7}
		keysA := p.AppendKeys(prefix, a)[1:]
		keysB := p.AppendKeys(nil, b)
		agree := 0
		for i := range p.Bands {
			same := slices.Equal(a[i*p.Rows:(i+1)*p.Rows], b[i*p.Rows:(i+1)*p.Rows])
			if same != (keysA[i] == keysB[i]) {
				t.Fatalf("band %d: rows equal %v, keys %#x and %#x", i, same, keysA[i], keysB[i])
			}
			if same {
				agree++
			}
		}
		if got := Agree(keysA, keysB); got != agree {
			t.Fatalf("Agree = %d, want %d", got, agree)
		}
	})
}

func TestKeysOfDifferentBandsDiffer(t *testing.T) {
	keys := Params{Bands: 64, Rows: 2}.AppendKeys(nil, make([]uint32, 128))
	slices.Sort(keys)
	if len(slices.Compact(keys)) != 64 {
		t.Error("equal rows give equal keys in different bands")
	}
}

// Small components, consecutive numbers: the worst that keys see.
func TestTopBitsOfKeysSpreadEvenly(t *testing.T) {
	const n = 1 << 16
	for rows := 1; rows <= 5; rows++ {
		p := Params{Bands: 1, Rows: rows}
		sig := make([]uint32, rows)
		var count [256]int
		for i := range uint32(n) {
			sig[rows-1] = i
			count[p.AppendKeys(nil, sig)[0]>>56]++
		}
		if most := slices.Max(count[:]); most > n/256*2 {
			t.Errorf("%d rows: %d of %d keys share their top 8 bits", rows, most, n)
		}
	}
}

func TestAppendKeysDoesNotAllocateOnceWarm(t *testing.T) {
	p, sig := Params{Bands: 16, Rows: 6}, make([]uint32, 128)
	dst := p.AppendKeys(nil, sig)
	if n := testing.AllocsPerRun(100, func() { dst = p.AppendKeys(dst[:0], sig) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkAppendKeys(b *testing.B) {
	sig := make([]uint32, 128)
	for i := range sig {
		sig[i] = uint32(i) * 0x9e3779b9
	}
	for _, p := range []Params{{16, 6, 1}, {11, 10, 1}, {17, 4, 1}, {35, 3, 1}, {128, 1, 1}} {
		b.Run(p.String(), func(b *testing.B) {
			dst := make([]uint64, 0, p.Bands)
			b.SetBytes(int64(4 * len(sig)))
			for b.Loop() {
				dst = p.AppendKeys(dst[:0], sig)
			}
		})
	}
}
