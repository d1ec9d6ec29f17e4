package advise

import (
	"fmt"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// Options are the choices of an advice.
type Options struct {
	Wrong   float64 // largest share of pairs that have nothing in common but chance, above 0 and below 1; 0: DefaultWrong
	Threads int     // at least 1
	Banded  bool    // only recipes whose pairs bands find, as collections that grow need; implies Alone
	Alone   bool    // without third texts and weights, which need all of a collection, as tasks with a part each do
	Brief   bool    // no rows where the data do not tell: the advice takes half the time then
	Removes bool    // the recipe removes texts: a wrong pair costs more

	// Examples, if there are ExamplesLeast of each kind or more, judge in place of the witness. Those of documents that
	// the sample lacks do not count.
	Examples []Example
	// Precision, if set, is the least expected share of pairs that are copies, up to 1. The recipe that finds
	// most then is chosen, in place of that of the best F-measure.
	Precision float64
}

func (o *Options) alone() bool { return o.Banded || o.Alone }

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
