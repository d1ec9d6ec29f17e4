package passage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
	"pgregory.net/rapid"
)

// greedyTiling is the definition: again and again the longest run of tokens that
// is the same in both texts and not taken yet, the first in a, then in b.
func greedyTiling(a, b []uint64, minTokens int) []Passage {
	takenA, takenB := make([]bool, len(a)), make([]bool, len(b))
	var passages []Passage
	for {
		var best Passage
		for i := range a {
			for j := range b {
				n := 0
				for i+n < len(a) && j+n < len(b) && a[i+n] == b[j+n] && !takenA[i+n] && !takenB[j+n] {
					n++
				}
				if n > best.Len {
					best = Passage{i, j, n}
				}
			}
		}
		if best.Len < max(minTokens, 1) {
			return passages
		}
		for n := range best.Len {
			takenA[best.A+n], takenB[best.B+n] = true, true
		}
		passages = append(passages, best)
	}
}

func tokens(s string) []uint64 {
	var hashes []uint64
	for _, w := range strings.Fields(s) {
		hashes = append(hashes, hashing.Bytes([]byte(w)))
	}
	return hashes
}

// anyText draws a text of few different tokens, with repeats of its own parts
// and of parts of another text.
func anyText(r *rand.Rand, alphabet, length int, other []uint64) []uint64 {
	text := []uint64{}
	for len(text) < length {
		from := other
		if r.IntN(2) == 0 {
			from = text
		}
		if len(from) > 0 && r.IntN(3) == 0 {
			i := r.IntN(len(from))
			text = append(text, from[i:i+r.IntN(len(from)-i)]...)
		} else {
			text = append(text, r.Uint64N(uint64(alphabet)))
		}
	}
	return text[:length]
}

func TestSharedEqualsGreedyTiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		alphabet := rapid.SampledFrom([]int{1, 2, 3, 10, 1000}).Draw(t, "alphabet")
		longest := rapid.SampledFrom([]int{4, 12, 60}).Draw(t, "longest")
		a := anyText(r, alphabet, r.IntN(longest+1), nil)
		b := anyText(r, alphabet, r.IntN(longest+1), a)
		minTokens := rapid.IntRange(-1, 6).Draw(t, "least")
		got, want := Shared(a, b, minTokens), greedyTiling(a, b, minTokens)
		if !slices.Equal(got, want) {
			t.Errorf("Shared(%v, %v, %d)\n got %v\nwant %v", a, b, minTokens, got, want)
		}
	})
}

