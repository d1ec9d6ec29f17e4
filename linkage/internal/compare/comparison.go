package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/closeness"
)

// Level is the similarity of two values, or of two records, in steps: 0 if one is missing, 1…10 for tenths of
// the similarity from 0 on, and equal for the same tokens in any order. Equal values of a column have, by their
// rarity, levels from equal to equal+mostRarity. Numbers and dates of hardly any common tokens that are near each other
// have levels of their own, from firstClose on: by the step of closeness where the right value is the larger one, then by
// that where it is the smaller one. So what is later, or more, in one table is learned as such. Texts of which either has a
// common word in place of one of the other, see column.exchanged, have levels of their own too, from firstExchanged on: tenths
// of the similarity from that of leastExchanged on.
type Level = uint8

const (
	Missing        Level = 0
	Equal          Level = 11
	mostRarity           = 15
	firstClose           = Equal + mostRarity + 1
	firstExchanged       = firstClose + 2*closeness.Steps
	Levels               = int(firstExchanged + Equal - leastExchanged)

	// leastExchanged is the least level of texts in whose words it matters what stands in place of what: others have too little
	// in common.
	leastExchanged Level = 4
	// Near is the least level of values with half of their tokens in common.
	Near Level = 6
)

// IsEqual tells whether the level is one of equal values.
func IsEqual(l Level) bool { return l >= Equal && l < firstClose }

// IsClose tells whether the level is one of different values of which at most a share ½^(step+1) of random pairs are as near.
func IsClose(l Level, step int) bool {
	return l >= firstClose && l < firstExchanged && stepOf(l) >= step
}

// Agrees tells whether the level is one of values with half of their tokens in common, or of values that are near each other.
func Agrees(l Level) bool { return unexchanged(l) >= Near }

// exchanged returns the level of two texts that have so much in common, and words in each other's place.
func exchanged(l Level) Level { return firstExchanged + l - leastExchanged }

// unexchanged returns the level that values would have if no words stood in each other's place.
func unexchanged(l Level) Level {
	if l < firstExchanged {
		return l
	}
	return l - firstExchanged + leastExchanged
}

// WithExchanged returns the evidence of all levels of a column, from that by a program without those from firstExchanged on: they
// tell what the levels do that they stand for.
func WithExchanged(evidence []float64) []float64 {
	if len(evidence) != int(firstExchanged) {
		return evidence
	}
	return append(slices.Clone(evidence), evidence[leastExchanged:Equal]...)
}

// stepOf returns the step of closeness of a level from firstClose on.
func stepOf(l Level) int { return int(l-firstClose)%closeness.Steps + 1 }

// Alike returns the similarity, from 0 to 1, that a level stands for.
func Alike(l Level) float64 {
	switch l = unexchanged(l); {
	case l == Missing:
		return 0
	case l < firstClose:
		return float64(min(l, Equal)-1) / 10
	}
	return float64(stepOf(l)) / (closeness.Steps + 1)
}

// Told returns how rarely random pairs are equal, or as near, as those of a level: in nats, 0 if that is not known.
func Told(l Level) float64 {
	switch {
	case IsEqual(l):
		return float64(l - Equal)
	case IsClose(l, 1):
		return -math.Log(closeness.Share(stepOf(l)))
	}
	return 0
}

func LevelOf(similarity float64) Level {
	if similarity >= 0.9999 {
		return Equal
	}
	return 1 + Level(similarity*10)
}

// Pair is a candidate: record a of the left table and b of the right one, or a < b of the
// only one.
type Pair struct{ A, B uint32 }

// Comparison has the results of comparing candidates.
type Comparison struct {
	Pairs  []Pair
	Levels []Level   // of each pair: of each column, then of the records as a whole
	Wholes []float32 // similarity of the records
	Width  int       // columns + 1
	Left   int       // records of the left table, of the only one
	Right  int       // of the right table; 0: there is none
	// Agreeing are, of each column, the steps of closeness from which values that differ agree; 0: none do. nil: none of any column.
	Agreeing []int
}

