package advise

import (
	"cmp"
	"context"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/simjoin"
)

// thirdText is one that is paired with one of a pair, and whether it contradicts that pair, as package places says. Whether
// it is asked depends on the recipe, by which it may not be similar enough.
type thirdText struct {
	pair        uint32 // of the third text and the one
	contradicts bool
}

// asked are the third texts of each pair of a sample: paired with its first document, and with its second. Pairs of which
// nobody is asked have none.
type asked [][2][]thirdText

// lookedMost is how many third texts are looked at on each side of a pair. By a recipe up to places.ThirdsMost of them are
// asked: those that are most similar.
const lookedMost = 2 * places.ThirdsMost

// askedOf looks at the third texts of pairs by the sets of witnessCut, of which the pairs have so many features in common.
func askedOf(ctx context.Context, pairs []pair, sets [][]uint64, common []int, threads int) (asked, error) {
	contained := func(i uint32) float64 {
		p := pairs[i]
		return float64(common[i]) / float64(max(min(len(sets[p.a]), len(sets[p.b])), 1))
	}
	related := make([][]uint32, len(sets)) // pairs, by document
	for i, p := range pairs {
		if contained(uint32(i)) >= float64(stepsLeast)/steps {
			related[p.a], related[p.b] = append(related[p.a], uint32(i)), append(related[p.b], uint32(i))
		}
	}
	for _, of := range related {
		sorting.Func(of, func(x, y uint32) int { return cmp.Or(cmp.Compare(contained(y), contained(x)), cmp.Compare(x, y)) })
	}
	all := make(asked, len(pairs))
	err := each(ctx, len(pairs), threads, func() func(int) {
		var shared []uint64
		return func(i int) {
			p := pairs[i]
			if p.stands || contained(uint32(i)) < float64(stepsLeast)/steps || common[i] < places.SharedLeast {
				return
			}
			shared = appendCommon(shared[:0], sets[p.a], sets[p.b])
			for side, doc := range [2]uint32{p.a, p.b} {
				for _, k := range related[doc] {
					if int(k) == i || len(all[i][side]) == lookedMost {
						continue
					}
					third := pairs[k].a + pairs[k].b - doc
					smaller := min(len(sets[doc]), len(sets[third]))
					contradicts := places.Contradicts(simjoin.Intersection(sets[third], shared), min(len(shared), len(sets[third])), common[k], smaller)
					all[i][side] = append(all[i][side], thirdText{k, contradicts})
				}
			}
		}
	})
	return all, err
}

// appendCommon appends the features that two sets share.
func appendCommon(dst, a, b []uint64) []uint64 {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			dst = append(dst, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return dst
}

// asking finds, for one view, from which thresholds on third texts take a pair out.
type asking struct {
	asked  asked
	alike  []float64 // the pairs, by the view
	thirds []thirdText
}

// out returns, for the thresholds in steps up to that which the pair reaches, whether more third texts contradict it than
// not, of those that reach it too; nil: for none.
func (a *asking) out(pair int) (steps []bool) {
	if a.asked == nil || len(a.asked[pair][0])+len(a.asked[pair][1]) == 0 {
		return nil
	}
	a.thirds = a.thirds[:0]
	for _, side := range a.asked[pair] {
		from := len(a.thirds)
		a.thirds = append(a.thirds, side...)
		of := a.thirds[from:]
		sorting.Stable(of, func(x, y thirdText) int { return cmp.Compare(a.alike[y.pair], a.alike[x.pair]) })
		a.thirds = a.thirds[:from+min(len(of), places.ThirdsMost)]
	}
	sorting.Func(a.thirds, func(x, y thirdText) int { return cmp.Compare(a.alike[y.pair], a.alike[x.pair]) })
	reached := stepOf(a.alike[pair])
	steps = make([]bool, reached+1)
	more, any := 0, false
	thirds := a.thirds
	for at := reached; at >= 0; at-- {
		for len(thirds) > 0 && stepOf(a.alike[thirds[0].pair]) >= at {
			if more--; thirds[0].contradicts {
				more += 2
			}
			thirds = thirds[1:]
		}
		steps[at] = more > 0
		any = any || more > 0
	}
	if !any {
		return nil
	}
	return steps
}

// takes tells whether third texts take a pair out at a threshold in steps.
func (a *asking) takes(pair, at int) bool {
	out := a.out(pair)
	return at < len(out) && out[at]
}

// stepOf returns the largest threshold in steps that a similarity reaches.
func stepOf(similarity float64) int { return int(similarity * steps) }
