// Package judge finds candidates, learns from them what matches are, and judges how likely each is one.
package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/linkage/internal/closeness"
	"github.com/alike-dev/alike/linkage/internal/columns"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// Options say how candidates are examined.
type Options struct {
	Once         model.Once        // which records have one partner at most, by the rule or as far as the data show
	Later        bool              // of the same tables another Examiner was tried before, with one partner
	Base         *model.Model      // to judge by; nil: learned from the tables
	BaseBySource bool              // by it a record has one partner of each source
	Threshold    float64           // similarity from which candidates are kept, whatever the model says; 0: none are
	ByKeys       bool              // candidates are the pairs that share a key
	Batch        int               // candidates that are compared at once if there are many
	Own          int               // about how many records of a table are searched for in their own table
	Strangers    uint64            // most pairs of records from which correlations of columns are estimated
	Sources      *columns.Sources  // of the only table; nil: there are none
	Told         bool              // the user says so
	Same         []int             // columns in which what is the same thing agrees, see model.Options
	Names        []string          // of the columns, for notes
	Tell         func(note string) // adds to the notes of the report
}

// suffix ends the names of what is noted about a model.
func (o *Options) suffix() string {
	if o.Later {
		return "-later"
	}
	return ""
}

// An Examiner compares candidates and learns from them which ones are matches.
type Examiner struct {
	*compare.Comparer
	Options
	finder *find.Finder
	whole  *compare.Records
	shares []float64
	items  *find.Vocabulary // of two tables with many records; else nil
	own    [2]*ownPairs     // similar records within either table; nil: not looked for yet

	wider        bool  // there is a fit to fewer candidates
	unfit        bool  // none is found to these, see model.Options.Wider
	calibrated   bool  // the model's scores are calibrated, see scoreCounts.calibrate
	beyondChance bool  // see model.Fitted
	differing    []int // see model.Fitted

	Matchers    []*compare.Matcher // one for each goroutine
	Shifts      []closeness.Shift  // of each column, between the tables; nil: there are none
	Model       *model.Model
	ByKinds     bool                // the model was made from the kinds of pairs
	Rivals      bool                // a record has one partner of each source also if it was not
	Dispute     model.Dispute       // see model.Fitted
	Kinds       []model.Kind        // see model.Fitted
	Decoys      *model.Decoys       // see model.Fitted
	Apart       float64             // see model.Fitted
	AtMost      *model.AtMost       // see model.Fitted
	Candidates  int                 // number of candidates that were examined
	Found       *compare.Comparison // the candidates that may be matches
	Probability []float64           // of each of Found
	Views       [][]float64         // probabilities of each of Found by other assumptions
	Judged      []float64           // log odds of each of Found by the model without labels, with regard to rivals
	Rank        []float64           // value by which Found is ordered
	Shed        float64             // sum of the probabilities of all other candidates
	Sample      *compare.Comparison // the candidates from which the model was learned
	Sampled     []float64           // probability of each of Sample
}

// New returns an Examiner of the candidates that a finder finds. in says what its records are compared by.
func New(ctx context.Context, in *compare.Input, f *find.Finder, o Options) (e *Examiner, err error) {
	e = &Examiner{Options: o, finder: f}
	if e.whole, err = compare.NewRecords(ctx, in); err != nil {
		return nil, err
	}
	if e.Comparer, err = compare.NewComparer(ctx, in); err != nil {
		return nil, err
	}
	e.Matchers = e.whole.NewMatchers(f.Threads)
	if err := e.useDistances(ctx); err != nil {
		return nil, err
	}
	strangers := o.Strangers
	if f.Sieved == nil { // else the records of just these pairs are held
		strangers = e.Fewer(strangers)
	}
	e.shares, err = e.Shares(ctx, f.Threads, f.Records, strangers)
	return e, err
}

// Find finds candidates, and compares them: it sets Found, and what was learned.
func (e *Examiner) Find(ctx context.Context) (err error) {
	if e.ByKeys {
		err = e.findMany(ctx)
	} else {
		err = e.findFew(ctx)
	}
	if err == nil {
		e.finder.Memory.Held += bytesOf(e.Found)
	}
	return err
}

// Graph returns the candidates as edges.
func (e *Examiner) Graph() model.Graph {
	return model.Graph{Pairs: e.Found.Pairs, Left: e.Found.Left, Right: e.Found.Right, Sources: e.rivalSources()}
}

