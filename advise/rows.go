package advise

import (
	"cmp"
	"context"
	"slices"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/text"
)

// Covers of the witness: a pair from surely on is counted as copies, one below perhaps as none, and doubtful between.
// The probability of copies rises from 0 at noCopy to 1 at allCopy.
const (
	surely  = 0.75
	perhaps = 0.5
	noCopy  = 0.45
	allCopy = 0.8
	doubt   = (noCopy + allCopy) / 2
)

// cut is a way of cutting texts into features.
type cut struct {
	tokens text.Tokens
	n      int
}

var (
	witnessCut = cut{text.Chars, witnessChars}
	cuts       = []cut{
		witnessCut, {text.Chars, 5}, {text.Chars, 10},
		{text.Words, 1}, {text.Words, 2}, {text.Words, 3}, {text.Words, 5},
	}
	measures = []measure.Measure{measure.Jaccard, measure.MaxContainment}
)

// Thresholds are tried in steps of 1/steps. A wrong pair costs more than one that is missed: the merit is the
// F-measure with precisionWeight for beta.
const (
	steps           = 100
	stepsLeast      = 5 // bands find what is less alike only with more components than signatures have
	precisionWeight = 0.5
	asGood          = 0.005 // of recipes that are better by less, the one that costs least is taken
)

// rowsOf returns the rows: by descending merit, the default last; nil in brief if the data do not tell. It sets the
// weights of pairs.
func rowsOf(ctx context.Context, s *Sample, pairs []pair, o Options) ([]Row, error) {
	var rows []Row
	var byDefault Row
	for _, c := range cuts {
		sets, err := setsOf(ctx, s, c, o.Threads)
		if err != nil {
			return nil, err
		}
		common, err := commons(ctx, sets, pairs, o.Threads)
		if err != nil {
			return nil, err
		}
		if c == witnessCut {
			s.weigh(pairs, common, sets)
			if o.Brief && !weightsOf(pairs).tell() {
				return nil, nil
			}
		}
		features := 0
		for _, set := range sets {
			features += len(set)
		}
		for _, m := range measures {
			if o.Banded && m.ByParts() {
				continue
			}
			t := tally{
				chance:   newChance(sets, pairs, m, s.Distinct),
				features: float64(features) * s.Distinct / float64(max(len(sets), 1)), distinct: s.Distinct,
			}
			for i, p := range pairs {
				t.add(m.Similarity(uint64(common[i]), uint64(len(sets[p.a])), uint64(len(sets[p.b]))), p)
			}
			rows = append(rows, t.best(Recipe{c.tokens, c.n, m, 0}, o.Wrong))
			if r := (Recipe{c.tokens, c.n, m, Default.Threshold}); r == Default {
				byDefault = t.withCost(t.row(r, o.Wrong))
			}
		}
	}
	for i := range rows {
		rows[i].costly = rows[i].Seconds*1e9 > max(costAllowed, tooCostly*byDefault.Seconds*1e9)
	}
	slices.SortStableFunc(rows, byMerit)
	isWorse := func(r Row) bool { return r.good() != rows[0].good() || r.score < rows[0].score-asGood }
	if alike := slices.IndexFunc(rows, isWorse); alike > 1 {
		slices.SortStableFunc(rows[:alike], func(a, b Row) int { return cmp.Compare(a.Seconds, b.Seconds) })
	}
	return append(rows, byDefault), nil
}

// byMerit orders rows that may be chosen before others, then by descending merit.
func byMerit(a, b Row) int {
	if a.good() != b.good() {
		if a.good() {
			return -1
		}
		return 1
	}
	return cmp.Compare(b.score, a.score)
}

// setsOf makes the sets of all documents.
func setsOf(ctx context.Context, s *Sample, c cut, threads int) ([][]uint64, error) {
	sets := make([][]uint64, len(s.Documents))
	o := shingle.Options{N: c.n, Text: text.Options{Tokens: c.tokens}}
	err := each(ctx, len(sets), threads, func() func(int) {
		shingles := shingler(o)
		var scratch []uint64
		return func(i int) {
			scratch = shingles.AppendFeatures(scratch[:0], s.Documents[i].Text)
			sets[i] = slices.Clone(shingle.Set(scratch))
		}
	})
	return sets, err
}

// commons returns how many features the documents of each pair share.
func commons(ctx context.Context, sets [][]uint64, pairs []pair, threads int) ([]int, error) {
	common := make([]int, len(pairs))
	err := each(ctx, len(pairs), threads, func() func(int) {
		return func(i int) { common[i] = simjoin.Intersection(sets[pairs[i].a], sets[pairs[i].b]) }
	})
	return common, err
}

// tally counts pairs by similarity, in steps.
type tally struct {
	found    [steps + 1]float64 // copies
	wrong    [steps + 1]float64 // others
	surely   [steps + 1]float64 // others that share no passage of weight
	doubtful [steps + 1]float64 // all but those that are surely copies
	chance   chance
	features float64 // of the whole
	distinct float64 // texts of it
}

func (t *tally) add(similarity float64, p pair) {
	at, copies := int(similarity*steps), probability(p.cover)
	t.found[at] += p.weight * copies
	t.wrong[at] += p.weight * (1 - copies)
	if p.cover < noCopy {
		t.surely[at] += p.weight
	}
	if p.cover < allCopy {
		t.doubtful[at] += p.weight
	}
}

// probability returns the probability that a pair of a cover is copies.
func probability(cover float64) float64 {
	return min(max((cover-noCopy)/(allCopy-noCopy), 0), 1)
}

// best returns the row at the best of the thresholds.
func (t *tally) best(r Recipe, most float64) (best Row) {
	for at := steps - 1; at >= stepsLeast; at-- {
		r.Threshold = float64(at) / steps
		if row := t.row(r, most); at == steps-1 || byMerit(row, best) < 0 {
			best = row
		}
	}
	return t.withCost(best)
}

func (t *tally) withCost(r Row) Row {
	r.Seconds = t.chance.cost(r.Recipe, t.features, t.distinct) / 1e9
	return r
}

// row returns what the recipe finds.
func (t *tally) row(r Recipe, most float64) Row {
	at := int(r.Threshold*steps + 0.5)
	byChance := t.chance.above(r.Threshold)
	found, wrong := sum(t.found[at:]), sum(t.wrong[at:])+byChance
	row := Row{Recipe: r, Pairs: found + wrong}
	if found == 0 {
		row.Wrong, row.WrongTo = 1, 1
		return row
	}
	row.Found = found / sum(t.found[:])
	row.Wrong = wrong / row.Pairs
	row.WrongFrom = (sum(t.surely[at:]) + byChance) / row.Pairs
	row.WrongTo = min((sum(t.doubtful[at:])+byChance)/row.Pairs, 1)
	const b = precisionWeight * precisionWeight
	row.score = (1 + b) * (1 - row.Wrong) * row.Found / (b*(1-row.Wrong) + row.Found)
	row.allowed = row.WrongFrom <= most
	return row
}

func sum(counts []float64) (all float64) {
	for _, n := range counts {
		all += n
	}
	return all
}
