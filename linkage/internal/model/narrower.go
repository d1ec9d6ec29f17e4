package model

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

const (
	// mostNarrowed is how often matches are sought among those of a larger fit.
	mostNarrowed = 3
	// fewerBy is by what share the matches must become fewer, or they are no class of their own.
	fewerBy = 0.1
	// hardlyAny is the largest share that the matches of a fit are of those within a larger one, if it has hardly found any.
	hardlyAny = 0.05
)

// followNarrower replaces a fit that has hardly found a match by one that is found among those of a larger one. Whether these are one
// thing, or just nearer to each other than others, the data do not tell.
func (f *Fitted) followNarrower(ctx context.Context, c *compare.Comparison, o *Options, larger []float64) {
	if m, probability := narrower(ctx, c, o, larger); m != nil && LikelySum(f.Probability) <= hardlyAny*LikelySum(probability) {
		f.Model, f.Probability, f.Dispute, f.Calibrated = m, probability, OverAll, false
	}
}

// narrower looks for matches among those of a fit that has found something larger, such as the readings of one station on one day:
// by expectation and maximisation among these alone, from the pairs of them that are most alike, as often as that leads to fewer. It
// returns the model of the first such fit whose matches are as alike as things are, and its probabilities; nil if there is none.
func narrower(ctx context.Context, c *compare.Comparison, o *Options, larger []float64) (*Model, []float64) {
	for range mostNarrowed {
		places := matchesOf(larger)
		some := c.Only(places)
		likely := clearestAmong(ctx, some, o)
		matches := SumOf(likely)
		if ctx.Err() != nil || matches < leastPairs || matches > (1-fewerBy)*float64(len(places)) {
			return nil, nil
		}
		larger = spread(likely, places, len(c.Pairs))
		if clearness(likely) < clearWithin || o.Around.likeness(some, likely) < mostly {
			continue
		}
		if left := o.Around.leftToChance(some, likely); !o.Around.doubted(some, &left) && left.siblings() == nil {
			return modelOf(c, o.Share, larger), larger
		}
	}
	return nil, nil
}

// clearestAmong returns the probabilities by the clearest of the fits to some candidates, whatever is alike in their matches.
func clearestAmong(ctx context.Context, some *compare.Comparison, o *Options) (best []float64) {
	g := Graph{Pairs: some.Pairs, Left: some.Left, Right: some.Right}
	for _, rank := range ranks(some) {
		likely := firstGuess(some, g, rank, o.Once)
		settle(ctx, some, g, o.Once, o.Share, likely)
		if best == nil || clearness(likely) > clearness(best)+clearerBy {
			best = likely
		}
	}
	return best
}

// Where a table has copies of few things, most pairs that agree strongly are something larger, such as houses of one owner or
// packs of one drug, and a fit takes these for the matches. Then a minority of them also agrees in what would name a record, far
// more often than by chance: these are the copies, a class within the class.

const (
	// oftener is how many times as often as by chance matches must agree in a column in which they differ as a rule, to have
	// copies among them: 8 to 22 times in tables of copies, 1 in the same tables without them.
	oftener = 4
	// clearWithin is the least clearness of copies among other matches: 0.72 and more in tables of copies.
	clearWithin = 0.6
	// apartBy is by how much more alike copies are than the other matches in a column that was not looked at, if nothing else
	// raises a doubt about these: 0.38 and more in tables of copies. Where matches agree in a column now and then, as in postcodes of five or nine
	// digits, those that do are no more alike in others: 0.28 at most.
	apartBy = 0.33
)

// followCopies replaces a fit whose matches leave too much to chance, or differ in half or more in what would name a record,
// such as the price of a wine, by that of the copies among these, if there are any: by
// expectation and maximisation among the matches alone, of which the others are not copies. What is the same thing is in
// dispute after that as before.
func (f *Fitted) followCopies(ctx context.Context, c *compare.Comparison, o *Options) {
	differing := f.Differing
	if differing == nil {
		differing = o.Around.leftToChance(c, f.Probability).partly
	}
	named := f.columnsOfCopies(c, o.Around, differing)
	if named == nil {
		return
	}
	places := matchesOf(f.Probability)
	some, likely := c.Only(places), make([]float64, len(places))
	for k := range places {
		for _, column := range named {
			if compare.Agrees(some.Of(k)[column]) {
				likely[k] = 0.9
			}
		}
	}
	settle(ctx, some, Graph{Pairs: some.Pairs, Left: some.Left, Right: some.Right}, Once{}, o.Share, likely)
	if clearness(likely) < clearWithin || f.Differing == nil && !apart(some, likely, named) || o.Around.doubts(some, likely) != nil || o.Around.likeness(some, likely) < mostly {
		return
	}
	if parted(some, likely) > mostParted {
		return
	}
	f.follow(ctx, c, o, distil(ctx, c, spread(likely, places, len(c.Pairs)), freely))
	f.Differing, f.Dispute = differing, OverAll
}

// apart tells whether copies differ from the other matches in more than the columns by which they were looked for.
func apart(c *compare.Comparison, likely []float64, named []int) bool {
	for f := range c.Width - 1 {
		var n, sum [2]float64
		for i, p := range likely {
			if l := c.Of(i)[f]; l != compare.Missing {
				n[0], sum[0] = n[0]+1-p, sum[0]+(1-p)*compare.Alike(l)
				n[1], sum[1] = n[1]+p, sum[1]+p*compare.Alike(l)
			}
		}
		if !slices.Contains(named, f) && min(n[0], n[1]) >= leastPairs && sum[1]/n[1]-sum[0]/n[0] >= apartBy {
			return true
		}
	}
	return false
}

// columnsOfCopies returns the columns in which a minority of the matches agrees, of some in which they differ.
func (f *Fitted) columnsOfCopies(c *compare.Comparison, around *Surroundings, differing []int) (columns []int) {
	there, agree := agreement(c, f.Probability)
	for _, column := range differing {
		if agree[column] >= leastPairs && agree[column] >= oftener*around.Alike[column]*there[column] {
			columns = append(columns, column)
		}
	}
	return columns
}