// findMany finds and examines the candidates of many records.
func (e *Examiner) findMany(ctx context.Context) error {
	v, err := e.finder.Vocabulary(ctx)
	if err != nil {
		return err
	}
	if e.finder.Right != nil { // Chance uses them too
		e.items = v
	}
	if err := e.learned("sample"+e.suffix()+"-0", func() error {
		sample, err := e.finder.Closest(ctx, v, find.LearnedFrom)
		if err != nil {
			return err
		}
		return e.learn(ctx, sample, pairsOf(e.finder, find.LearnedFrom), true)
	}); err != nil {
		return err
	}
	pairs, err := e.finder.Sharing(ctx, v, e.mayExpect())
	if err != nil {
		return err
	}
	return e.examine(ctx, pairs, "-0")
}

// pairsOf returns of how many pairs so many records of the smaller table are, or all of them if it has fewer.
func pairsOf(t *find.Finder, most float64) float64 {
	left, right := float64(t.Records[0]), float64(t.Records[1])
	if t.Right != nil {
		return min(left, right, most) * max(left, right)
	}
	some := min(left, most)
	return some * (left - some/2)
}

// mayExpect returns how many records may be expected to share a key by chance: as many as a record has matches in the sample, if
// these are several; else the default, 0. Where records have many matches, what all of them share is too frequent for a key
// that one record has by chance.
func (e *Examiner) mayExpect() float64 {
	if e.Once.Left {
		return 0
	}
	degree := degrees(e.Sample, e.Sampled)
	sum, n := 0.0, 0.0
	for _, d := range degree {
		if d > 0.5 {
			sum, n = sum+d, n+1
		}
	}
	if mean := sum / max(n, 1); mean >= severalMatches {
		return mean
	}
	return 0
}

// severalMatches is the number of matches of a record that are several.
const severalMatches = 3

// findFew finds and examines the candidates of few records, of each record more if it may have more matches. Where no fit is found to more
// of them, pairs that have less in common, such as other sizes of a thing, outweigh the matches of the fit to fewer. It stays, and which of
// the two are one thing is in dispute.
func (e *Examiner) findFew(ctx context.Context) error {
	for k := find.FirstK; ; k *= 4 {
		pairs, err := e.finder.NearestOnce(ctx, e.whole, k)
		if err != nil {
			return err
		}
		fewer := *e
		e.Model, e.wider = nil, k > find.FirstK
		if err := e.examine(ctx, pairs, fmt.Sprintf("-%d", k)); err != nil {
			return err
		}
		if e.unfit {
			*e = fewer
			e.Dispute = model.OverAll
			return e.findSharing(ctx, k/4)
		}
		if e.Once.Both() || k >= find.LastK || e.finder.Summary.Method != candidates.TopK {
			return e.findSharing(ctx, k)
		}
		if err := e.Judge(ctx); err != nil {
			return err
		}
		if !crowded(e.Found, e.Probability, k) {
			return e.findSharing(ctx, k)
		}
	}
}

// findSharing adds the candidates that share keys, and are not among the k most similar ones. The model is not learned from
// them: agreement in what makes keys would say too little.
func (e *Examiner) findSharing(ctx context.Context, k int) (err error) {
	pairs, err := e.finder.SharingToo(ctx, k)
	if err != nil || pairs == nil {
		return err
	}
	defer func() { err = errors.Join(err, pairs.Close()) }()
	var others []compare.Pair
	at, found := 0, e.Found.Pairs
	for p, err := range find.Each(ctx, pairs) {
		if err != nil {
			return err
		}
		other := compare.Pair{A: p.A, B: p.B}
		for at < len(found) && compare.Order(found[at], other) < 0 {
			at++
		}
		if (at == len(found) || found[at] != other) && !e.Sources.Same(p.A, p.B) {
			others = append(others, other)
		}
	}
	more, err := e.Compare(ctx, e.Matchers, others)
	if err != nil {
		return err
	}
	e.Candidates += len(others)
	e.Found = compare.Merge(e.Found, more)
	return e.mayHold()
}

// crowded tells whether some records have so many matches among their k candidates that they may have more.
func crowded(c *compare.Comparison, probability []float64, k int) bool {
	degree := degrees(c, probability)
	full := 0
	for _, d := range degree {
		if d > 0.7*float64(k) {
			full++
		}
	}
	return full*100 > len(degree)
}

// degrees returns the number of matches to be expected of each record, of a left one if there are two tables.
func degrees(c *compare.Comparison, probability []float64) []float64 {
	degree := make([]float64, max(c.Left, c.Right))
	for i, p := range c.Pairs {
		degree[p.A] += probability[i]
		if c.Right == 0 {
			degree[p.B] += probability[i]
		}
	}
	return degree
}

