package advise

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/text"
)

// cut is a way of cutting texts into features.
type cut struct {
	tokens text.Tokens
	n      int
	rare   bool // only rare features count,
	rarest bool // or those of a few texts
	strip  bool // é is e
}

// ofAll tells whether all features count.
func (c cut) ofAll() bool { return !c.rare && !c.rarest }

var (
	witnessCut = cut{tokens: text.Chars, n: places.Chars}
	defaultCut = cut{tokens: Default.Tokens, n: Default.N}
	cuts       = []cut{
		witnessCut, {tokens: text.Chars, n: 5}, {tokens: text.Chars, n: 10},
		{tokens: text.Words, n: 1}, {tokens: text.Words, n: 2}, {tokens: text.Words, n: 3}, defaultCut,
	}
	measures = []measure.Measure{measure.Jaccard, measure.Cosine, measure.MaxContainment}
)

// setsOf makes the sets of all texts, of all features.
func setsOf(ctx context.Context, texts [][]byte, c cut, threads int) ([][]uint64, error) {
	sets := make([][]uint64, len(texts))
	o := text.Options{Tokens: c.tokens, StripDiacritics: c.strip}
	err := each(ctx, len(sets), threads, func() func(int) {
		shingles := shingler(shingle.Options{N: c.n, Text: o})
		var scratch []uint64
		return func(i int) {
			scratch = shingles.AppendFeatures(scratch[:0], texts[i])
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

func similarities(m measure.Measure, sets [][]uint64, pairs []pair, common []int) []float64 {
	all := make([]float64, len(pairs))
	for i, p := range pairs {
		all[i] = m.Similarity(uint64(common[i]), uint64(len(sets[p.a])), uint64(len(sets[p.b])))
	}
	return all
}

// Thresholds are tried in steps of 1/steps.
const (
	steps      = 100
	stepsLeast = 5     // bands find what is less alike only with more components than signatures have
	asGood     = 0.005 // of recipes that are better by less, the one that costs least is taken
)