func (c *Comparison) Of(i int) []Level { return c.Levels[i*c.Width : (i+1)*c.Width] }

// Without returns a comparison of the same tables that has no candidates yet.
func (c *Comparison) Without() *Comparison {
	return &Comparison{Width: c.Width, Left: c.Left, Right: c.Right, Agreeing: c.Agreeing}
}

// Take appends candidate i of another comparison of the same tables.
func (c *Comparison) Take(from *Comparison, i int) {
	c.Pairs = append(c.Pairs, from.Pairs[i])
	c.Levels = append(c.Levels, from.Of(i)...)
	c.Wholes = append(c.Wholes, from.Wholes[i])
}

// Only returns a comparison of the candidates at some places.
func (c *Comparison) Only(some []int) *Comparison {
	only := c.Without()
	for _, i := range some {
		only.Take(c, i)
	}
	return only
}

// Order orders pairs by the left record, then by the right one.
func Order(p, q Pair) int { return cmp.Or(cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B)) }

// Merge returns the candidates of two comparisons of the same tables, both of which are in order, in order. O(candidates).
func Merge(x, y *Comparison) *Comparison {
	all := x.Without()
	i := 0
	for j, p := range y.Pairs {
		for ; i < len(x.Pairs) && Order(x.Pairs[i], p) < 0; i++ {
			all.Take(x, i)
		}
		all.Take(y, j)
	}
	for ; i < len(x.Pairs); i++ {
		all.Take(x, i)
	}
	return all
}

// Agreement returns the mean similarity of the columns in which both records of a pair have a value.
func (c *Comparison) Agreement(i int) float64 {
	there, total := 0.0, 0.0
	for _, l := range c.Of(i)[:c.Width-1] {
		if l != Missing {
			there, total = there+1, total+Alike(l)
		}
	}
	return total / max(there, 1)
}

// The similarity of two records has levels in wholeSteps steps, and as many from firstRare on where both have a rare word, see
// Records. From halfAlike on they have half of their tokens or more in common.
const (
	wholeSteps       = 20
	halfAlike  Level = 1 + wholeSteps/2
	firstRare  Level = 2 + wholeSteps
)

// wholeLevel returns the level of the similarity of two records.
func wholeLevel(similarity float64, rare bool) Level {
	l := 1 + Level(similarity*wholeSteps)
	if rare {
		l += firstRare - 1
	}
	return l
}

// A Run is levels that stand for more and more similarity, without To.
type Run struct {
	From, To Level
	// Texts is the level from which on they do not stand for texts that differ in most: but for equal values, for distances, or for
	// records that have half in common, such as neighbours in a series. To: all do.
	Texts Level
	// Below is the first level of the run that stands for the same similarity with less in common; 0: none does.
	Below Level
}

var (
	runsOfColumns = []Run{
		{From: 1, To: firstClose, Texts: Equal},
		{From: firstClose, To: firstClose + closeness.Steps, Texts: firstClose},
		{From: firstClose + closeness.Steps, To: firstExchanged, Texts: firstClose + closeness.Steps},
		{From: firstExchanged, To: Level(Levels), Texts: Level(Levels)},
	}
	runsOfRecords = []Run{
		{From: 1, To: firstRare, Texts: halfAlike},
		{From: firstRare, To: 2*firstRare - 1, Texts: firstRare + halfAlike - 1, Below: 1},
	}
)

// Runs returns the runs of the levels of a column, or of records as a whole.
func Runs(whole bool) []Run {
	if whole {
		return runsOfRecords
	}
	return runsOfColumns
}

// WithRare returns the evidence of all levels of records as a whole, from that by a program without those from firstRare on: a rare
// word tells nothing more.
func WithRare(evidence []float64) []float64 {
	evidence = slices.Clone(evidence)
	copy(evidence[firstRare:], evidence[1:firstRare])
	return evidence
}
