// Package advise finds, for texts as people have them, what "alike" should mean: how they are cut, which measure
// compares them, and from which threshold on two of them are copies.
//
//	inputs → Sample → witness, or examples → rows → Advice
//
// A recipe only counts common pieces: it cannot tell noise spread over a copy from a passage that two other texts
// share, or from what chance gives. The witness can, because it looks at places: it cuts texts into blocks of
// some hundred characters and asks which blocks of one text stand, with any noise, in the other. What many
// documents have weighs nothing. If nearly all blocks of a text do, it is a copy; if few do, it is not; pairs between
// are doubtful. The witness is too slow and too unsure of short texts to decide pairs of a corpus, but it says on a
// sample which recipe decides most like it.
//
// Pairs that somebody has judged, Examples, replace the witness.
//
// Where doubtful pairs are many beside copies, or copies are few, the data do not tell: Advice.Told is false, and
// the advice is the default.
//
// The advice depends only on the texts and the options, not on their order or on the number of threads.
package advise

import (
	"context"
	"fmt"
	"slices"
)

// betterBy is by how much the merit of a recipe must exceed that of the default.
const betterBy = 0.02

// Of returns the advice of a sample. O(bytes · log bytes). The error is that of ctx.
func Of(ctx context.Context, s *Sample, o Options) (*Advice, error) {
	if o.Wrong == 0 {
		o.Wrong = DefaultWrong
	}
	given, same := s.examples(o.Examples)
	if !enough(same) {
		o.Examples = nil
	}
	w, pairs, err := witnessOf(ctx, s, o.Threads)
	if err == nil {
		err = w.look(ctx, given, o.Threads)
	}
	if err != nil {
		return nil, err
	}
	filled, err := w.templates(ctx, s, pairs, o.Threads)
	if err != nil {
		return nil, err
	}
	triangles(pairs)
	a := &Advice{Chosen: Default, Filled: filled, Documents: len(s.Documents), Whole: s.Whole, sample: s}
	a.pairs = s.thin(slices.Clone(pairs))
	if a.views, a.asked, err = views(ctx, s, w, a.pairs, given, s.strangersOf(pairs), o); err != nil {
		return nil, err
	}
	a.judge = byWitness(a.pairs)
	if o.Examples != nil {
		a.judge, a.Examples = byExamples(a.views, a.pairs, given, same), len(same)
	}
	if a.views != nil {
		a.Rows = rowsOf(a.views, a.pairs, a.asked, a.judge, o)
	}
	a.decide(weightsOf(a.pairs), o, o.Precision > 0)
	if o.Removes && o.Precision == 0 && a.Chosen != Default && a.Rows[0].Wrong > wrongRemoved {
		a.decideAgain(o)
	}
	if a.Chosen == Default && a.Examples == 0 && w.mostlyTemplates() && !o.alone() {
		err = a.guard(ctx, pairs, o.Threads)
	}
	return a, err
}

// enough tells whether there are enough examples of both kinds.
func enough(same []bool) bool {
	yes := 0
	for _, s := range same {
		if s {
			yes++
		}
	}
	return min(yes, len(same)-yes) >= ExamplesLeast
}

// weights are pairs by what the witness says of them.
type weights struct {
	copies, doubtful       int     // of the sample
	allCopies, allDoubtful float64 // of the whole
}

func weightsOf(pairs []pair) (w weights) {
	for _, p := range pairs {
		switch {
		case p.cover >= surely:
			w.copies++
			w.allCopies += p.weight
		case p.cover >= perhaps:
			w.doubtful++
			w.allDoubtful += p.weight
		}
	}
	return w
}

// tell tells whether a threshold may part copies from others.
func (w weights) tell() bool {
	return w.copies >= copiesLeast && w.allDoubtful <= w.allCopies
}

// decideAgain chooses the row that finds most with a share of up to wrongRemoved that are no copies.
func (a *Advice) decideAgain(o Options) {
	o.Precision = 1 - wrongRemoved
	a.Rows = rowsOf(a.views, a.pairs, a.asked, a.judge, o)
	a.Chosen, a.Told = Default, false
	if a.decide(weightsOf(a.pairs), o, false); a.Chosen != Default {
		a.Reason += fmt.Sprintf(", with no more than one wrong pair in %.0f, as what is removed by mistake is lost", 1/wrongRemoved)
	}
}

// decide chooses a row, or says why none. asked: somebody has said himself which precision is enough.
func (a *Advice) decide(w weights, o Options, asked bool) {
	a.Copies, a.Doubtful = w.copies, w.doubtful
	if a.Examples == 0 {
		if w.copies < copiesLeast {
			a.Reason = fmt.Sprintf("the default, as of the pairs of the sample only %d are surely copies, fewer than %d: too few to choose by", w.copies, copiesLeast)
			if a.Filled > 0 {
				a.Reason += fmt.Sprintf(" (%d more look like texts of one template, with other names and numbers)", a.Filled)
			}
			return
		}
		if !w.tell() {
			a.Reason = fmt.Sprintf("the default, as beside %.0f pairs of copies there are %.0f that share much, but not nearly all, of a text: no threshold parts them", w.allCopies, w.allDoubtful)
			return
		}
	}
	switch first, byDefault := a.Rows[0], a.Rows[len(a.Rows)-1]; {
	case !first.good():
		a.Reason = "the default, as no recipe that could be waited for keeps pairs that are alike by chance below the share asked for"
	case o.Precision > 0 && !first.reaches:
		a.Reason = fmt.Sprintf("the default, as no recipe reaches a precision of %g: the best is expected to have %.3f", o.Precision, 1-first.Wrong)
	case first.score < byDefault.score+betterBy:
		a.Reason = "the default, which finds as much as any"
		a.Told = true
	case a.Examples == 0 && !asked && (first.F1 < f1Least || first.Wrong > wrongMost) && !first.sure(byDefault):
		a.Reason = fmt.Sprintf("the default, as the best recipe, %s, is expected to have a precision of only %.2f with a recall of %.2f: no threshold parts copies from others", first.Recipe, 1-first.Wrong, first.Found)
	default:
		a.Chosen, a.Told = first.Recipe, true
		a.Reason = fmt.Sprintf("it finds about %.0f %% of the copies, the default %.0f %%", 100*first.Found, 100*byDefault.Found)
		if a.Examples > 0 {
			a.Reason = fmt.Sprintf("by %d examples its F1 is %.2f (%.2f to %.2f), that of the default %.2f", a.Examples, first.F1, first.F1From, first.F1To, byDefault.F1)
		}
	}
}
