package candidates

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bags are records as lists of items.
type bags [][]uint32

func (b bags) Len() int                            { return len(b) }
func (b bags) Append(dst []uint32, i int) []uint32 { return append(dst, b[i]...) }

// keysOf is the slow twin of keyer.keysOf: all sets of up to three of a record's items that are
// enough for a key, and of which no part is.
func keysOf(items []uint32, info map[uint32]float64, need float64) map[string]bool {
	keys := map[string]bool{}
	items = slices.Compact(slices.Sorted(slices.Values(items)))
	if len(items) > 0 {
		keys["all "+fmt.Sprint(items)] = true
	}
	items = slices.DeleteFunc(items, func(x uint32) bool { return info[x] == 0 })
	sum := func(set []uint32) (s float64) {
		for _, x := range set {
			s += info[x]
		}
		return s
	}
	for bits := 1; bits < 1<<len(items); bits++ {
		var set []uint32
		for i, x := range items {
			if bits>>i&1 == 1 {
				set = append(set, x)
			}
		}
		smallest := len(set) <= mostJoint && sum(set) >= need
		for _, x := range set {
			smallest = smallest && sum(set)-info[x] < need
		}
		if smallest {
			keys[fmt.Sprint(set)] = true
		}
	}
	return keys
}

// twinOfKeys returns the pairs that Keys should find where groups are small.
func twinOfKeys(left, right bags, expected float64) map[[2]uint32]bool {
	count := func(of bags, x uint32) (n float64) {
		for _, items := range of {
			if slices.Contains(items, x) {
				n++
			}
		}
		return n
	}
	n, other := float64(len(left)), right
	if right != nil {
		n = math.Sqrt(n * float64(len(right)))
	} else {
		other = left
	}
	need := math.Round(max(1, math.Log(n/expected)*infoUnit))
	info := map[uint32]float64{}
	for x := range uint32(40) {
		size := math.Sqrt(count(left, x) * count(other, x))
		if size == 0 || right == nil && size < 2 {
			continue
		}
		i := math.Round(math.Log(n/size) * infoUnit)
		if size <= lone {
			i = max(i, need)
		}
		if i*leastShare >= need {
			info[x] = max(i, 1)
		}
	}
	pairs := map[[2]uint32]bool{}
	for a, x := range left {
		of := keysOf(x, info, need)
		for b, y := range other {
			if right == nil && b <= a {
				continue
			}
			for key := range keysOf(y, info, need) {
				if of[key] {
					pairs[[2]uint32{uint32(a), uint32(b)}] = true
				}
			}
		}
	}
	return pairs
}

func TestKeysFindThePairsThatShareASmallestSetOfRareItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) bags {
			// Some items are in many records, and some in few.
			return rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) uint32 {
				return rapid.Uint32Range(0, rapid.Uint32Range(1, 39).Draw(t, "up to")).Draw(t, "item")
			}), 0, 7), 1, groupMost/2).Draw(t, name)
		}
		left, right := draw("left"), bags(nil)
		c := KeysConfig{Items: 40, Expected: rapid.Float64Range(0.1, 4).Draw(t, "expected"), Threads: rapid.IntRange(1, 3).Draw(t, "threads"), Unfiltered: rapid.Bool().Draw(t, "unfiltered")}
		var other Items
		if rapid.Bool().Draw(t, "two tables") {
			right = draw("right")
			other = right
		}
		found, err := Keys(t.Context(), c, left, other)
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		want := twinOfKeys(left, right, c.Expected)
		for p, err := range found.All() {
			if err != nil {
				t.Fatal(err)
			}
			if !want[[2]uint32{p.A, p.B}] || p.Score == 0 {
				t.Fatalf("pair %v is found, and shares no key", p)
			}
			delete(want, [2]uint32{p.A, p.B})
		}
		if len(want) > 0 {
			t.Fatalf("pairs %v are not found", want)
		}
	})
}

// TestManyCopiesOfARecordCostNoSquare has one record many times among others.
func TestManyCopiesOfARecordCostNoSquare(t *testing.T) {
	const each, rows = 20, 8000
	var records bags
	for i := range uint32(rows) {
		if i%each == 0 {
			records = append(records, []uint32{1, 2, 3, 4})
		} else {
			records = append(records, []uint32{10 + i%97, 200 + i%89, 400 + i%83})
		}
	}
	found, err := Keys(t.Context(), KeysConfig{Items: 600, Threads: 3}, records, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	met, n := map[uint32]bool{}, 0
	for p, err := range found.All() {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if p.A%each == 0 {
			met[p.A], met[p.B] = true, true
		}
	}
	if n > window*rows {
		t.Errorf("%d pairs of %d records", n, rows)
	}
	if len(met) != rows/each {
		t.Errorf("%d of %d copies meet another", len(met), rows/each)
	}
}
