// Package advise finds, for texts as people have them, what "alike" should mean: how they are cut, which measure
// compares them, and from which threshold on two of them are copies.
//
//	inputs → Sample → witness → rows → Advice
//
// A recipe only counts common pieces: it cannot tell noise spread over a copy from a passage that two other texts
// share, or from what chance gives. The witness can, because it looks at places: it cuts texts into blocks of
// some hundred characters and asks which blocks of one text stand, with any noise, in the other. What many
// documents have weighs nothing. If nearly all blocks of a text do, it is a copy; if few do, it is not; pairs between
// are doubtful. The witness is too slow and too unsure of short texts to decide pairs of a corpus, but it says on a
// sample which recipe decides most like it.
//
// Where doubtful pairs are many beside copies, or copies are few, the data do not tell: Advice.Told is false, and
// the advice is the default.
//
// The advice depends only on the texts and the options, not on their order or on the number of threads.
package advise

import (
	"context"
	"fmt"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// Options are the choices of an advice.
type Options struct {
	Wrong   float64 // largest share of pairs that have nothing in common but chance, above 0 and below 1; 0: DefaultWrong
	Threads int     // at least 1
	Banded  bool    // only recipes whose pairs bands find, as collections that grow need
	Brief   bool    // no rows where the data do not tell: the advice takes half the time then
}

// DefaultWrong is the share of pairs by chance that is accepted unless another one is asked for.
const DefaultWrong = 0.01

// Recipe says which texts are alike.
type Recipe struct {
	Tokens    text.Tokens     `json:"tokens"` // words or characters
	N         int             `json:"ngram"`
	Measure   measure.Measure `json:"measure"`
	Threshold float64         `json:"threshold"`
}

// Default is the recipe of near-duplicates in crawls.
var Default = Recipe{text.Words, shingle.DefaultN, measure.Jaccard, 0.8}

// String returns the recipe in words, such as "chars 8 jaccard 0.15".
func (r Recipe) String() string {
	return fmt.Sprintf("%s %d %s %g", r.Tokens, r.N, r.Measure, r.Threshold)
}

// Row is what one recipe, at the best of its thresholds, finds.
type Row struct {
	Recipe
	Pairs     float64 `json:"pairs"`      // of distinct texts, expected in the whole
	Wrong     float64 `json:"wrong"`      // expected share of them that are no copies; from 0 to 1
	WrongFrom float64 `json:"wrong_from"` // the share that surely are none,
	WrongTo   float64 `json:"wrong_to"`   // and with all that are doubtful
	Found     float64 `json:"found"`      // expected share of the copies that it finds
	Seconds   float64 `json:"seconds"`    // that finding them in the whole takes one core: an order of magnitude

	score   float64 // the weighted harmonic mean of both shares
	allowed bool    // no more by chance than asked for
	costly  bool    // more than anybody would wait for without having asked
}

// good tells whether a row may be chosen.
func (r *Row) good() bool { return r.allowed && !r.costly }

// Advice is what a sample says.
type Advice struct {
	Chosen    Recipe  `json:"chosen"`
	Told      bool    `json:"told"` // the data tell; otherwise Chosen is Default
	Reason    string  `json:"reason"`
	Documents int     `json:"documents"` // distinct texts of the sample
	Whole     float64 `json:"whole"`     // documents of the inputs, estimated if they were not all read
	Copies    int     `json:"copies"`    // pairs of the sample that are surely copies,
	Doubtful  int     `json:"doubtful"`  // that may be,
	Rows      []Row   `json:"rows"`      // by descending merit; the last is Default

	sample *Sample
	pairs  []pair
}

// The data tell if there are copiesLeast pairs of copies or more, and no more doubtful pairs than doubtfulMost of them.
const (
	copiesLeast  = 25
	doubtfulMost = 0.4
)

// betterBy is by how much the merit of a recipe must exceed that of the default.
const betterBy = 0.02

// Of returns the advice of a sample. O(bytes · log bytes). The error is that of ctx.
func Of(ctx context.Context, s *Sample, o Options) (*Advice, error) {
	if o.Wrong == 0 {
		o.Wrong = DefaultWrong
	}
	w, err := newWitness(ctx, s.texts(), o.Threads)
	if err != nil {
		return nil, err
	}
	pairs := w.pairs()
	if err := w.look(ctx, pairs, o.Threads); err != nil {
		return nil, err
	}
	pairs = s.thin(pairs)
	rows, err := rowsOf(ctx, s, pairs, o)
	if err != nil {
		return nil, err
	}
	a := &Advice{Chosen: Default, Documents: len(s.Documents), Whole: s.Whole, Rows: rows, sample: s, pairs: pairs}
	a.decide(weightsOf(pairs))
	return a, nil
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
	return w.copies >= copiesLeast && w.allDoubtful <= doubtfulMost*w.allCopies
}

// decide chooses a row, or says why none.
func (a *Advice) decide(w weights) {
	a.Copies, a.Doubtful = w.copies, w.doubtful
	if w.copies < copiesLeast {
		a.Reason = fmt.Sprintf("the default, as only %d pairs of the sample are surely copies, fewer than %d: too few to choose by", w.copies, copiesLeast)
		return
	}
	if !w.tell() {
		a.Reason = fmt.Sprintf("the default, as beside %.0f pairs of copies there are %.0f that share much, but not nearly all, of a text: no threshold parts them", w.allCopies, w.allDoubtful)
		return
	}
	switch first, byDefault := a.Rows[0], a.Rows[len(a.Rows)-1]; {
	case !first.good():
		a.Reason = "the default, as no recipe that could be waited for keeps pairs that are alike by chance below the share asked for"
	case first.score < byDefault.score+betterBy:
		a.Reason = "the default, which finds as much as any"
		a.Told = true
	default:
		a.Chosen, a.Told = first.Recipe, true
		a.Reason = fmt.Sprintf("it finds about %.0f %% of the copies, the default %.0f %%", 100*first.Found, 100*byDefault.Found)
	}
}
