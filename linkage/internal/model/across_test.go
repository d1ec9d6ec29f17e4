package model

import (
	"math/rand/v2"
	"testing"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// TestChanceBoundsLinksOfTwoTables has two tables of 300 records, of whose pairs one in a thousand agrees in all three columns by chance.
// A few links with all in common may all be chance. Where most records have a link, hardly any records are left for chance.
func TestChanceBoundsLinksOfTwoTables(t *testing.T) {
	const records, random = 300, 20_000
	rng := rand.New(rand.NewPCG(3, 5))
	strangers := &compare.Comparison{Width: 4}
	for range random {
		strangers.Pairs = append(strangers.Pairs, compare.Pair{})
		for range 4 {
			level := compare.Level(1)
			if rng.IntN(10) == 0 {
				level = compare.Equal
			}
			strangers.Levels = append(strangers.Levels, level)
		}
	}
	for _, test := range []struct {
		links       int
		once        Once
		least, most float64
	}{
		{15, Once{Left: true, Right: true}, 0, 0.1},
		{280, Once{Left: true, Right: true}, 0.95, 1},
		{280, Once{}, 0.5, 0.9}, // 90 pairs by chance
	} {
		c := &compare.Comparison{Width: 4, Left: records, Right: records}
		var probability []float64
		for i := range test.links {
			c.Pairs = append(c.Pairs, compare.Pair{A: uint32(i), B: uint32(i)})
			c.Levels = append(c.Levels, compare.Equal, compare.Equal, compare.Equal, compare.Equal)
			probability = append(probability, 0.99)
		}
		s := &Surroundings{Among: records * records, Strangers: strangers, Random: Grades(strangers, nil), Alike: []float64{0.1, 0.1, 0.1}}
		sum := SumOf(s.atMostAcross(c, probability, test.once).Of(c, probability)) / float64(test.links)
		if sum < test.least || sum > test.most {
			t.Errorf("%d links, once %v: at most %.2f are right, want %v to %v", test.links, test.once, sum, test.least, test.most)
		}
	}
}
