package judge

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/linkage/internal/parallel"
	"github.com/alike-dev/alike/linkage/internal/steps"
)

// The log odds below which a candidate is dropped if there are many. No decision makes links of pairs with a
// probability of a thousandth. Calibrated log odds are too high so far below 0, since tails fall off faster than
// tangents; with the same bound many times as many candidates would be kept.
const (
	hopeless           = -7
	calibratedHopeless = -4
)

// learn learns the model from a sample of candidates, those among so many pairs of records, or takes the one that is given.
func (e *Examiner) learn(ctx context.Context, sample []compare.Pair, among float64, calibrate bool) (err error) {
	within := slices.DeleteFunc(slices.Clone(sample), func(p compare.Pair) bool { return !e.Sources.Same(p.A, p.B) })
	sample = slices.DeleteFunc(sample, func(p compare.Pair) bool { return e.Sources.Same(p.A, p.B) })
	if e.Sample, err = e.Compare(ctx, e.Matchers, sample); err != nil {
		return err
	}
	if e.Base != nil {
		e.Model, e.ByKinds = e.Base, e.BaseBySource
		e.Sampled, _ = model.Apply(ctx, e.Model, e.Sample, e.Once, e.rivalSources())
		return ctx.Err()
	}
	f, err := fit(ctx, e, within, among, calibrate, e.LeavePassing)
	if err == nil && f.Unfit {
		e.unfit = true
		return ctx.Err()
	}
	if err == nil && f.Again {
		if e.Sample, err = e.Compare(ctx, e.Matchers, sample); err == nil {
			f, err = fit(ctx, e, within, among, calibrate, nil)
		}
	}
	if err != nil {
		return err
	}
	for column, words := range e.Passing {
		if len(words) > 0 { // whether these are of the thing itself, the data do not tell
			f.Dispute = model.OverAll
			if !slices.Contains(f.Differing, column) {
				f.Differing = append(f.Differing, column)
			}
		}
	}
	e.takeFitted(f)
	return ctx.Err()
}

// fit fits a model to the sample, which was taken from so many pairs of records.
func fit(ctx context.Context, e *Examiner, within []compare.Pair, among float64, calibrate bool, leavePassing func([]int, []compare.Pair) bool) (*model.Fitted, error) {
	around, err := e.surroundings(ctx, e.Sample, within)
	if err != nil {
		return nil, err
	}
	if around != nil {
		around.Among, around.LeavePassing = among, leavePassing
	}
	o := model.Options{Wider: e.wider, Once: e.Once, Sources: e.sourcesOfOne(), Share: e.shares, Calibrate: calibrate, Same: e.Same, Around: around, Threads: e.finder.Threads}
	return model.Fit(ctx, e.Sample, o), ctx.Err()
}

// learnedModel is the note of a model.
type learnedModel struct {
	Sample     steps.Compared // with the probabilities
	Prior      float64
	Evidence   []float64
	Calibrated bool
	ByKinds    bool // the evidence of columns is not shared
	Dispute    model.Dispute
	Beyond     bool // see Fitted.BeyondChance
	Differing  []int
	Kinds      []model.Kind
	Decoys     *model.Decoys
	Apart      float64
	AtMost     *model.AtMost
	Passing    [][]uint64 // see compare.Comparer
	Unfit      bool       // there is no model, see Fitted.Unfit
}

