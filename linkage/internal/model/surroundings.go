package model

import (
	"context"
	"math"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Surroundings are what the tables show besides the candidates.
type Surroundings struct {
	Alike  []float64 // of each column: the share of random pairs, among those with values, that are near or equal
	Filled []float64 // of each column: the share of random pairs with values
	// Rarity is, of each column, how rarely two records of a table that have values have the same one, in nats; +∞: none do.
	Rarity []float64
	// Worded tells, of each column, whether its values are texts of several words, as a rule.
	Worded []bool
	Timed  []bool // of each column, whether its values are dates or times
	// Apart returns how far apart the numbers or dates of a pair in a column are, NaN if there are none; nil: that is not known.
	Apart func(f int, p compare.Pair) float64
	// Exchanged tells of each of some pairs of the only table whether a common word of a column stands in place of another one, and
	// how many of them have values; nil: that is not known.
	Exchanged func(f int, pairs []compare.Pair) (of []bool, there int)
	// LeavePassing makes words of some columns that come and go in matches no longer stand in each other's place, and tells whether there
	// were any; nil: that was done.
	LeavePassing func(columns []int, matches []compare.Pair) bool
	// Close are, of each column, the distance that about a tenth of random pairs have at most, and their exact share.
	Close [][2]float64
	// Held returns, of each pair of columns f and g at f·columns+g, the share of records in which all words of f are in g too.
	Held   func() []float64
	Random []uint8 // the grades of random pairs, of each in all columns
	// Strangers are these random pairs.
	Strangers *compare.Comparison
	// Among is the number of pairs of records of which the candidates are the most similar ones; 0: that is not known.
	Among float64
	// Naming is the nats that name a record of the only table, the logarithm of their number.
	Naming float64
	// Told says that the sources were named by the user, and not found.
	Told bool
	// Within are pairs of records that one source has, and therefore not the same thing; nil: sources are not known.
	Within *compare.Comparison
	// Across are the candidates that were found as Within were; nil: all.
	Across []int
	// Possible are the numbers of pairs of records among which Across and Within were found.
	Possible [2]float64
}

const (
	// leastColumns and leastCandidates are how many of them show kinds. Of few columns a fit of two classes makes enough.
	// Where pairs within sources show what is not the same thing, fewer do: sourcedColumns.
	leastColumns    = 5
	sourcedColumns  = 3
	leastCandidates = 300
)

// HasSurroundings tells whether there are enough candidates to compare with what else the tables show.
func HasSurroundings(c *compare.Comparison) bool { return len(c.Pairs) >= leastCandidates }

// ofTheirOwn is by how much rarer it is that two records of the only table have the same value in a column than that one is
// named, in nats, from which values are of their own, such as times of events: one record in twenty shares its value then.
const ofTheirOwn = 3

// MayShowKinds tells whether there are enough columns to show kinds of pairs. sourced says that pairs within sources are
// known.
func MayShowKinds(c *compare.Comparison, sourced bool) bool {
	if sourced {
		return c.Width-1 >= sourcedColumns
	}
	return c.Width-1 >= leastColumns
}

// tells returns how much agreement in a column tells, in nats.
func (s *Surroundings) tells(f int) float64 {
	const most = 7 // agreement by chance is not counted more exactly than in 1 of 1000 pairs
	return s.Filled[f] * min(most, -math.Log(s.Alike[f]))
}

// likeness returns how alike the records are in candidates that are more likely matches than not: the mean of the
// similarity of their tokens and, where it is known how often columns agree by chance, of how much more often these agree, from
// 0 (as by chance) to 1 (always). Tokens of numbers that are near each other differ; columns count by what they tell.
func (s *Surroundings) likeness(c *compare.Comparison, probability []float64) float64 {
	sum, n := 0.0, 0.0
	for i, p := range probability {
		if p > 0.5 {
			sum, n = sum+float64(c.Wholes[i]), n+1
		}
	}
	alike := sum / max(n, 1)
	if s == nil {
		return alike
	}
	there, agree := agreement(c, probability)
	more, weights := 0.0, 0.0
	for f, chance := range s.Alike {
		if there[f] > 0 && !(c.Right == 0 && s.Rarity[f] > s.Naming+ofTheirOwn) { // such values make no two records alike
			more += s.tells(f) * (agree[f]/there[f] - chance) / (1 - chance)
			weights += s.tells(f)
		}
	}
	if weights == 0 {
		return alike
	}
	return (alike + more/weights) / 2
}

// agreement returns, of each column, in how many of the candidates that are more likely matches than not both records have
// values, and in how many these are near or equal.
func agreement(c *compare.Comparison, probability []float64) (there, agree []float64) {
	there, agree = make([]float64, c.Width-1), make([]float64, c.Width-1)
	for i, p := range probability {
		if p <= 0.5 {
			continue
		}
		for f, l := range c.Of(i)[:c.Width-1] {
			if l != compare.Missing {
				there[f]++
			}
			if compare.Agrees(l) {
				agree[f]++
			}
		}
	}
	return there, agree
}

// Products come in sizes and colours, films in parts. Their names differ in one word each, and a fit of few columns takes all that
// have a name in common for one thing. The words show it: one that many records have stands in place of another one, and each of them
// in place of several. In copies a word is missing, or has an error that no other record has.

// mostExchanged is the largest share of the matches in one table in which a common word of a column may stand in place of another
// one: 0.83 and more where variants of products are matches, 0.52 and less in tables of copies.
const mostExchanged = 0.65

// followUnexchanged puts a fit in dispute of whose matches most have other words in each other's place, and replaces it by one to the
// others, if these hold together.
func (f *Fitted) followUnexchanged(ctx context.Context, c *compare.Comparison, o *Options) {
	if o.Around.Exchanged == nil {
		return
	}
	places := matchesOf(f.Probability)
	some, likely := c.Only(places), make([]float64, len(places))
	for k, i := range places {
		likely[k] = f.Probability[i]
	}
	var differing []int
	for column, worded := range o.Around.Worded {
		if !worded {
			continue
		}
		exchanged, there := o.Around.Exchanged(column, some.Pairs)
		n := 0
		for _, is := range exchanged {
			if is {
				n++
			}
		}
		if float64(there) < fewThere*float64(len(places)) || float64(n) <= mostExchanged*float64(there) {
			continue
		}
		differing = append(differing, column)
		for k, is := range exchanged {
			if is {
				likely[k] = 0
			}
		}
	}
	if differing == nil {
		return
	}
	if o.Around.LeavePassing != nil && o.Around.LeavePassing(differing, some.Pairs) {
		f.Again = true
		return
	}
	if f.Differing = differing; parted(some, likely) > mostParted {
		f.Dispute = OverAll
		return
	}
	f.Dispute = OverWider
	f.follow(ctx, c, o, distil(ctx, c, spread(likely, places, len(c.Pairs)), freely))
}

// mostly is the least likeness of matches, if records may have any number of partners or matches do not stand out. A fit with
// a lower one has found another kind of pairs, such as the papers of one author or people of one street, because the tables
// have no duplicates. On tables with duplicates it is 0.54 to 0.85, and 0.14 to 0.48 on the same tables without them.
const mostly = 0.5
