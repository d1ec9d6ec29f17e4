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

// Where a template is much of the texts, strangers are as alike as copies by any recipe that counts all features. There
// recipes are looked at as well that count rare features only.
const (
	templatesFrom = 0.5     // share of the runs of a text, on average, that many texts have
	takenMost     = 1 << 20 // pairs of the default that are looked at
)

var rareCuts = []cut{{tokens: text.Chars, n: 5}, {tokens: text.Chars, n: 8}, {tokens: text.Words, n: 2}, {tokens: text.Words, n: 5}}

// Of templates of a few texts each not much of the whole is common. Where many pairs share one, recipes are looked at that count
// what shingle.RarestMost texts have, if the sample is the whole, and few texts are there twice: how many more of a corpus
// have a feature than of a sample nobody can say.
const (
	apartShare   = 20 // pairs of one template are one in so many of those that look like copies, at least: fewer cost less precision
	distinctMost = 0.9
)

// manyApart tells whether many pairs share a template of a few texts.
func (w *witness) manyApart() bool {
	return w.apart >= copiesLeast && w.apart*apartShare >= w.likely
}

// whole tells whether a sample has all texts, of which few are there twice.
func (s *Sample) whole() bool {
	return s.kept == 1 && s.scanned == 1 && s.Distinct >= distinctMost*s.Whole
}

// keepRare leaves the rare features in the sets of a sample, of all features of a cut.
func keepRare(ctx context.Context, s *Sample, c cut, sets [][]uint64, threads int) (err error) {
	fair, most := s.counted()
	if c.rarest {
		fair, most = nil, shingle.RarestMost
	}
	counted := sets[:len(s.Documents)]
	if fair != nil {
		if counted, err = setsOf(ctx, fair, c, threads); err != nil {
			return err
		}
	}
	many, _ := commonFeatures(counted, most, most)
	common := newFilter(many)
	for i := range sets {
		sets[i] = slices.DeleteFunc(sets[i], func(feature uint64) bool {
			return common.has(packed(feature, 0)>>docBits) && shingle.RareWeight(feature, uint64(most)+1, uint64(most)) == 0
		})
	}
	return nil
}

// guard sees to it that the default does not take texts for copies because of their template: if more than wrongMost of
// its pairs share next to nothing beside what many texts have, only rare features count, if that is better.
// Pairs are ascending.
func (a *Advice) guard(ctx context.Context, pairs []pair, threads int) error {
	texts := a.sample.texts()[:len(a.sample.Documents)]
	plain, err := setsOf(ctx, texts, defaultCut, threads)
	if err != nil {
		return err
	}
	rare := make([][]uint64, len(plain))
	for i, set := range plain {
		rare[i] = slices.Clone(set)
	}
	if err := keepRare(ctx, a.sample, defaultCut, rare, threads); err != nil {
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
			if _, reaches := simjoin.Verify(rare[x], rare[y], t); reaches {
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
	a.Chosen.Rare = true
	a.Reason += fmt.Sprintf("; only rare shingles count, as %d of the %d pairs of the sample that it takes share only what many texts have", wrong, taken)
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
