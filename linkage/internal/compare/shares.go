package compare

import (
	"context"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/parallel"
)

// RandomPairs is the largest number of pairs of records from which correlations of columns are estimated.
const RandomPairs = 200_000

// agreed is the similarity from which two values count as the same here, and alikeInAll the mean similarity of all
// columns from which two records are probably the same.
const (
	agreed     = 0.7
	alikeInAll = 0.4
)

// tokensRead is about how many tokens of random pairs are read at most, so that long texts cost no more than others: 300 a pair
// of RandomPairs.
const tokensRead = 300 * RandomPairs

// Fewer returns so many random pairs of records, or fewer if they have so many tokens that to compare them would take long.
// O(values).
func (c *Comparer) Fewer(pairs uint64) uint64 {
	tokens, records := 0.0, 0.0
	for f := range c.Columns {
		values, filled := &c.Columns[f], 0.0
		for v := range values.Len() {
			start, end := values.Bounds(uint32(v))
			n := float64(values.Count(uint32(v)))
			tokens, filled = tokens+n*float64(end-start), filled+n
		}
		records = max(records, filled)
	}
	return min(pairs, uint64(tokensRead/max(1, 2*tokens/max(1, records))))
}

// agreements counts, for two columns, the pairs in which both have values, those in which each of them agrees, and
// those in which both agree.
type agreements struct{ pairs, one, other, both float64 }

// add adds the counts of other pairs. Sums of whole numbers do not depend on the order.
func (a *agreements) add(b agreements) {
	a.pairs, a.one, a.other, a.both = a.pairs+b.pairs, a.one+b.one, a.other+b.other, a.both+b.both
}

// correlation returns the correlation of the two agreements, 0 if it is negative, if there are too few pairs, or if a
// column agrees in all of them, so that it does not vary with the other one.
func (a agreements) correlation() float64 {
	if min(a.one, a.other) < 10 || max(a.one, a.other) == a.pairs {
		return 0
	}
	x, y := a.one/a.pairs, a.other/a.pairs
	return max(0, (a.both/a.pairs-x*y)/math.Sqrt(x*(1-x)*y*(1-y)))
}

// Shares returns, for each column, the share of its evidence that no other column has too: 1 for an independent
// column, a half for each of two that always agree together, such as a town and its postcode. It is
// 1 / (1 + Σ correlations), from the columns' agreements among records that do not belong together: all pairs, or a
// part chosen by a hash if there are many, without those that are similar in all columns.
func (c *Comparer) Shares(ctx context.Context, threads int, records [2]int, most uint64) ([]float64, error) {
	columns := len(c.Columns)
	if columns == 1 {
		return []float64{1}, nil
	}
	counts := make([]agreements, columns*columns)
	strangers := slices.Collect(c.strangers(records, most))
	var mu sync.Mutex
	if err := parallel.RangesEnd(ctx, threads, len(strangers), 1024, func(int) (func(from, to int), func()) {
		own, s := make([]agreements, len(counts)), make([]float64, columns)
		count := func(from, to int) {
			for _, p := range strangers[from:to] {
				there, total := 0.0, 0.0
				c.EachColumn(p, func(f int, similarity float64, a, b uint32) {
					if similarity >= 0 && c.Columns[f].agreeing(a-1, b-1) {
						similarity = 1
					}
					if s[f] = similarity; similarity >= 0 {
						there, total = there+1, total+similarity
					}
				})
				if total < alikeInAll*there {
					countAgreements(own, s)
				}
			}
		}
		return count, func() {
			mu.Lock()
			defer mu.Unlock()
			for i, a := range own {
				counts[i].add(a)
			}
		}
	}); err != nil {
		return nil, err
	}
	share := make([]float64, columns)
	for f := range share {
		share[f] = 1
		for g := range columns {
			share[f] += counts[max(f, g)*columns+min(f, g)].correlation()
		}
		share[f] = 1 / share[f]
	}
	return share, nil
}

// strangers yields pairs of records, few of which belong together. records has the numbers of left and right ones.
func (c *Comparer) strangers(records [2]int, most uint64) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for p := range Strangers(records, most) {
			if !yield(Pair{c.Left.Row(p.A), c.Right.Row(p.B)}) {
				return
			}
		}
	}
}

// Strangers yields pairs of numbers of left and right records: all pairs, or about most of them. records has the
// numbers of left and right records; for one table the second is 0.
func Strangers(records [2]int, most uint64) iter.Seq[Pair] {
	left, right := uint64(records[0]), uint64(records[1])
	one := right == 0
	return func(yield func(Pair) bool) {
		all := left * right
		if one {
			right = left
			all = left * (left - 1) / 2
		}
		for i := range min(all, most) {
			h := hashing.Mix(i + 1)
			p := Pair{A: uint32(h >> 32 % left), B: uint32(hashing.Mix(h) >> 32 % right)}
			switch {
			case all <= most && one:
				p = triangle(i)
			case all <= most:
				p = Pair{A: uint32(i / right), B: uint32(i % right)}
			case one && p.A == p.B:
				continue
			}
			if !yield(p) {
				return
			}
		}
	}
}

// triangle returns pair i of records of one table: 0 1, 0 2, 1 2, 0 3 and so on.
func triangle(i uint64) Pair {
	b := uint64((1 + math.Sqrt(float64(1+8*i))) / 2)
	return Pair{A: uint32(i - b*(b-1)/2), B: uint32(b)}
}

// countAgreements adds a pair of records to the counts of all pairs of columns.
func countAgreements(counts []agreements, s []float64) {
	for f := range s {
		for g := range f {
			if s[f] < 0 || s[g] < 0 {
				continue
			}
			a := &counts[f*len(s)+g]
			a.pairs++
			one, other := s[f] >= agreed, s[g] >= agreed
			if one {
				a.one++
			}
			if other {
				a.other++
			}
			if one && other {
				a.both++
			}
		}
	}
}
