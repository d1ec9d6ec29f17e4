package advise

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/internal/places"
)

// A template of a few short texts is not what many texts have, and leaves too few gaps for slots. What a quarter of the
// texts has that are like a short one is of a template, or of all copies. What neither has from there tells:
//
//	A   # ni    > This is an alias of new-item.  See: tldr new-item      Mary, aged 81, of Leeds
//	B   # lima  > This is an alias of limactl.   See: tldr limactl       Mary, agcd 81, of Leeds
//	      xxxx                        xxxxxxxx             xxxxxxxx           nothing is left: copies
const (
	relatedLeast = 5  // texts that are like one, of which
	relatedShare = 4  // one in so many has what is of a template;
	relatedMost  = 32 // so many are looked at
	relatedOwn   = 6  // characters that tell, of fewer than ownLeast only that texts are apart
)

// related lowers the cover of pairs of short texts by what neither has from texts that are like it.
func (w *witness) related(ctx context.Context, pairs []pair, threads int) error {
	of := make([][]uint32, len(w.runs))
	for _, p := range pairs {
		if p.cover >= noCopy && w.short(&p) {
			of[p.a], of[p.b] = append(of[p.a], p.b), append(of[p.b], p.a)
		}
	}
	err := each(ctx, len(of), threads, func() func(int) {
		var has []int
		return func(doc int) {
			if len(of[doc]) >= relatedLeast {
				has = w.frame(doc, of[doc], has)
			}
		}
	})
	if err != nil {
		return err
	}
	var likely []int
	for i := range pairs {
		if p := &pairs[i]; p.cover >= perhaps && w.short(p) && max(len(of[p.a]), len(of[p.b])) >= relatedLeast {
			likely = append(likely, i)
		}
	}
	most, told := make([]float64, len(likely)), slices.Repeat([]bool{true}, len(likely))
	err = each(ctx, len(likely), threads, func() func(int) {
		e := newEdits(reading(w.strip))
		return func(i int) {
			n := e.unrelated(w, &pairs[likely[i]])
			most[i] = 1
			cover := n.cover()
			if n.all >= ownLeast && cover < surely || n.all >= relatedOwn && cover < noCopy {
				most[i] = cover
			}
		}
	})
	spareNoise(len(w.runs), pairs, likely, told, most)
	for i, at := range likely {
		if p := &pairs[at]; most[i] < p.cover {
			p.cover, p.template = most[i], true
		}
	}
	return err
}

// short tells whether a pair is compared as a whole.
func (w *witness) short(p *pair) bool {
	return min(len(w.blocks[p.a]), len(w.blocks[p.b])) < blocksTell && w.framed[p.a] != nil && w.framed[p.b] != nil
}

// frame notes of each character of a document whether it stands in a run that enough of some texts have, or many.
func (w *witness) frame(doc int, others []uint32, has []int) []int {
	runs := w.runs[doc]
	has = places.Zeros(has, len(runs))
	n := min(len(others), relatedMost)
	for i := range n {
		at := 0
		theirs := w.runs[others[i*len(others)/n]]
		for _, r := range theirs {
			for at < len(runs) && runs[at].feature < r.feature {
				at++
			}
			for ; at < len(runs) && runs[at].feature == r.feature; at++ {
				has[at]++
			}
		}
	}
	framed := slices.Clone(w.framed[doc])
	for i, r := range runs {
		if has[i]*relatedShare >= n {
			for k := range places.Chars {
				framed[int(r.at)+k] |= ofRelated
			}
		}
	}
	w.framed[doc] = framed
	return has
}

// unrelated counts the characters of two texts of which neither stands in what many texts have, or those that are like it.
func (e *edits) unrelated(w *witness, p *pair) (own alike) {
	e.besideEachOther(w, p, func(_, _ int, same bool, in uint8, beside places.Beside) {
		if in&(ofMany|ofRelated) == 0 {
			own.add(same, beside)
		}
	})
	return own
}
