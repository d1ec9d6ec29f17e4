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

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// Options are the choices of an advice.
type Options struct {
	Wrong   float64 // largest share of pairs that have nothing in common but chance, above 0 and below 1; 0: DefaultWrong
	Threads int     // at least 1
	Banded  bool    // only recipes whose pairs bands find, without third texts and weights, as collections that grow need
	Brief   bool    // no rows where the data do not tell: the advice takes half the time then
	Removes bool    // the recipe removes texts: a wrong pair costs more

	// Examples, if there are ExamplesLeast of each kind or more, judge in place of the witness. Those of documents that
	// the sample lacks do not count.
	Examples []Example
	// Precision, if set, is the least expected share of pairs that are copies, up to 1. The recipe that finds
	// most then is chosen, in place of that of the best F-measure.
	Precision float64
}

// DefaultWrong is the share of pairs by chance that is accepted unless another one is asked for.
const DefaultWrong = 0.01

// Recipe says which texts are alike.
type Recipe struct {
	Tokens    text.Tokens     `json:"tokens"` // words or characters
	N         int             `json:"ngram"`
	Measure   measure.Measure `json:"measure"`
	Threshold float64         `json:"threshold"`
	// ThirdTexts says that a pair goes if more of the texts alike to one of the two contradict it than not.
	ThirdTexts bool `json:"third_texts,omitempty"`
	// StripDiacritics says that é counts as e: see text.Options.
	StripDiacritics bool `json:"strip_diacritics,omitempty"`
	// Rare says that only rare features count: see shingle.RareWeight.
	Rare bool `json:"rare,omitempty"`
	// Rarest says so, of features of up to shingle.RarestMost documents. Rare is false.
	Rarest bool `json:"rarest,omitempty"`
}

// Default is the recipe of near-duplicates in crawls.
var Default = Recipe{Tokens: text.Words, N: shingle.DefaultN, Measure: measure.Jaccard, Threshold: 0.8}

// String returns the recipe in words, such as "chars 8 jaccard 0.15, third texts".
func (r Recipe) String() string {
	s := fmt.Sprintf("%s %d %s %g", r.Tokens, r.N, r.Measure, r.Threshold)
	if r.StripDiacritics {
		s += ", without diacritics"
	}
	if r.Rare {
		s += ", rare"
	}
	if r.Rarest {
		s += ", rarest"
	}
	if r.ThirdTexts {
		s += ", third texts"
	}
	return s
}

// Row is what one recipe, at the best of its thresholds, finds.
type Row struct {
	Recipe
	Pairs     float64 `json:"pairs"`             // of distinct texts, expected in the whole
	Wrong     float64 `json:"wrong"`             // expected share of them that are no copies; from 0 to 1
	WrongFrom float64 `json:"wrong_from"`        // the share that surely are none; with examples an interval of 95 %
	WrongTo   float64 `json:"wrong_to"`          // and with all that are doubtful
	Found     float64 `json:"found"`             // expected share of the copies that it finds
	FoundFrom float64 `json:"found_from"`        // the share with all that are doubtful; with examples an interval of 95 %
	FoundTo   float64 `json:"found_to"`          // and of those that surely are copies
	F1        float64 `json:"f1"`                // expected, of both shares
	F1From    float64 `json:"f1_from,omitempty"` // with examples: an interval of 95 %
	F1To      float64 `json:"f1_to,omitempty"`
	Seconds   float64 `json:"seconds"` // that finding them in the whole takes one core: an order of magnitude

	unsure  float64 // WrongTo by the pairs of the sample alone
	score   float64 // see chosenBy
	reaches bool    // the precision asked for
	allowed bool    // no more by chance than asked for
	costly  bool    // more than anybody would wait for without having asked
}

// good tells whether a row may be chosen.
func (r *Row) good() bool { return r.allowed && !r.costly }

// sure tells whether a row is right as far as it goes, and goes much further than the default.
func (r *Row) sure(byDefault Row) bool {
	return r.unsure <= wrongSure && r.Found >= timesFound*byDefault.Found
}

// Advice is what a sample says.
type Advice struct {
	Chosen    Recipe  `json:"chosen"`
	Told      bool    `json:"told"` // the data tell; otherwise Chosen is Default
	Reason    string  `json:"reason"`
	Documents int     `json:"documents"` // distinct texts of the sample
	Whole     float64 `json:"whole"`     // documents of the inputs, estimated if they were not all read
	Copies    int     `json:"copies"`    // pairs of the sample that are surely copies,
	Doubtful  int     `json:"doubtful"`  // that may be,
	Filled    int     `json:"filled"`    // that look like copies, and fill a template with words or passages of their own
	Rows      []Row   `json:"rows"`      // by descending merit; the last is Default

	Examples int `json:"examples,omitempty"` // that judged; 0: the witness did

	sample *Sample
	pairs  []pair
	views  []view
	asked  asked
	judge  *judgement
}

// The data tell if there are copiesLeast pairs of copies or more, no more pairs are doubtful, and a recipe is expected
// to reach f1Least with a share of up to wrongMost that are no copies: where texts are alike by all degrees none does. Where
// texts are removed, that share is wrongRemoved: what is removed by mistake is lost.
const (
	copiesLeast = 25
	f1Least     = 0.8
	wrongMost   = 0.2

	wrongRemoved = 0.125

	// wrongSure is the share of pairs that are no copies, with all that are doubtful, up to which a recipe need not find
	// most copies, if it finds so many times as many as the default.
	wrongSure  = 0.05
	timesFound = 1.5
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
	if a.Chosen == Default && a.Examples == 0 && w.mostlyTemplates() && !o.Banded {
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
