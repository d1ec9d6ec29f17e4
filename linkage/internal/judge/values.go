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

// mostRows is the number of records that show which columns hold the words of others.
const mostRows = 2000

// wordsWithin returns, for each pair of columns f and g of the left table at f·columns+g, the share of the records with values in both
// in which all words of f are in g, as a first name is in a full one. O(records · columns² · words), of mostRows records at most.
func wordsWithin(t *held.Tables) []float64 {
	columns := t.Left.Columns
	held, there := make([]float64, columns*columns), make([]float64, columns*columns)
	words := make([][]uint32, columns)
	rows := t.Left.Rows()
	for row := 0; row < rows; row += max(1, rows/mostRows) {
		for f, cell := range t.Left.Cells(row) {
			if words[f] = words[f][:0]; cell == 0 {
				continue
			}
			for _, token := range t.Numbering.Column(f).Tokens(cell - 1) {
				if !t.Numbering.IsGram(token) {
					words[f] = append(words[f], token)
				}
			}
		}
		for f := range columns {
			for g := range columns {
				if f == g || len(words[f]) == 0 || len(words[g]) == 0 {
					continue
				}
				there[f*columns+g]++
				if !slices.ContainsFunc(words[f], func(token uint32) bool { return !slices.Contains(words[g], token) }) {
					held[f*columns+g]++
				}
			}
		}
	}
	for i, n := range there {
		held[i] /= max(1, n)
	}
	return held
}

// synonym is the share of a word's exchanges that are with one other word, from which the two mean the same, as St and Street.
const synonym = 0.7

// exchange is a word of one record that stands in place of one of another record.
type exchange struct{ x, y uint32 }

// exchanged tells of each of some pairs of the left table whether a common word stands in place of another one,
// as in two sizes or colours of a product. Words that stand for each other in most such pairs mean the same, and do not count. there
// is the number of the pairs that have values.
func exchanged(c *compare.Comparer, f int, pairs []compare.Pair) (of []bool, there int) {
	in, there := exchanges(c, f, pairs)
	times, all := map[exchange]float64{}, map[uint32]float64{} // each way
	counted := map[uint32]bool{}
	for _, some := range in {
		clear(counted)
		for _, w := range some {
			times[w]++
			times[exchange{w.y, w.x}]++
			for _, word := range []uint32{w.x, w.y} {
				if !counted[word] {
					counted[word] = true
					all[word]++ // once a pair, also if several words stand in its place
				}
			}
		}
	}
	synonyms := map[uint32]bool{}
	for w, n := range times {
		if n >= synonym*all[w.x] {
			synonyms[w.x] = true
		}
	}
	of = make([]bool, len(pairs))
	for i, some := range in {
		of[i] = slices.ContainsFunc(some, func(w exchange) bool { return !synonyms[w.x] && !synonyms[w.y] })
	}
	return of, there
}

// exchanges returns, of each pair, every common word of one record that the other has not with every one of the other. there is the
// number of the pairs that have values.
func exchanges(c *compare.Comparer, f int, pairs []compare.Pair) (in [][]exchange, there int) {
	in = make([][]exchange, len(pairs))
	var xs, ys []uint32
	for i, p := range pairs {
		a, b := c.Left.Cells(int(p.A))[f], c.Left.Cells(int(p.B))[f]
		if a == 0 || b == 0 {
			continue
		}
		there++
		xs, ys = c.Columns[f].OwnWords(xs[:0], a-1, b-1), c.Columns[f].OwnWords(ys[:0], b-1, a-1)
		for _, x := range xs {
			for _, y := range ys {
				in[i] = append(in[i], exchange{x, y})
			}
		}
	}
	return in, there
}