// SeveralOf returns which records have one partner at most, as far as the sample of an Examiner shows: see model.Several. may says which have by
// the rule.
func SeveralOf(ctx context.Context, e *Examiner, may model.Once) (once model.Once, sure bool) {
	return model.Several(ctx, e.Sample, e.shares, may, e.Sampled)
}

// InPairs tells whether records of the only table have one partner at most, as far as the sample of an Examiner shows: see model.InPairs.
func InPairs(ctx context.Context, e *Examiner) bool {
	return model.InPairs(ctx, e.Sample, e.shares, e.Sampled)
}

// HoldAll sets the memory that the tables and the data about their values take from now on. It returns an error if there is
// not enough.
func HoldAll(t *find.Finder) error {
	rows := t.Records[0] + t.Records[1]
	b := t.Numbering.Bytes() + t.Sieved.Bytes() + perFound*int64(min(model.MostSampled, 2*find.FirstK*rows)) // candidates to learn from
	for _, table := range t.All() {
		b += table.Bytes() + 8*int64(table.Rows()) // the sizes of records
	}
	items := t.Numbering.Tokens() // and values
	for f := range t.Left.Columns {
		values, tokens := t.Numbering.Column(f).Sizes()
		b += 9*int64(values) + 2*int64(tokens) // rarity and words; weights
		if t.Numbering.Column(f).Points() != nil {
			b += 8 * int64(values) // coordinates
		}
		items += values
	}
	b += 8 * int64(t.Numbering.Tokens()) // weights, and frequencies while weights are made of them
	ofKeys := int64(items) * int64(2+4*len(t.All()))
	if b += ofKeys; t.Right == nil {
		t.Memory.Keys = ofKeys
	}
	return t.Memory.Hold(b, "the tables take")
}

// perFound is the memory of a candidate, without its levels: its records and similarity, and the results of judging
// and deciding.
const perFound = 64

func bytesOf(found *compare.Comparison) int64 {
	return int64(cap(found.Levels)) + perFound*int64(len(found.Pairs))
}

// mayHold returns an error if there is no memory for the candidates found so far, while candidates are read from a sorter, which
// uses up to a quarter of the memory for sorting. Data about keys are no longer needed then.
func (e *Examiner) mayHold() error {
	m := e.finder.Memory
	return m.Check(m.Held-m.Keys+m.Sorting()/4+bytesOf(e.Found), "the tables and their likely matches take")
}

// takeFitted takes the result of a fit, and says if it is not what was fitted.
func (e *Examiner) takeFitted(f *model.Fitted) {
	e.Model, e.Sampled, e.calibrated, e.ByKinds = f.Model, f.Probability, f.Calibrated, f.ByKinds
	e.Kinds, e.Decoys, e.Apart, e.AtMost = f.Kinds, f.Decoys, f.Apart, f.AtMost
	e.Dispute, e.beyondChance = f.Dispute, f.BeyondChance
	switch {
	case f.BeyondChance:
		e.Tell("no column says what another one does: matches are pairs that agree in more than chance explains, in whichever column they differ")
	case f.ByKinds && len(e.Same) == 0:
		e.Tell("what these records have most in common is not what makes them one thing, as with people of one household: " +
			"matches agree in nearly everything that tells things apart")
	}
	if e.differing = f.Differing; f.Differing != nil {
		e.Tell(fmt.Sprintf("records that have most in common differ in %s: where these belong to the thing itself, and not to what "+
			"happened to it, such records are not one thing; else name the columns in which one thing agrees: %s",
			fault.List(namesOf(e.Names, f.Differing)), fault.List(namesOf(e.Names, agreeing(f, len(e.Names))))))
	}
	if f.Replaced {
		e.shares = slices.Repeat([]float64{1}, len(e.shares))
		e.Tell(fmt.Sprintf("no model of these tables has finite numbers: records count as matches that are as similar as those with a similarity of %v or more", model.Duplicate))
	}
}

// namesOf returns the names of columns, of all names.
func namesOf(all []string, columns []int) (names []string) {
	for _, column := range columns {
		names = append(names, all[column])
	}
	return names
}

// agreeing returns the columns in which matches agree, of n: those of the kinds that are taken, or else all but those in which
// they differ.
func agreeing(f *model.Fitted, n int) (columns []int) {
	taken := 0
	agree := make([]int, n)
	for _, k := range f.Kinds {
		if !k.Taken {
			continue
		}
		taken++
		for _, column := range k.Agree {
			agree[column]++
		}
	}
	for column := range n {
		if agree[column] == taken && !slices.Contains(f.Differing, column) {
			columns = append(columns, column)
		}
	}
	return columns
}
