//go:build amd64 && !purego

package simd

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/hashing"
)

// slowOverlap is the definition, by blocks of so many elements.
func slowOverlap[T uint32 | uint64](a, b []T, spareA, spareB, lanes int) (common, i, j int) {
	for i+lanes <= len(a) && j+lanes <= len(b) {
		for _, x := range a[i : i+lanes] {
			if slices.Contains(b[j:j+lanes], x) {
				common++
			}
		}
		lastA, lastB := a[i+lanes-1], b[j+lanes-1]
		if lastA <= lastB {
			i += lanes
		}
		if lastB <= lastA {
			j += lanes
		}
		if i-common > spareA || j-common > spareB {
			break
		}
	}
	return common, i, j
}

// drawSets draws two sets that share some elements. Some elements are large, so that
// comparisons must be of unsigned numbers.
func drawSets[T uint32 | uint64](t *rapid.T) (a, b []T) {
	seed := rapid.Uint64().Draw(t, "seed")
	n := rapid.IntRange(0, 300).Draw(t, "n")
	share := rapid.Uint64Range(0, 8).Draw(t, "share")
	spread := rapid.SampledFrom([]uint64{1 << 9, 1 << 32, 1 << 63}).Draw(t, "spread")
	for i := range n {
		h := hashing.Mix(seed + uint64(i))
		x := T(h % spread * (1<<63/spread*2 | 1))
		switch where := h >> 60; {
		case where < share:
			a, b = append(a, x), append(b, x)
		case where%2 == 0:
			a = append(a, x)
		default:
			b = append(b, x)
		}
	}
	slices.Sort(a)
	slices.Sort(b)
	return slices.Compact(a), slices.Compact(b)
}

func checkOverlap[T uint32 | uint64](t *rapid.T) {
	a, b := drawSets[T](t)
	spare := rapid.IntRange(-1, 200)
	spareA, spareB := spare.Draw(t, "spareA"), spare.Draw(t, "spareB")
	best := overlapBytes
	defer func() { overlapBytes = best }()
	for _, bytes := range []int{64, 32} {
		if bytes > best {
			continue
		}
		overlapBytes = bytes
		lanes := bytes / int(unsafe.Sizeof(T(0)))
		common, i, j := OverlapBlocks(a, b, spareA, spareB)
		wantCommon, wantI, wantJ := slowOverlap(a, b, spareA, spareB, lanes)
		if common != wantCommon || i != wantI || j != wantJ {
			t.Fatalf("%d bytes, %v, %v: %d, %d, %d; want %d, %d, %d", bytes, a, b, common, i, j, wantCommon, wantI, wantJ)
		}
	}
}

func TestOverlapBlocksOf32BitsEqualTheirTwin(t *testing.T) { rapid.Check(t, checkOverlap[uint32]) }
func TestOverlapBlocksOf64BitsEqualTheirTwin(t *testing.T) { rapid.Check(t, checkOverlap[uint64]) }

func BenchmarkOverlapBlocks(b *testing.B) {
	const spare = 42
	best := overlapBytes
	defer func() { overlapBytes = best }()
	for _, bytes := range []int{64, 32} {
		if bytes > best {
			continue
		}
		overlapBytes = bytes
		sets := make([][]uint64, 64)
		for i := range sets {
			sets[i] = featureWords(128, uint64(i)<<32)
			slices.Sort(sets[i])
		}
		b.Run(fmt.Sprintf("uint64/%d", bytes), func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				OverlapBlocks(sets[n&63], sets[(n>>6)&63], spare, spare)
			}
		})
	}
}
