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
	// Where records of one table only have several partners, a fit that lets them is clearer than one that lets them have one, and
	// than one that lets those of the other table have several, which siblings have in both. oneSided is by how much more partners
	// records must then have beyond one than those of the other table: 0.05 and less in tables with one to one matches. clearerSide is
	// by how much the fit must be clearer, and clearAtLeast how clear: of things that are hardly told apart records have many.
	oneSided, clearerSide, clearAtLeast = 0.06, 0.015, 0.6
	// fewerClear is by how much a fit that lets records have one partner is less clear if it may be wrong as a whole: copies of a
	// record are rivals, and where they are many no pair stands out.
	fewerClear = 0.1
	// Where records of the only table have one partner at most, a fit that lets them have one is clear (pairsClear: 0.97 and more; 0.92
	// and less where things are there three times and more, and one pair of three rivals is all that it may take), and as clear as the
	// one that lets them have any number. passedFrom is the share of its matches that are less alike than a pair which counts as passed
	// over, and mostPassed the largest number of such pairs for each match: 0.044 and less there.
	pairsClear, passedFrom, mostPassed = 0.95, 0.25, 0.06
	// spare is the least number of records of the other table for each match, if they are to be partners of one record.
	spare = 1.05
)

// Several tells, after a fit in which a record had one partner at most, which records have no more than one: both or,
// where the records of one table have several in the other, those of the other one. may says which records must have one. It
// fits models to the candidates that let the records of one table have several partners. The data support that where
// such a model finds many more matches, is sure of them, and keeps those that there were, from which it starts; or where it is
// clearer than the others, and finds several for the records of this table rather than for those of the other one: then it is not
// sure. share is that of Options; probability is that of each candidate by the fit.
func Several(ctx context.Context, c *compare.Comparison, share []float64, may Once, probability []float64) (once Once, sure bool) {
	sides := [2]several{severalIn(ctx, c, share, Once{Right: true}, probability), severalIn(ctx, c, share, Once{Left: true}, probability)}
	once, most := Once{true, true}, 0.0
	for side, s := range sides {
		other := &sides[1-side]
		if may.Left && !s.once.Left || may.Right && !s.once.Right || s.matches == 0 || !s.alike || s.right <= most {
			continue
		}
		if told := s.told(); told || s.oneSided(other, clearness(probability)) {
			once, sure, most = s.once, told, s.right
		}
	}
	return once, sure
}

// InPairs tells whether records of the only table have one partner at most: whether a fit that assumes that makes it clear which
// pairs these are, and passes over hardly a pair as alike. share is that of Options; probability is that of each candidate by a fit
// that assumes nothing.
func InPairs(ctx context.Context, c *compare.Comparison, share, probability []float64) bool {
	g, once := Graph{Pairs: c.Pairs, Left: c.Left}, Once{true, true}
	p := firstGuess(c, g, ranks(c)[0], once)
	m := settle(ctx, c, g, once, share, p)
	if clear := clearness(p); clear < max(pairsClear, clearness(probability)) || !standOut(c, p) {
		return false
	}
	var scores []float64 // of matches
	for i, is := range p {
		if is > 0.5 {
			scores = append(scores, m.Score(c.Of(i)))
		}
	}
	if len(scores) < leastPairs {
		return false
	}
	slices.Sort(scores)
	from, passed := scores[int(passedFrom*float64(len(scores)))], 0.0
	for i, is := range p {
		if is <= 0.5 && m.Score(c.Of(i)) >= from {
			passed++
		}
	}
	return passed <= mostPassed*float64(len(scores))
}

// severalIn returns what a fit finds that lets records of one table have several partners. It starts from the probabilities of
// another fit, and from the most similar candidate of each record that has one partner: where that fit found hardly any match, as in a
// list of spellings beside one of names. The clearer of the two counts.
func severalIn(ctx context.Context, c *compare.Comparison, share []float64, once Once, probability []float64) several {
	g := Graph{Pairs: c.Pairs, Left: c.Left, Right: c.Right}
	p, q := slices.Clone(probability), firstGuess(c, g, ranks(c)[0], once)
	settle(ctx, c, g, once, share, p)
	if settle(ctx, c, g, once, share, q); clearness(q) > clearness(p) {
		p = q
	}
	of := severalOf(c, p, once)
	of.once, of.clear, of.kept, of.spare = once, clearness(p), keptOf(probability, p), recordsFor(c, once, probability)
	of.alike = standOut(c, p)
	return of
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
	once             Once
	matches, records float64 // and the records that have them
	right            float64 // expected number of right ones
	clear            float64 // clearness of the fit
	kept             float64 // share of the matches of the fit before that are among these
	spare            float64 // records of the other table for each match of the fit before
	alike            bool    // the matches are more similar than the other candidates
}

// told tells whether these records have several partners.
func (s *several) told() bool {
	return s.spare >= severalFrom && s.kept >= severalKept && s.clear >= severalClear &&
		s.matches >= max(severalFrom*s.records, s.records+severalMore) && s.right >= severalSure*s.matches
}

// oneSided tells whether these records have several partners, and those of the other table have not. clear is the clearness of the fit
// before.
func (s *several) oneSided(other *several, clear float64) bool {
	beyond := s.matches/s.records - other.matches/max(1, other.records)
	return s.spare >= spare && s.matches >= s.records+severalMore && beyond >= oneSided &&
		s.clear >= max(clear, other.clear+clearerSide, clearAtLeast) && (s.kept >= severalKept || s.clear >= clear+fewerClear)
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

// recordsFor returns how many records of a table there are for each match, if those of the other one are to have several.
func recordsFor(c *compare.Comparison, once Once, probability []float64) float64 {
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
	if matches == 0 {
		return 0
	}
	return records / matches
}