func TestSharedOfSmallTexts(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		min  int
		want []Passage
	}{
		"empty texts share nothing":                   {"", "", 1, nil},
		"an empty text shares nothing":                {"x y", "", 1, nil},
		"different texts share nothing":               {"u v w", "x y z", 1, nil},
		"equal texts are one passage":                 {"x y z", "x y z", 2, []Passage{{0, 0, 3}}},
		"shorter passages do not count":               {"x y z", "x q z", 2, nil},
		"the longest comes first":                     {"a b 1 c d e", "c d e 2 a b", 2, []Passage{{3, 0, 3}, {0, 4, 2}}},
		"equally long ones come in the order of a":    {"a b 1 c d", "c d 2 a b", 2, []Passage{{0, 3, 2}, {3, 0, 2}}},
		"a passage is taken once":                     {"a b 1 a b", "2 a b 3", 2, []Passage{{0, 1, 2}}},
		"copies pair up in order":                     {"a b 1 a b", "2 a b 3 a b", 2, []Passage{{0, 1, 2}, {3, 4, 2}}},
		"what a longer passage leaves is shared too":  {"a b c d", "a b c 1 c d", 1, []Passage{{0, 0, 3}, {3, 5, 1}}},
		"a passage does not run from one text's end":  {"a b", "b a b", 1, []Passage{{0, 1, 2}}},
		"a minimum below one counts as one":           {"a", "a", -3, []Passage{{0, 0, 1}}},
		"repeats pair up without overlap":             {"a a a a a", "a a a", 1, []Passage{{0, 0, 3}}},
		"repeats in pieces are tiled piece by piece":  {"a a a a a", "a a 1 a a a", 2, []Passage{{0, 3, 3}, {3, 0, 2}}},
		"a text longer than its copy is found within": {"1 2 a b c 3", "a b c", 3, []Passage{{2, 0, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Shared(tokens(c.a), tokens(c.b), c.min); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSuffixArrayIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		alphabet := rapid.SampledFrom([]int{1, 2, 3, 100}).Draw(t, "alphabet")
		var s []int32
		for _, x := range anyText(r, alphabet, r.IntN(200), nil) {
			s = append(s, int32(x)+1)
		}
		s = append(s, 0)
		sa := suffixArray(s, alphabet+1)
		want := make([]int32, len(s))
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortFunc(want, func(p, q int32) int { return slices.Compare(s[p:], s[q:]) })
		if !slices.Equal(sa, want) {
			t.Fatalf("suffixArray(%v)\n got %v\nwant %v", s, sa, want)
		}
		for k, common := range commonPrefixes(s, sa) {
			n := int32(0)
			for k > 0 && s[sa[k]+n] == s[sa[k-1]+n] {
				n++
			}
			if common != n {
				t.Errorf("suffixes %d and %d share %d symbols, not %d", sa[k-1], sa[k], n, common)
			}
		}
	})
}

// hardTexts are the cases that make other tilings quadratic or worse.
func hardTexts(n int) map[string][2][]uint64 {
	repeat := func(period ...uint64) []uint64 {
		text := make([]uint64, n)
		for i := range text {
			text[i] = period[i%len(period)]
		}
		return text
	}
	fibonacci := []uint64{0}
	for before := []uint64{1}; len(fibonacci) < n; {
		fibonacci, before = slices.Concat(fibonacci, before), fibonacci
	}
	// Runs of every length down from √2n, each a round of its own.
	var stairs []uint64
	for run := 1; len(stairs)+run+1 < n; run++ {
		stairs = append(append(stairs, uint64(1000+run)), repeat(7)[:run]...)
	}
	var otherStairs []uint64
	for run := 1; len(otherStairs)+run+1 < n; run++ {
		otherStairs = append(append(otherStairs, uint64(1_000_000+run)), repeat(7)[:run]...)
	}
	r := rand.New(rand.NewPCG(5, 6))
	bits := anyText(r, 2, n, nil)
	return map[string][2][]uint64{
		"one token":             {repeat(7), repeat(7)},
		"one token, one longer": {repeat(7), repeat(7)[:n/2]},
		"two periods":           {repeat(1, 2), repeat(2, 1, 1)},
		"stairs":                {repeat(7), stairs},
		"stairs on both sides":  {stairs, otherStairs},
		"Fibonacci":             {fibonacci[:n], repeat(0, 1, 0)},
		"bits":                  {bits, anyText(r, 2, n, bits)},
	}
}

func TestSharedStaysExactOnHardTexts(t *testing.T) {
	for name, texts := range hardTexts(150) {
		t.Run(name, func(t *testing.T) {
			got, want := Shared(texts[0], texts[1], 3), greedyTiling(texts[0], texts[1], 3)
			if !slices.Equal(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
		})
	}
}

func BenchmarkSharedOfHardTexts(b *testing.B) {
	for name, texts := range hardTexts(100_000) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Shared(texts[0], texts[1], 5)
			}
		})
	}
}

// Ordinary texts: skewed tokens, the second a copy of the first with edits.
func BenchmarkShared(b *testing.B) {
	for _, c := range []struct {
		tokens, edits int // an edit every so many tokens; 0: not a copy
	}{{1000, 20}, {100_000, 0}, {100_000, 20}, {1_000_000, 0}, {1_000_000, 20}, {1_000_000, 200}} {
		r := rand.New(rand.NewPCG(7, 8))
		zipf := rand.NewZipf(r, 1.1, 2, 50_000)
		x, y := make([]uint64, c.tokens), make([]uint64, c.tokens)
		for i := range x {
			x[i] = zipf.Uint64()
			y[i] = x[i]
			if c.edits == 0 || r.IntN(c.edits) == 0 {
				y[i] = zipf.Uint64()
			}
		}
		b.Run(fmt.Sprintf("%d tokens edited every %d", c.tokens, c.edits), func(b *testing.B) {
			b.ReportAllocs()
			passages := 0
			for b.Loop() {
				passages = len(Shared(x, y, 5))
			}
			b.ReportMetric(float64(passages), "passages")
		})
	}
}
