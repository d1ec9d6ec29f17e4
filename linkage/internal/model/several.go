package model

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
)

const (
	// severalFrom is the least number of matches for each record that has any, from which records have several partners. In
	// tables with one to one matches whose records have siblings, such as cups of one service, it was up to 1.18; in tables
	// with payments in parts, offers of one flat and orders of one customer 1.32 and more.
	severalFrom = 1.25
	// severalMore is by how many these must be more: fewer may be chance.
	severalMore = 10
	// severalSure is the least expected share of right ones among these, and severalClear the least clearness.
	severalSure, severalClear = 0.9, 0.8
	// severalKept is the least share of the matches by a fit that lets records have one partner that must remain: 0.87 and more
	// where records have several, since that fit takes some wrong ones.
	severalKept = 0.8
)

// Several tells, after a fit in which a record had one partner at most, which records have no more than one: both or,
// where the records of one table have several in the other, those of the other one. may says which records must have one. It
// fits models to the candidates that let the records of one table have several partners. The data support that where
// such a model finds many more matches, is sure of them, and keeps those that there were, from which it starts. share is that of
// Options; probability is that of each candidate by the fit.
func Several(ctx context.Context, c *compare.Comparison, share []float64, may Once, probability []float64) Once {
	best, most := Once{true, true}, 0.0
	for _, once := range []Once{{Right: true}, {Left: true}} {
		if may.Left && !once.Left || may.Right && !once.Right || !mayHaveSeveral(c, once, probability) {
			continue
		}
		p := slices.Clone(probability)
		settle(ctx, c, Graph{Pairs: c.Pairs, Left: c.Left, Right: c.Right}, once, share, p)
		if keptOf(probability, p) >= severalKept && clearness(p) >= severalClear {
			if found := severalOf(c, p, once); found.told() && found.right > most {
				best, most = once, found.right
			}
		}
	}
	return best
}

// keptOf returns the share of the matches by one fit that are matches by another one.
func keptOf(before, after []float64) float64 {
	kept, all := 0.0, 0.0
	for i, p := range before {
		if p > 0.5 {
			if all++; after[i] > 0.5 {
				kept++
			}
		}
	}
	return kept / max(1, all)
}

// several are matches of records that may have several.
type several struct {
	matches, records float64 // and the records that have them
	right            float64 // expected number of right ones
}

// told tells whether these records have several partners.
func (s several) told() bool {
	return s.matches >= max(severalFrom*s.records, s.records+severalMore) && s.right >= severalSure*s.matches
}

// severalOf returns the candidates that are more likely matches than not. once says which records have one.
func severalOf(c *compare.Comparison, probability []float64, once Once) (of several) {
	seen := make([]bool, max(c.Left, c.Right))
	for i, p := range probability {
		if p <= 0.5 {
			continue
		}
		of.matches, of.right = of.matches+1, of.right+p
		if r := once.other(c.Pairs[i]); !seen[r] {
			seen[r] = true
			of.records++
		}
	}
	return of
}

// other returns the record of a pair that may have several partners, where those of one table have one.
func (o Once) other(p compare.Pair) uint32 {
	if o.Right {
		return p.A
	}
	return p.B
}

// mayHaveSeveral tells whether records of a table are left for others to have several of them.
func mayHaveSeveral(c *compare.Comparison, once Once, probability []float64) bool {
	seen := make([]bool, max(c.Left, c.Right))
	records, matches := 0.0, 0.0
	for i, p := range c.Pairs {
		if r := (Once{once.Right, once.Left}).other(p); !seen[r] {
			seen[r] = true
			records++
		}
		if probability[i] > 0.5 {
			matches++
		}
	}
	return matches > 0 && records >= severalFrom*matches
}
