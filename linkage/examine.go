package linkage

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
	"github.com/alike-dev/alike/linkage/internal/parallel"
)

// An examiner compares candidates and learns from them which ones are matches.
type examiner struct {
	*compare.Comparer
	config   *Config
	keeper   *keeper
	matchers []*compare.Matcher // one for each goroutine
	shares   []float64
	items    *vocabulary // of two tables with many records; else nil
	known    *known      // nil: there are no known links
	verdicts *verdicts   // nil: there are none
	assumption
	sources *sources     // of the only table; nil: there are none
	own     [2]*ownPairs // similar records within either table; nil: not looked for yet
	// around finds what the tables show besides the candidates c, for the fit. within are the candidates of one source.
	around func(ctx context.Context, c *compare.Comparison, within []compare.Pair) (*model.Surroundings, error)

	model       *model.Model
	grown       func(*compare.Comparison) error // called when found has grown; an error says that it is too large
	tell        func(note string)               // adds to the notes of the report
	disputed    bool                            // see model.Fitted
	byKinds     bool                            // the model was made from the kinds of pairs
	calibrated  bool                            // the model's scores are calibrated, see scoreCounts.calibrate
	candidates  int                             // number of candidates that were examined
	found       *compare.Comparison             // the candidates that may be matches
	probability []float64                       // of each of found
	judged      []float64                       // log odds of each of found by the model without labels, with regard to rivals
	rank        []float64                       // value by which found is ordered
	shed        float64                         // sum of the probabilities of all other candidates

	sample  *compare.Comparison // the candidates from which the model was learned
	sampled []float64           // probability of each of sample
}

// The log odds below which a candidate is dropped if there are many. No decision makes links of pairs with a
// probability of a thousandth. Calibrated log odds are too high so far below 0, since tails fall off faster than
// tangents; with the same bound many times as many candidates would be kept.
const (
	hopeless           = -7
	calibratedHopeless = -4
)

// learn learns the model from a sample of candidates, or takes the model of the configuration.
func (e *examiner) learn(ctx context.Context, sample []compare.Pair, calibrate bool) (err error) {
	within := slices.DeleteFunc(slices.Clone(sample), func(p compare.Pair) bool { return !e.sources.same(p.A, p.B) })
	sample = slices.DeleteFunc(sample, func(p compare.Pair) bool { return e.sources.same(p.A, p.B) })
	if e.sample, err = e.Compare(ctx, e.matchers, sample); err != nil {
		return err
	}
	if m := e.config.Model; m != nil {
		e.model = m.base()
		e.sampled, _ = model.Apply(ctx, e.model, e.sample, e.onePartner)
	} else {
		var around *model.Surroundings
		if model.MayShowKinds(e.sample) {
			if around, err = e.around(ctx, e.sample, within); err != nil {
				return err
			}
		}
		e.takeFitted(model.Fit(ctx, e.sample, model.Options{OnePartner: e.onePartner, Share: e.shares, Calibrate: calibrate, Around: around}))
	}
	return ctx.Err()
}

// learnedModel is the note of a model.
type learnedModel struct {
	Sample     comparedFile // with the probabilities
	Prior      float64
	Evidence   []float64
	Calibrated bool
	ByKinds    bool // the evidence of columns is not shared
	Disputed   bool
}

// learned takes the model that an earlier process has noted, or else calls learn and notes the result.
func (e *examiner) learned(kind string, learn func() error) error {
	if e.config.Model != nil { // quick enough to repeat
		return learn()
	}
	var m learnedModel
	found, err := e.keeper.log.Last(kind, &m)
	if err != nil {
		return err
	}
	if found {
		e.sample = e.None()
		probability, err := e.keeper.read(m.Sample, e.sample, nil)
		if err != nil {
			return err
		}
		shares := e.shares
		if m.ByKinds {
			shares = slices.Repeat([]float64{1}, len(shares))
		}
		f := &model.Fitted{Model: model.NewModel(e.sample, shares), Probability: probability, Calibrated: m.Calibrated, ByKinds: m.ByKinds, Disputed: m.Disputed}
		f.Model.Prior, f.Model.Evidence = m.Prior, m.Evidence
		f.KeepFinite(e.sample) // shares are not in the note
		e.takeFitted(f)
		return nil
	}
	if err := learn(); err != nil {
		return err
	}
	if e.keeper.log == nil {
		return nil
	}
	m = learnedModel{Prior: e.model.Prior, Evidence: e.model.Evidence, Calibrated: e.calibrated, ByKinds: e.byKinds, Disputed: e.disputed}
	if m.Sample, err = e.keeper.write("sample", e.sample, 0, e.sampled); err != nil {
		return err
	}
	return e.keeper.note(kind, m)
}

