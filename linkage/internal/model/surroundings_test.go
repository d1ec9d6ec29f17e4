package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// TestWhatIsNearMakesPairsAlike has places whose coordinates are near each other: their records have few tokens in common.
func TestWhatIsNearMakesPairsAlike(t *testing.T) {
	const near = compare.Level(compare.Levels - 1)
	c := &compare.Comparison{Width: 4, Pairs: make([]compare.Pair, 3), Wholes: []float32{0.3, 0.3, 0.2}}
	for _, levels := range [][4]compare.Level{{near, near, compare.Equal}, {near, near, compare.Equal}, {1, 1, compare.Equal}} {
		c.Levels = append(c.Levels, levels[:]...)
	}
	s := &Surroundings{Alike: []float64{0.01, 0.01, 0.5}, Filled: []float64{1, 1, 1}, Rarity: []float64{5, 5, 1}, Naming: 7}
	if near, far := s.likeness(c, []float64{1, 1, 0}), s.likeness(c, []float64{0, 0, 1}); near < mostly || far >= mostly {
		t.Errorf("likeness %.2f of near pairs, and %.2f of others", near, far)
	}
	s.Rarity = []float64{15, 15, 15} // hardly any two records have the same value
	if got := s.likeness(c, []float64{1, 0, 0}); got < 0.29 || got > 0.31 {
		t.Errorf("likeness %.2f where all values are of their own, want that of the tokens", got)
	}
	if got := (*Surroundings)(nil).likeness(c, []float64{1, 0, 0}); got < 0.29 || got > 0.31 {
		t.Errorf("likeness %.2f without surroundings, want that of the tokens", got)
	}
}

// TestMoreSimilarityNeverCountsAgainstAMatch has a column in which matches are less alike than others.
func TestMoreSimilarityNeverCountsAgainstAMatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := &compare.Comparison{Width: 3}
	var match []float64
	for i := range 2000 {
		l, other := compare.Level(6+rng.IntN(5)), compare.Level(6+rng.IntN(5))
		if i%4 == 0 {
			l, other = compare.Level(1+rng.IntN(5)), compare.Level(8+rng.IntN(3))
		}
		c.Pairs, c.Levels = append(c.Pairs, compare.Pair{}), append(c.Levels, l, other, compare.Missing)
		match = append(match, float64(1-min(1, i%4)))
	}
	m := distil(t.Context(), c, match, ofAll)
	for f := range 2 {
		for l := 2; l <= 10; l++ {
			if at := f*compare.Levels + l; m.Evidence[at] < m.Evidence[at-1]-1e-9 {
				t.Errorf("column %d: level %d has evidence %.3f, and the one before %.3f", f, l, m.Evidence[at], m.Evidence[at-1])
			}
		}
	}
	if m.Evidence[compare.Levels+9] <= m.Evidence[compare.Levels+6] {
		t.Error("a column that tells has no evidence")
	}
}

// TestVersionsOfASourceAreToldFromCopies has matches across sources that are as alike in two columns as versions within a
// source, and more alike in the third.
func TestVersionsOfASourceAreToldFromCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	c, within := &compare.Comparison{Width: 4}, &compare.Comparison{Width: 4}
	add := func(c *compare.Comparison, copied bool) {
		third := compare.Level(1 + rng.IntN(4))
		if copied {
			third = compare.Level(5 + rng.IntN(6))
		}
		c.Pairs, c.Wholes = append(c.Pairs, compare.Pair{}), append(c.Wholes, 0.8)
		c.Levels = append(c.Levels, compare.Level(8+rng.IntN(3)), compare.Level(8+rng.IntN(3)), third, compare.Missing)
	}
	for i := range 4000 {
		add(c, i < 1000)
		if i >= 1000 {
			add(within, false)
		}
	}
	likely := likelyByDecoys(t.Context(), c, &Surroundings{Within: within, Possible: [2]float64{1, 1}})
	if likely == nil {
		t.Fatal("no pair is likely")
	}
	if of, others := SumOf(likely[:1000]), SumOf(likely[1000:]); of < 900 || others > 100 {
		t.Errorf("of 1,000 copies and 3,000 versions %.0f and %.0f are likely", of, others)
	}
	if likelyByDecoys(t.Context(), within, &Surroundings{Within: c, Possible: [2]float64{1, 1}}) != nil {
		t.Error("pairs are likely that are less alike than those within sources")
	}
}

