package advise

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Pair is two documents of a sample.
type Pair struct {
	A          string  `json:"a"`
	B          string  `json:"b"`
	Similarity float64 `json:"similarity"`
	Cover      float64 `json:"cover"` // share of the blocks of one that stand in the other one, the larger of both ways

	TextA []byte `json:"-"` // beginnings
	TextB []byte `json:"-"`
}

// nearBy is how far from the threshold pairs are shown.
const nearBy = 0.05

// Near returns up to most pairs of the sample whose similarity by the recipe is just above its threshold, and as many
// just below, for a person to judge. They are drawn evenly from all of these. The error is that of ctx.
func (a *Advice) Near(ctx context.Context, r Recipe, most, threads int) (above, below []Pair, err error) {
	sets, err := setsOf(ctx, a.sample, cut{r.Tokens, r.N}, threads)
	if err != nil {
		return nil, nil, err
	}
	common, err := commons(ctx, sets, a.pairs, threads)
	if err != nil {
		return nil, nil, err
	}
	order := make([]int, len(a.pairs))
	for i := range order {
		order[i] = i
	}
	docs := a.sample.Documents
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(a.sample.drawn(a.pairs[x]), a.sample.drawn(a.pairs[y])) })
	for _, i := range order {
		p := a.pairs[i]
		x, y := &docs[p.a], &docs[p.b]
		similarity := r.Measure.Similarity(uint64(common[i]), uint64(len(sets[p.a])), uint64(len(sets[p.b])))
		pair := Pair{x.ID, y.ID, similarity, p.cover, x.Text, y.Text}
		switch {
		case math.Abs(similarity-r.Threshold) > nearBy:
		case similarity >= r.Threshold && len(above) < most:
			above = append(above, pair)
		case similarity < r.Threshold && len(below) < most:
			below = append(below, pair)
		}
	}
	return above, below, nil
}
