package advise

import (
	"context"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/text"
)

// Where a template is most of the texts, strangers are as alike as copies by any recipe that counts all features alike.
// There the recipes by words are looked at with weights as well. (Elsewhere noise, which makes rare features, is all that
// weights add; and sets with weights are up to shingle.MostWeight times as large, so that characters would not fit.)
const (
	templatesFrom = 0.5     // share of the runs of a text, on average, that many texts have
	takenMost     = 1 << 20 // pairs of the default that are looked at
)

var weighedCuts = []cut{{text.Words, 2, true}, {text.Words, 5, true}}

// weightsOfSets returns the weights of features in a run over these documents.
func weightsOfSets(sets [][]uint64) *shingle.Weights {
	all := slices.Concat(sets...)
	slices.Sort(all)
	rarities := shingle.NewRarities(uint64(len(sets)))
	weights := map[uint64]uint8{}
	for len(all) > 0 {
		df := 1
		for df < len(all) && all[df] == all[0] {
			df++
		}
		if df > 1 {
			weights[all[0]] = rarities.Weight(uint64(df))
		}
		all = all[df:]
	}
	return &shingle.Weights{Name: "exact", Of: func(feature uint64) uint8 {
		if w, is := weights[feature]; is {
			return w
		}
		return shingle.MostWeight
	}}
}

// guard sees to it that the default does not take texts for copies because of their template: if more than wrongMost of
// its pairs share next to nothing beside what many texts have, features count by their rarity, if that is better.
// Pairs are ascending.
func (a *Advice) guard(ctx context.Context, pairs []pair, threads int) error {
	texts := a.sample.texts()[:len(a.sample.Documents)]
	plain, err := setsOf(ctx, texts, cut{Default.Tokens, Default.N, false}, nil, threads)
	if err != nil {
		return err
	}
	weighed, err := setsOf(ctx, texts, cut{Default.Tokens, Default.N, true}, weightsOfSets(plain), threads)
	if err != nil {
		return err
	}
	t, err := measure.NewThreshold(Default.Measure, Default.Threshold)
	if err != nil {
		return err
	}
	taken, wrong, left := 0, 0, 0
	for m := range simjoin.SelfJoin(plain, t) {
		x, y := uint32(min(m.A, m.B)), uint32(max(m.A, m.B))
		if taken++; coverBetween(pairs, x, y) < perhaps {
			wrong++
			if _, reaches := simjoin.Verify(weighed[x], weighed[y], t); reaches {
				left++
			}
		}
		if taken == takenMost {
			break
		}
	}
	if wrong < copiesLeast || float64(wrong) <= wrongMost*float64(taken) || 2*left > wrong {
		return ctx.Err()
	}
	a.Chosen.Rarity = true
	a.Reason += fmt.Sprintf("; its shingles count by their rarity, as %d of the %d pairs of the sample that it takes share only what many texts have", wrong, taken)
	return ctx.Err()
}

// mostlyTemplates tells whether most of the texts is what many of them have.
func (w *witness) mostlyTemplates() bool { return w.common >= templatesFrom }

// commonShare returns the share of features that are common, on average over texts that have any.
func commonShare(features [][]uint64, common filter) float64 {
	sum, texts := 0.0, 0
	for _, of := range features {
		n := 0
		for _, feature := range of {
			if common.has(packed(feature, 0) >> docBits) {
				n++
			}
		}
		if len(of) >= places.Chars {
			sum += float64(n) / float64(len(of))
			texts++
		}
	}
	return sum / float64(max(texts, 1))
}
