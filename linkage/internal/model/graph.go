package model

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

// Graph has the candidates as edges between records, to find the rivals of a pair. With one table
// right is 0, and both ends of an edge are records of the left table.
type Graph struct {
	Pairs       []compare.Pair
	Left, Right int
	// Sources has the source of each record of the only table; nil: there are none. A source other than 0 has a thing once,
	// so the partners of a record in one source rule each other out.
	Sources []uint32
}

// Once tells which records have one partner at most.
type Once struct{ Left, Right bool }

func (o Once) Both() bool { return o.Left && o.Right }
func (o Once) Any() bool  { return o.Left || o.Right }

// Most returns the largest number of matches among so many left and right records.
func (o Once) Most(left, right int) int {
	switch {
	case o.Both():
		return min(left, right)
	case o.Left:
		return left
	}
	return right
}

// parted returns the graph in which a record is as many records as its partners have sources. Each record is on one side
// there, because that of the lesser source is the left one of a pair.
func (g Graph) parted() Graph {
	type end struct{ record, source uint32 }
	var left, right = map[end]uint32{}, map[end]uint32{}
	place := func(of map[end]uint32, e end) uint32 {
		if e.source == 0 { // not known: nothing is ruled out, so no other pair has this end
			e = end{uint32(len(of)), math.MaxUint32}
		}
		at, ok := of[e]
		if !ok {
			at = uint32(len(of))
			of[e] = at
		}
		return at
	}
	parted := Graph{Pairs: make([]compare.Pair, len(g.Pairs))}
	for i, p := range g.Pairs {
		if g.Sources[p.A] > g.Sources[p.B] {
			p.A, p.B = p.B, p.A
		}
		a, b := g.Sources[p.A], g.Sources[p.B]
		if a == 0 {
			b = 0
		}
		parted.Pairs[i] = compare.Pair{A: place(left, end{p.A, b}), B: place(right, end{p.B, a})}
	}
	parted.Left, parted.Right = len(left), len(right)
	return parted
}

// covered returns the graph of two tables that both are the only one: each record is on either side, and so is each edge. Messages
// along a path are there what they are in the graph itself.
func (g Graph) covered() Graph {
	twice := make([]compare.Pair, 0, 2*len(g.Pairs))
	twice = append(twice, g.Pairs...)
	for _, p := range g.Pairs {
		twice = append(twice, compare.Pair{A: p.B, B: p.A})
	}
	return Graph{Pairs: twice, Left: g.Left, Right: g.Left}
}

// Mutual returns the edges that are the first choice of both of their records, by rank, then
// by the similarity of the records, then by order; of the partners of one source, if there are sources.
func (g Graph) Mutual(rank []float64, wholes []float32) []int {
	if g.Sources != nil {
		g = g.parted()
	}
	bestA := firstChoice(g.Left)
	bestB := bestA
	if g.Right > 0 {
		bestB = firstChoice(g.Right)
	}
	better := func(i, j int) bool {
		if j < 0 || rank[i] != rank[j] {
			return j < 0 || rank[i] > rank[j]
		}
		return wholes[i] > wholes[j]
	}
	for i, p := range g.Pairs {
		if better(i, bestA[p.A]) {
			bestA[p.A] = i
		}
		if better(i, bestB[p.B]) {
			bestB[p.B] = i
		}
	}
	var both []int
	for i, p := range g.Pairs {
		if bestA[p.A] == i && bestB[p.B] == i {
			both = append(both, i)
		}
	}
	return both
}

// closest returns the edges of which no other one of either record has a higher rank. Of ten records that are the same, these are all
// 45 pairs, of which Mutual has one.
func (g Graph) closest(rank []float64) (edges []int) {
	bestA := make([]float64, g.Left)
	bestB := bestA
	if g.Right > 0 {
		bestB = make([]float64, g.Right)
	}
	for i, p := range g.Pairs {
		bestA[p.A], bestB[p.B] = max(bestA[p.A], rank[i]), max(bestB[p.B], rank[i])
	}
	for i, p := range g.Pairs {
		if rank[i] > 0 && rank[i] == bestA[p.A] && rank[i] == bestB[p.B] {
			edges = append(edges, i)
		}
	}
	return edges
}

func firstChoice(n int) []int {
	best := make([]int, n)
	for i := range best {
		best[i] = -1
	}
	return best
}

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

// spread returns the probabilities of n candidates, of which those at some places have these and the others none.
func spread(likely []float64, places []int, n int) []float64 {
	all := make([]float64, n)
	for k, i := range places {
		all[i] = likely[k]
	}
	return all
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
