package simjoin

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/measure"
)

// tokenKinds turn the numbers 0, 1, 2, … into tokens.
var tokenKinds = map[string]func(n uint64) uint64{
	"small integers":          func(n uint64) uint64 { return n },
	"hashes":                  hashing.Mix,
	"the largest numbers":     func(n uint64) uint64 { return ^n },
	"numbers in the top bits": func(n uint64) uint64 { return n << 44 },
	"unmixed into one part":   func(n uint64) uint64 { return unmix(n) },
}

// unmix inverts hashing.Mix, so that mixed tokens are small.
func unmix(x uint64) uint64 {
	inverse := func(odd uint64) uint64 {
		y := odd
		for range 5 {
			y *= 2 - odd*y
		}
		return y
	}
	x = x ^ x>>31 ^ x>>62
	x *= inverse(0x94d049bb133111eb)
	x = x ^ x>>27 ^ x>>54
	x *= inverse(0xbf58476d1ce4e5b9)
	return x ^ x>>30 ^ x>>60
}

// manyParts returns sets with tokens enough for several parts: unique ones, ones
// that a few sets hold, ones that most hold, and sets that are near copies.
func manyParts(kind func(uint64) uint64, sets int) [][]uint64 {
	r := rand.New(rand.NewPCG(7, 8))
	zipf := rand.NewZipf(r, 1.3, 1, 20_000)
	all := make([][]uint64, sets)
	unique := uint64(20_000)
	for i := range all {
		var set []uint64
		if i > 0 && r.IntN(3) == 0 {
			set = slices.Clone(all[r.IntN(i)])
			set = set[:len(set)-len(set)/10]
		}
		for len(set) < 5*partLength/sets {
			set = append(set, kind(zipf.Uint64()), kind(unique))
			unique++
		}
		slices.Sort(set)
		all[i] = slices.Compact(set)
	}
	return all
}

func TestSharedTokensAreThoseThatTwoGroupsHold(t *testing.T) {
	for name, kind := range tokenKinds {
		t.Run(name, func(t *testing.T) {
			sets := manyParts(kind, 400)
			var first, group []uint32
			for i, g := range rand.New(rand.NewPCG(1, 1)).Perm(len(sets)) {
				first, group = append(first, uint32(i)), append(group, uint32(g))
			}
			byToken := map[uint64][]uint32{}
			for i, set := range sets {
				for _, token := range set {
					byToken[token] = append(byToken[token], group[i])
				}
			}
			var want [][]uint32
			for _, holders := range byToken {
				if len(holders) > 1 {
					want = append(want, holders)
				}
			}
			holders, count := shared(sets, first, group)
			checkHolders(t, holders, count, want)
			var c counter
			holders = c.listFew(sets, first, group, tokensOf(sets, first))
			checkHolders(t, holders, c.shared, want)
		})
	}
}

// checkHolders compares lists of holders, whose order and whose members' order is
// free.
func checkHolders(t *testing.T, holders, count []uint32, want [][]uint32) {
	t.Helper()
	var got [][]uint32
	for _, n := range count {
		got = append(got, holders[:n])
		holders = holders[n:]
	}
	for _, lists := range [][][]uint32{want, got} {
		for _, list := range lists {
			slices.Sort(list)
		}
		slices.SortFunc(lists, slices.Compare)
	}
	if !slices.EqualFunc(got, want, slices.Equal) || len(holders) > 0 {
		t.Errorf("%d shared tokens and %d groups left, want %d tokens", len(got), len(holders), len(want))
	}
}

func TestFewDistinctTokensAreToldFromMany(t *testing.T) {
	sets := func(distinct uint64) (all [][]uint64, first []uint32) {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 20_000 {
			set := []uint64{}
			for range 10 {
				set = append(set, r.Uint64N(distinct))
			}
			slices.Sort(set)
			all, first = append(all, slices.Compact(set)), append(first, uint32(i))
		}
		return all, first
	}
	for distinct, want := range map[uint64]bool{100: true, 16_000: true, 60_000: false, 1 << 60: false} {
		all, first := sets(distinct)
		if got := fewDistinct(all, first, tokensOf(all, first)); got != want {
			t.Errorf("%d distinct tokens are few: %v", distinct, got)
		}
	}
}

func TestTokensAreNumberedByAscendingNumberOfGroups(t *testing.T) {
	x := NewIndex(manyParts(hashing.Mix, 400), threshold(t, 0.8))
	count := make([]int, len(x.postingStart)-1)
	for g := range x.Len() {
		set := x.set(g)
		for k, token := range set {
			count[token]++
			if k > 0 && token <= set[k-1] {
				t.Fatalf("group %d holds token %d after %d", g, token, set[k-1])
			}
		}
	}
	if !slices.IsSorted(count) || count[0] < 2 {
		t.Error("not by ascending number of groups from 2 on")
	}
}

func TestSelfJoinOfManyTokensEqualsMergingAllPairs(t *testing.T) {
	for name, kind := range tokenKinds {
		t.Run(name, func(t *testing.T) {
			sets := manyParts(kind, 150)
			th := threshold(t, 0.6)
			var want []measure.Match
			for a := range sets {
				for b := a + 1; b < len(sets); b++ {
					m := matchOf(sets, a, b, uint64(textbookMerge(sets[a], sets[b])))
					if th.Reached(m.Intersection, m.SizeA, m.SizeB) {
						want = append(want, m)
					}
				}
			}
			if got := selfJoin(sets, th); !slices.Equal(got, want) || len(want) < 10 {
				t.Errorf("%d pairs, want %d", len(got), len(want))
			}
		})
	}
}

func TestPartsAreTheSameInAnyNumberOfPasses(t *testing.T) {
	for name, kind := range tokenKinds {
		t.Run(name, func(t *testing.T) {
			sets := manyParts(kind, 120)
			first, group := make([]uint32, len(sets)), make([]uint32, len(sets))
			for i := range sets {
				first[i], group[i] = uint32(i), uint32(len(sets)-i)
			}
			var want []uint32
			for _, how := range []cut{{5, 1}, {5, 2}, {5, 7}, {5, 32}} {
				parts, tokens := 0, 0
				got := listParts(sets, first, group, how, func(part int, of []uint64, groups, dst []uint32) int {
					if part != parts {
						t.Errorf("%v: part %d in place of %d", how, part, parts)
					}
					for _, token := range of {
						if token>>(64-how.width) != uint64(part) {
							t.Fatalf("%v: token %x is in part %d", how, token, part)
						}
					}
					parts, tokens = parts+1, tokens+len(of)
					return copy(dst, groups[len(groups)/2:])
				})
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) || parts != 32 || tokens != tokensOf(sets, first) {
					t.Errorf("%v: %d parts of %d tokens, %d groups in place of %d", how, parts, tokens, len(got), len(want))
				}
			}
		})
	}
}