// examine compares candidates, which it closes, for judge. If there is no model, it learns one from all
// candidates or, if they are too many, from those of a part of the left records; of too many, it keeps only the
// candidates that neither the model nor the threshold rules out. It notes its progress under the name of the search.
func (e *examiner) examine(ctx context.Context, pairs *candidates.Pairs, search string) (err error) {
	defer func() { err = errors.Join(err, pairs.Close()) }()
	if e.model == nil {
		e.candidates = 0
		for _, err := range each(ctx, pairs) {
			if err != nil {
				return err
			}
			e.candidates++
		}
		part := uint64(e.candidates+model.MostSampled-1) / model.MostSampled
		if err := e.learned("sample"+e.suffix()+search, func() error { return e.learnPart(ctx, pairs, part) }); err != nil {
			return err
		}
		if e.found = e.sample; part <= 1 {
			return nil
		}
	}
	e.found = e.None()
	return e.keepLikely(ctx, pairs, "likely"+e.suffix()+search)
}

// readAtOnce is how many candidates are read until it is asked whether the context has ended.
const readAtOnce = 1 << 14

// each ranges over candidates until the context has ended, which is the last error.
func each(ctx context.Context, pairs *candidates.Pairs) iter.Seq2[candidates.Pair, error] {
	return func(yield func(candidates.Pair, error) bool) {
		n := 0
		for p, err := range pairs.All() {
			if n++; err == nil && n%readAtOnce == 0 {
				err = ctx.Err()
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// learnPart learns the model from the candidates of one left record in part, chosen by a hash.
func (e *examiner) learnPart(ctx context.Context, pairs *candidates.Pairs, part uint64) error {
	var some []compare.Pair
	for p, err := range each(ctx, pairs) {
		if err != nil {
			return err
		}
		if part <= 1 || hashing.Mix(uint64(p.A)+1)%part == 0 {
			some = append(some, compare.Pair{A: p.A, B: p.B})
		}
	}
	return e.learn(ctx, some, false)
}

// judge sets the probability and rank of each candidate by the model.
func (e *examiner) judge(ctx context.Context) error {
	e.probability, e.rank = model.Apply(ctx, e.model, e.found, e.onePartner)
	return ctx.Err()
}

// keepLikely compares all candidates, and keeps the results for those that may be matches.
func (e *examiner) keepLikely(ctx context.Context, pairs *candidates.Pairs, kind string) error {
	l := &likely{examiner: e, kind: kind, least: hopeless, scores: make([]float64, e.config.limits.batch)}
	if e.calibrated {
		l.least = calibratedHopeless
	}
	if err := l.goOn(); err != nil {
		return err
	}
	some := make([]compare.Pair, 0, e.config.limits.batch)
	e.candidates = 0
	for p, err := range each(ctx, pairs) {
		if err != nil {
			return err
		}
		if e.candidates++; e.candidates <= l.sofar.Examined {
			continue
		}
		if e.sources.same(p.A, p.B) {
			continue
		}
		if some = append(some, compare.Pair{A: e.Left.Row(p.A), B: e.Right.Row(p.B)}); len(some) == cap(some) {
			if err := l.take(ctx, some); err != nil {
				return err
			}
			some = some[:0]
			if e.keeper.log.Due() {
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
		by, _ = e.model.Calibrate(&l.sofar.All)
	}
	for i, n := range l.sofar.Dropped {
		e.shed += float64(n) * logistic.Probability(by.Of(model.ScoreAt(i)))
	}
	return nil
}

// likelySoFar is a note about the candidates that may be matches.
type likelySoFar struct {
	File         comparedFile
	Examined     int // number of candidates examined so far
	All, Dropped model.ScoreCounts
}

// likely finds the candidates that may be matches, batch by batch.
type likely struct {
	*examiner
	kind   string
	least  float64 // score
	scores []float64
	sofar  likelySoFar
	noted  int // Examined at the last note
	files  int // number of found candidates that are in files
}

// take compares a batch of candidates.
func (l *likely) take(ctx context.Context, some []compare.Pair) error {
	c, err := l.Compare(ctx, l.matchers, some)
	if err != nil {
		return err
	}
	if err := parallel.Ranges(ctx, len(l.matchers), len(some), 1<<12, func(int) func(from, to int) {
		return func(from, to int) {
			for i := from; i < to; i++ {
				l.scores[i] = l.model.Score(c.Of(i))
			}
		}
	}); err != nil {
		return err
	}
	for i, z := range l.scores[:len(some)] {
		l.sofar.All.Add(z)
		if z < l.least && (l.config.Threshold == 0 || float64(c.Wholes[i]) < l.config.Threshold-1e-6) {
			l.sofar.Dropped.Add(z)
			continue
		}
		l.found.Take(c, i)
	}
	l.sofar.Examined += len(some)
	return l.grown(l.found)
}

// goOn takes over the notes of an earlier process.
func (l *likely) goOn() error {
	for so, err := range resume.All[likelySoFar](l.keeper.log, l.kind) {
		if err == nil {
			_, err = l.keeper.read(so.File, l.found, nil)
		}
		if err != nil {
			return err
		}
		l.sofar = so
	}
	l.noted, l.files = l.sofar.Examined, len(l.found.Pairs)
	return nil
}

// note notes the candidates found since the last note.
func (l *likely) note() (err error) {
	if l.keeper.log == nil {
		return nil
	}
	if l.sofar.File, err = l.keeper.write("likely", l.found, l.files, nil); err != nil {
		return err
	}
	l.noted, l.files = l.sofar.Examined, len(l.found.Pairs)
	return l.keeper.note(l.kind, &l.sofar)
}
