package advise

import (
	"cmp"
	"math"

	"github.com/alike-dev/alike/internal/sorting"
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

func (a *Advice) pair(i int, similarity float64) Pair {
	p, docs := a.pairs[i], a.sample.Documents
	x, y := &docs[p.a], &docs[p.b]
	return Pair{x.ID, y.ID, similarity, p.cover, x.Text, y.Text}
}

// nearBy is how far from the threshold pairs are shown.
const nearBy = 0.05

// Near returns up to most pairs of the sample whose similarity by the chosen recipe is just above its threshold, and as
// many just below, for a person to judge. They are drawn evenly from all of these.
func (a *Advice) Near(most int) (above, below []Pair) {
	v := a.viewOf(a.Chosen)
	if v == nil {
		return nil, nil
	}
	asking := asking{asked: a.asked, alike: v.pairs}
	least := int(a.Chosen.Threshold*steps + 0.5)
	for _, i := range a.shuffled() {
		switch similarity := v.pairs[i]; {
		case math.Abs(similarity-a.Chosen.Threshold) > nearBy:
		case a.Chosen.ThirdTexts && asking.takes(i, least):
		case similarity >= a.Chosen.Threshold && len(above) < most:
			above = append(above, a.pair(i, similarity))
		case similarity < a.Chosen.Threshold && len(below) < most:
			below = append(below, a.pair(i, similarity))
		}
	}
	return above, below
}

// viewOf returns the view of a recipe, nil if it was not looked at.
func (a *Advice) viewOf(r Recipe) *view {
	r.Threshold, r.ThirdTexts = 0, false
	for i := range a.views {
		if a.views[i].Recipe == r {
			return &a.views[i]
		}
	}
	return nil
}

// shuffled returns the pairs of the sample in an order that depends on their texts alone.
func (a *Advice) shuffled() []int {
	order := make([]int, len(a.pairs))
	for i := range order {
		order[i] = i
	}
	sorting.Func(order, func(x, y int) int { return cmp.Compare(a.sample.drawn(a.pairs[x]), a.sample.drawn(a.pairs[y])) })
	return order
}
