package judge

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/held"
)

// apart returns how far apart the numbers or dates of a pair in a column are; NaN: there are none.
func apart(t *held.Tables, f int, p compare.Pair) float64 {
	column := t.Numbering.Column(f)
	a, b := t.Left.Cells(int(p.A))[f], t.Other().Cells(int(p.B))[f]
	if column.Points() == nil || a == 0 || b == 0 {
		return math.NaN()
	}
	return math.Abs(column.Point(a-1) - column.Point(b-1))
}

// closest returns, of each column, the distance that about a tenth of some pairs have at most, and their exact share.
func closest(t *held.Tables, pairs []compare.Pair) [][2]float64 {
	of := make([][2]float64, t.Left.Columns)
	for f := range of {
		var all []float64
		for _, p := range pairs {
			if d := apart(t, f, p); d >= 0 { // not if it is no number
				all = append(all, d)
			}
		}
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		tenth := all[len(all)/10]
		n, _ := slices.BinarySearch(all, math.Nextafter(tenth, math.Inf(1)))
		of[f] = [2]float64{tenth, float64(n) / float64(len(all))}
	}
	return of
}

// rarity returns how rarely two records of a table that have values in a column have the same one, in nats, from how many
// records have each: +∞ if no two do. Of two tables it is the smaller number: values of the two may have nothing in common,
// as where they are written in other languages.
func rarity(counts [2][]uint32) float64 {
	least := math.Inf(1)
	for _, of := range counts {
		there, same := 0.0, 0.0
		for _, n := range of {
			there += float64(n)
			same += float64(n) * (float64(n) - 1)
		}
		if there > 1 {
			least = min(least, -math.Log(same/(there*(there-1))))
		}
	}
	return least
}

// severalWords is the mean number of words from which values are texts of several words.
const severalWords = 1.5

// worded tells whether the distinct values of a column are texts of several words, as a rule. O(tokens).
func worded(t *held.Tables, f int) bool {
	if !t.Kinds[f].OfWords() {
		return false
	}
	column, words := t.Numbering.Column(f), 0
	for value := range column.Len() {
		for _, token := range column.Tokens(uint32(value)) {
			if !t.Numbering.IsGram(token) {
				words++
			}
		}
	}
	return float64(words) >= severalWords*float64(column.Len())
}
