package linkage

import (
	"context"
	"errors"
	"iter"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/internal/resume"
)

// An examiner compares candidates and learns from them which ones are matches.
type examiner struct {
	*comparer
	config   *Config
	keeper   *keeper
	matchers []*matcher // one for each goroutine
	shares   []float64
	items    *vocabulary // of two tables with many records; else nil
	known    *known      // nil: there are no known links

	model       *model
	grown       func(*comparison) error // called when found has grown; an error says that it is too large
	tell        func(note string)       // adds to the notes of the report
	calibrated  bool                    // the model's scores are calibrated, see scoreCounts.calibrate
	candidates  int                     // number of candidates that were examined
	found       *comparison             // the candidates that may be matches
	probability []float64               // of each of found
	judged      []float64               // log odds of each of found by the model without labels, with regard to rivals
	rank        []float64               // value by which found is ordered
	shed        float64                 // sum of the probabilities of all other candidates

	sample  *comparison // the candidates from which the model was learned
	sampled []float64   // probability of each of sample
}

// The log odds below which a candidate is dropped if there are many. No decision makes links of pairs with a
// probability of a thousandth. Calibrated log odds are too high so far below 0, since tails fall off faster than
// tangents; with the same bound many times as many candidates would be kept.
const (
	hopeless           = -7
	calibratedHopeless = -4
)

// batch is the number of candidates that are compared at once if there are many.
var batch = 1 << 17 // tests take fewer

// learn learns the model from a sample of candidates, or takes the model of the configuration.
func (e *examiner) learn(ctx context.Context, sample []pair) (err error) {
	if e.sample, err = e.compare(ctx, e.matchers, sample); err != nil {
		return err
	}
	if m := e.config.Model; m != nil {
		e.model, e.sampled = m.base(), make([]float64, len(sample))
		e.model.probabilities(e.sample, e.rivals(ctx, e.sample), make([]float64, len(sample)), e.sampled, nil)
	} else {
		e.model, e.sampled = fitModel(ctx, e.sample, e.config.exclusive(), e.shares)
	}
	return ctx.Err()
}

// learnedModel is the note of a model.
type learnedModel struct {
	Sample     comparedFile // with the probabilities
	Prior      float64
	Evidence   []float64
	Calibrated bool
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
		e.sample = e.none()
		e.sampled, err = e.keeper.read(m.Sample, e.sample, nil)
		e.model = newModel(e.sample, e.shares)
		e.model.prior, e.model.evidence, e.calibrated = m.Prior, m.Evidence, m.Calibrated
		if err == nil {
			e.keepFinite() // shares are not in the note
		}
		return err
	}
	if err := learn(); err != nil {
		return err
	}
	e.keepFinite()
	if e.keeper.log == nil {
		return nil
	}
	m = learnedModel{Prior: e.model.prior, Evidence: e.model.evidence, Calibrated: e.calibrated}
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
		part := uint64(e.candidates+mostSampled-1) / mostSampled
		if err := e.learned("sample"+search, func() error { return e.learnPart(ctx, pairs, part) }); err != nil {
			return err
		}
		if e.found = e.sample; part <= 1 {
			return nil
		}
	}
	e.found = e.none()
	return e.keepLikely(ctx, pairs, "likely"+search)
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
	var some []pair
	for p, err := range each(ctx, pairs) {
		if err != nil {
			return err
		}
		if part <= 1 || hashing.Mix(uint64(p.A)+1)%part == 0 {
			some = append(some, pair{p.A, p.B})
		}
	}
	return e.learn(ctx, some)
}

// judge sets the probability and rank of each candidate by the model.
func (e *examiner) judge(ctx context.Context) error {
	n := len(e.found.pairs)
	e.probability, e.rank = make([]float64, n), make([]float64, n)
	e.model.probabilities(e.found, e.rivals(ctx, e.found), make([]float64, n), e.probability, e.rank)
	return ctx.Err()
}

// rivals returns the rivals of candidates for model.probabilities; nil if records may have several partners.
func (e *examiner) rivals(ctx context.Context, c *comparison) *exclusive {
	if !e.config.exclusive() {
		return nil
	}
	return newExclusive(ctx, graph{c.pairs, c.left, c.right})
}

// keepLikely compares all candidates, and keeps the results for those that may be matches.
func (e *examiner) keepLikely(ctx context.Context, pairs *candidates.Pairs, kind string) error {
	l := &likely{examiner: e, kind: kind, least: hopeless, scores: make([]float64, batch)}
	if e.calibrated {
		l.least = calibratedHopeless
	}
	if err := l.goOn(); err != nil {
		return err
	}
	some := make([]pair, 0, batch)
	e.candidates = 0
	for p, err := range each(ctx, pairs) {
		if err != nil {
			return err
		}
		if e.candidates++; e.candidates <= l.sofar.Examined {
			continue
		}
		if some = append(some, pair{e.left.Row(p.A), e.right.Row(p.B)}); len(some) == batch {
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
	by := line{0, 1}
	if e.calibrated {
		by, _ = e.model.calibrate(&l.sofar.All)
	}
	for i, n := range l.sofar.Dropped {
		e.shed += float64(n) * logistic.Probability(by.of(scoreAt(i)))
	}
	return nil
}

// likelySoFar is a note about the candidates that may be matches.
type likelySoFar struct {
	File         comparedFile
	Examined     int // number of candidates examined so far
	All, Dropped scoreCounts
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
func (l *likely) take(ctx context.Context, some []pair) error {
	c, err := l.compare(ctx, l.matchers, some)
	if err != nil {
		return err
	}
	if err := parallel(ctx, len(l.matchers), len(some), 1<<12, func(int) func(from, to int) {
		return func(from, to int) {
			for i := from; i < to; i++ {
				l.scores[i] = l.model.score(c.of(i))
			}
		}
	}); err != nil {
		return err
	}
	for i, z := range l.scores[:len(some)] {
		l.sofar.All.add(z)
		if z < l.least && (l.config.Threshold == 0 || float64(c.wholes[i]) < l.config.Threshold-1e-6) {
			l.sofar.Dropped.add(z)
			continue
		}
		l.found.take(c, i)
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
	l.noted, l.files = l.sofar.Examined, len(l.found.pairs)
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
	l.noted, l.files = l.sofar.Examined, len(l.found.pairs)
	return l.keeper.note(l.kind, &l.sofar)
}