// learned takes the model that an earlier process has noted, or else calls learn and notes the result.
func (e *Examiner) learned(kind string, learn func() error) error {
	if e.Base != nil { // quick enough to repeat
		return learn()
	}
	var m learnedModel
	found, err := e.finder.Steps.Log.Last(kind, &m)
	if err != nil {
		return err
	}
	if e.unfit = m.Unfit; e.unfit {
		return nil
	}
	if found {
		e.Sample = e.None()
		probability, err := e.finder.Steps.Read(m.Sample, e.Sample, nil)
		if err != nil {
			return err
		}
		shares := e.shares
		if m.ByKinds {
			shares = slices.Repeat([]float64{1}, len(shares))
		}
		f := &model.Fitted{Model: model.NewModel(e.Sample, shares), Probability: probability, Calibrated: m.Calibrated, ByKinds: m.ByKinds, Dispute: m.Dispute, BeyondChance: m.Beyond, Differing: m.Differing, Kinds: m.Kinds, Decoys: m.Decoys, Apart: m.Apart, AtMost: m.AtMost}
		f.Model.Prior, f.Model.Evidence = m.Prior, m.Evidence
		f.KeepFinite(e.Sample) // shares are not in the note
		e.Passing = nil
		e.Leave(m.Passing)
		e.takeFitted(f)
		return nil
	}
	if err := learn(); err != nil {
		return err
	}
	if e.finder.Steps.Log == nil {
		return nil
	}
	if e.unfit {
		return e.finder.Steps.Note(kind, &learnedModel{Unfit: true})
	}
	m = learnedModel{Prior: e.Model.Prior, Evidence: e.Model.Evidence, Calibrated: e.calibrated, ByKinds: e.ByKinds, Dispute: e.Dispute, Beyond: e.beyondChance, Differing: e.differing, Kinds: e.Kinds, Decoys: e.Decoys, Apart: e.Apart, AtMost: e.AtMost, Passing: e.Passing}
	if m.Sample, err = e.finder.Steps.Write("sample", e.Sample, 0, e.Sampled); err != nil {
		return err
	}
	return e.finder.Steps.Note(kind, m)
}

// examine compares candidates, which it closes, for Judge. If there is no model, it learns one from all
// candidates or, if they are too many, from those of a part of the left records; of too many, it keeps only the
// candidates that neither the model nor the threshold rules out. It notes its progress under the name of the search.
func (e *Examiner) examine(ctx context.Context, pairs *candidates.Pairs, search string) (err error) {
	defer func() { err = errors.Join(err, pairs.Close()) }()
	if e.Model == nil {
		e.Candidates = 0
		for _, err := range find.Each(ctx, pairs) {
			if err != nil {
				return err
			}
			e.Candidates++
		}
		part := uint64(e.Candidates+model.MostSampled-1) / model.MostSampled
		if err := e.learned("sample"+e.suffix()+search, func() error { return e.learnPart(ctx, pairs, part) }); err != nil {
			return err
		}
		if e.Found = e.Sample; part <= 1 || e.unfit {
			return nil
		}
	}
	e.Found = e.None()
	return e.keepLikely(ctx, pairs, "likely"+e.suffix()+search)
}

// learnPart learns the model from the candidates of one left record in part, chosen by a hash.
func (e *Examiner) learnPart(ctx context.Context, pairs *candidates.Pairs, part uint64) error {
	var some []compare.Pair
	for p, err := range find.Each(ctx, pairs) {
		if err != nil {
			return err
		}
		if part <= 1 || hashing.Mix(uint64(p.A)+1)%part == 0 {
			some = append(some, compare.Pair{A: p.A, B: p.B})
		}
	}
	return e.learn(ctx, some, pairsOf(e.finder, math.Inf(1))/float64(part), false)
}

// rivalSources returns the sources of the only table, of which a record has one partner each; nil: there are none, or the model
// does not expect rivals. One that follows kinds does, see model.Fit; by another one a record that a source has twice would
// lose both of its pairs.
func (e *Examiner) rivalSources() []uint32 {
	if !e.ByKinds && !e.Rivals {
		return nil
	}
	return e.sourcesOfOne()
}

// sourcesOfOne returns the sources of the only table; nil: there are none.
func (e *Examiner) sourcesOfOne() []uint32 {
	if e.Comparer.Right != e.Comparer.Left {
		return nil
	}
	return e.Sources.OfLeft()
}

// Judge sets the probability and rank of each candidate by the model.
func (e *Examiner) Judge(ctx context.Context) error {
	e.Probability, e.Rank = model.Apply(ctx, e.Model, e.Found, e.Once, e.rivalSources())
	e.Judged = e.Rank
	return ctx.Err()
}