// TestMatchesThatDifferInWhatTellsMostAreDoubted has pairs of one household: what tells one person from another is at chance.
func TestMatchesThatDifferInWhatTellsMostAreDoubted(t *testing.T) {
	const near = compare.Level(compare.Levels - 1)
	s := &Surroundings{Alike: []float64{0.01, 0.01, 0.01, 0.5}, Rarity: []float64{9, 5, 5, 0.7}, Worded: make([]bool, 4), Timed: make([]bool, 4), Naming: 8}
	for _, of := range []struct {
		levels    [4]compare.Level
		low, high float64
	}{
		{[4]compare.Level{near, compare.Equal, near, near}, 0, 0},
		{[4]compare.Level{near, near, 1, compare.Missing}, 0.29, 0.3}, // 5 of 17 nats
		{[4]compare.Level{near, 1, 1, near}, 0.56, 0.57},
		{[4]compare.Level{compare.Missing, compare.Missing, compare.Missing, near}, 0, 0},
		{[4]compare.Level{compare.Near, compare.Equal, near, near}, 0.19, 0.2}, // alike, and never the same
	} {
		c := &compare.Comparison{Width: 5, Pairs: make([]compare.Pair, 2), Wholes: make([]float32, 2)}
		for range 2 {
			c.Levels = append(append(c.Levels, of.levels[:]...), 1)
		}
		if got := s.leftToChance(c, []float64{1, 0}).share; got < of.low || got > of.high {
			t.Errorf("levels %v: %.2f of what could tell is at chance, want %v to %v", of.levels, got, of.low, of.high)
		}
	}
}

// TestMatchesThatDifferInANumberAndADateOfTheirOwnAreDoubted has matches that differ in one column, or two, that would name
// each record.
func TestMatchesThatDifferInANumberAndADateOfTheirOwnAreDoubted(t *testing.T) {
	c := &compare.Comparison{Width: 7, Pairs: make([]compare.Pair, 1), Wholes: make([]float32, 1)}
	const same = compare.Equal
	c.Levels = []compare.Level{same, same, same, same, 1, 1, 1}
	for _, of := range []struct {
		rarity float64 // of the second column that differs
		right  int
		apart  float64
		want   bool
	}{
		{math.Inf(1), 0, 5, true},
		{math.Inf(1), 0, 1, false}, // measured twice: near each other
		{math.Inf(1), 9, 5, false}, // each of two tables may number its records
		{3, 0, 5, false},
	} {
		c.Right = of.right
		s := &Surroundings{Alike: make([]float64, 6), Rarity: []float64{9, 9, 9, 9, 9, of.rarity}, Worded: make([]bool, 6), Timed: make([]bool, 6), Naming: 8, Close: make([][2]float64, 6)}
		s.Close[5] = [2]float64{2, 0.1}
		s.Apart = func(f int, p compare.Pair) float64 {
			if f == 5 {
				return of.apart
			}
			return math.NaN()
		}
		if got := s.doubts(c, []float64{1}); (got != nil) != of.want {
			t.Errorf("%+v: doubts because of columns %v, want doubts: %v", of, got, of.want)
		}
	}
}

// TestOneColumnThatNamesEachRecordIsDoubtedByWhatItHolds has matches that agree in three columns, and all, some or none of
// them in a fourth, which would name each record: the tracks of an album, all packs of a drug among copies of some.
func TestOneColumnThatNamesEachRecordIsDoubtedByWhatItHolds(t *testing.T) {
	const matches, same = 100, compare.Equal
	for _, of := range []struct {
		agreeing        int // of the matches, in the fourth column
		worded, sourced bool
		want            bool
	}{
		{0, false, false, false}, // a key, or a time
		{0, true, false, true},   // a title
		{0, false, true, true},   // what looks like a source may be a place in a row
		{12, false, false, true}, // a few are copies
		{40, false, false, false},
		{40, true, true, false},
		{100, true, true, false},
	} {
		c := &compare.Comparison{Width: 5, Pairs: make([]compare.Pair, matches), Wholes: make([]float32, matches)}
		probability := make([]float64, matches)
		for i := range matches {
			fourth := compare.Level(1)
			if i < of.agreeing {
				fourth = same
			}
			c.Levels = append(c.Levels, same, same, same, fourth, 1)
			probability[i] = 1
		}
		s := &Surroundings{
			Alike: make([]float64, 4), Rarity: []float64{4, 5, 4, 9}, Worded: []bool{true, true, false, of.worded}, Timed: make([]bool, 4), Naming: 8,
		}
		if of.sourced {
			s.Within = c.Without()
		}
		if got := s.doubts(c, probability); (got != nil) != of.want {
			t.Errorf("%+v: doubts because of columns %v, want doubts: %v", of, got, of.want)
		}
	}
}