// keepLikely compares all candidates, and keeps the results for those that may be matches.
func (e *Examiner) keepLikely(ctx context.Context, pairs *candidates.Pairs, kind string) error {
	l := &likely{Examiner: e, kind: kind, least: hopeless, scores: make([]float64, e.Batch)}
	if e.calibrated {
		l.least = calibratedHopeless
	}
	if err := l.goOn(); err != nil {
		return err
	}
	some := make([]compare.Pair, 0, e.Batch)
	e.Candidates = 0
	for p, err := range find.Each(ctx, pairs) {
		if err != nil {
			return err
		}
		if e.Candidates++; e.Candidates <= l.sofar.Examined {
			continue
		}
		if e.Sources.Same(p.A, p.B) {
			continue
		}
		if some = append(some, compare.Pair{A: e.Left.Row(p.A), B: e.Right.Row(p.B)}); len(some) == cap(some) {
			if err := l.take(ctx, some); err != nil {
				return err
			}
			some = some[:0]
			if e.finder.Steps.Log.Due() {
				if err := l.note(); err != nil {
					return err
				}
			}
		}
	}
	if err := l.take(ctx, some); err != nil {
		return err
	}
	if l.sofar.Examined > l.noted {
		if err := l.note(); err != nil {
			return err
		}
	}
	by := model.Line{At0: 0, Slope: 1}
	if e.calibrated {
		by, _ = e.Model.Calibrate(&l.sofar.All)
	}
	for i, n := range l.sofar.Dropped {
		e.Shed += float64(n) * logistic.Probability(by.Of(model.ScoreAt(i)))
	}
	return nil
}

// likelySoFar is a note about the candidates that may be matches.
type likelySoFar struct {
	File         steps.Compared
	Examined     int // number of candidates examined so far
	All, Dropped model.ScoreCounts
}

// likely finds the candidates that may be matches, batch by batch.
type likely struct {
	*Examiner
	kind   string
	least  float64 // score
	scores []float64
	sofar  likelySoFar
	noted  int // Examined at the last note
	files  int // number of found candidates that are in files
}

// take compares a batch of candidates.
func (l *likely) take(ctx context.Context, some []compare.Pair) error {
	c, err := l.Compare(ctx, l.Matchers, some)
	if err != nil {
		return err
	}
	if err := parallel.Ranges(ctx, len(l.Matchers), len(some), 1<<12, func(int) func(from, to int) {
		return func(from, to int) {
			for i := from; i < to; i++ {
				l.scores[i] = l.Model.Score(c.Of(i))
			}
		}
	}); err != nil {
		return err
	}
	for i, z := range l.scores[:len(some)] {
		l.sofar.All.Add(z)
		if z < l.least && (l.Threshold == 0 || float64(c.Wholes[i]) < l.Threshold-1e-6) {
			l.sofar.Dropped.Add(z)
			continue
		}
		l.Found.Take(c, i)
	}
	l.sofar.Examined += len(some)
	return l.mayHold()
}

// goOn takes over the notes of an earlier process.
func (l *likely) goOn() error {
	for so, err := range resume.All[likelySoFar](l.finder.Steps.Log, l.kind) {
		if err == nil {
			_, err = l.finder.Steps.Read(so.File, l.Found, nil)
		}
		if err != nil {
			return err
		}
		l.sofar = so
	}
	l.noted, l.files = l.sofar.Examined, len(l.Found.Pairs)
	return nil
}

// note notes the candidates found since the last note.
func (l *likely) note() (err error) {
	if l.finder.Steps.Log == nil {
		return nil
	}
	if l.sofar.File, err = l.finder.Steps.Write("likely", l.Found, l.files, nil); err != nil {
		return err
	}
	l.noted, l.files = l.sofar.Examined, len(l.Found.Pairs)
	return l.finder.Steps.Note(l.kind, &l.sofar)
}
