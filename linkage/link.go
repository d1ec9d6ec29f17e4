package linkage

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/model"
)

// Join finds the links between two tables, or within one. The links are the same for any number of threads.
func Join(ctx context.Context, c Config) (*Result, error) {
	t, err := prepare(ctx, &c, true)
	if err != nil {
		return nil, err
	}
	r, err := t.link(ctx, &c)
	if err = errors.Join(err, t.memory.Close()); err != nil {
		return nil, errors.Join(err, t.keeper.log.Close(false))
	}
	r.log = t.keeper.log
	return r, nil
}

// prepare completes a configuration and reads its tables. With keep, finished steps are noted in the work
// folder, if there is one.
func prepare(ctx context.Context, c *Config, keep bool) (*tables, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	if c.OnSkip == nil {
		c.OnSkip = func(*corpus.Problem) {}
	}
	if c.Threads <= 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if c.Match == "" {
		if c.Match = Mutual; c.Right == "" {
			c.Match = All
		}
	}
	c.limits.complete()
	return openTables(ctx, c, keep)
}

// link finds candidates, compares them, and decides.
func (t *tables) link(ctx context.Context, c *Config) (*Result, error) {
	if t.left.Rows() == 0 || t.right != nil && t.right.Rows() == 0 {
		return t.result, nil
	}
	e, err := t.examineAs(ctx, c)
	if err != nil {
		return nil, err
	}
	return t.result, t.decide(ctx, e)
}

// examine finds candidates, compares them, and computes the probability of each.
//
// long: the steps of a join in their order, each a call with its error.
func (t *tables) examine(ctx context.Context, c *Config, as assumption) (*examiner, error) {
	if !as.later {
		t.numbering.Finish()
		if err := t.holdAll(); err != nil {
			return nil, err
		}
	}
	in := t.input(c)
	whole, err := compare.NewRecords(ctx, in)
	if err != nil {
		return nil, err
	}
	comparer, err := compare.NewComparer(ctx, in)
	if err != nil {
		return nil, err
	}
	e := &examiner{Comparer: comparer, config: c, assumption: as, keeper: &t.keeper, matchers: whole.NewMatchers(c.Threads), grown: t.mayHold}
	e.sources = t.sourcesOf(c.Sources)
	e.around = func(ctx context.Context, c *compare.Comparison, within []compare.Pair) (*model.Surroundings, error) {
		return t.surroundings(ctx, whole, e, c, within)
	}
	r := t.result
	e.tell = func(note string) {
		if !slices.Contains(r.Notes, note) { // each number of candidates has a fit of its own
			r.Notes = append(r.Notes, note)
		}
	}
	r.matcher, r.only = e.matchers[0], t.left
	if err := t.useDistances(ctx, e); err != nil {
		return nil, err
	}
	if e.shares, err = comparer.Shares(ctx, c.Threads, t.counts(), c.limits.strangers); err != nil {
		return nil, err
	}
	if r.Left+r.Right > c.limits.many && c.Candidates == "" {
		err = t.findMany(ctx, e)
	} else {
		err = t.findFew(ctx, e, whole)
	}
	if err != nil {
		return nil, err
	}
	r.Candidates, r.Disputed = e.candidates, e.disputed
	t.memory.held += bytesOf(e.found)
	t.report(e.sample, e.sampled, e.model)
	if err := t.settle(ctx, e); err != nil {
		return nil, err
	}
	if err := e.judge(ctx); err != nil {
		return nil, err
	}
	e.judged = e.rank
	var ch model.Chance
	if e.onePartner && t.right != nil && !c.bySimilarity() {
		if ch, err = t.newChance(ctx, whole, e); err != nil {
			return nil, err
		}
	}
	if c.Model != nil {
		e.probability, e.rank, err = e.correct(ctx, c.Model.weights())
	}
	// Chance is measured by the scores of the model without labels. If labels have changed the model, the
	// bound would undo the change, and would not fit the model's threshold.
	if c.Model == nil || c.Model.Learned.Strength == 0 {
		ch.Bound(e.found, e.model, t.counts(), e.probability)
	}
	if e.verdicts != nil {
		e.verdicts.believe(e.found.Pairs, e.probability)
	}
	return e, err
}

// settle leaves the candidates that known links and verdicts leave.
func (t *tables) settle(ctx context.Context, e *examiner) (err error) {
	c := e.config
	if len(c.Known) > 0 {
		e.known = t.findKnown(c.Known)
		t.result.Known = len(c.Known) - e.known.absent
		e.found = e.known.free(e.found, c.Match)
	}
	if e.verdicts, err = t.findVerdicts(c); err == nil && e.verdicts != nil {
		e.found, err = e.verdicts.candidates(ctx, e)
	}
	return err
}

// findMany finds and examines the candidates of many records.
func (t *tables) findMany(ctx context.Context, e *examiner) error {
	v, err := t.vocabulary(ctx, e.config.Threads)
	if err != nil {
		return err
	}
	if t.right != nil { // newChance uses them too
		e.items = v
	}
	if err := e.learned("sample"+e.suffix()+"-0", func() error {
		sample, err := t.closest(ctx, e.config, v, learnedFrom)
		if err != nil {
			return err
		}
		return e.learn(ctx, sample, true)
	}); err != nil {
		return err
	}
	pairs, err := t.sharingOnce(ctx, e.config, v)
	if err != nil {
		return err
	}
	return e.examine(ctx, pairs, "-0")
}

// findFew finds and examines the candidates of few records.
func (t *tables) findFew(ctx context.Context, e *examiner, whole *compare.Records) error {
	for k := firstK; ; k *= 4 {
		search := fmt.Sprintf("-%d", k)
		pairs, err := t.findOnce(ctx, t.search(e.config, k), "pairs"+search, func() (*candidates.Pairs, error) { return t.nearest(ctx, e.config, whole, k) })
		if err != nil {
			return err
		}
		e.model = nil
		if err := e.examine(ctx, pairs, search); err != nil {
			return err
		}
		if e.onePartner || k >= lastK || t.result.Search.Method != candidates.TopK {
			return nil
		}
		if err := e.judge(ctx); err != nil {
			return err
		}
		if !crowded(e.found, e.probability, k) {
			return nil
		}
	}
}

// crowded tells whether some records have so many matches among their k candidates that they may have more.
func crowded(c *compare.Comparison, probability []float64, k int) bool {
	degree := make([]float64, max(c.Left, c.Right))
	full := 0
	for i, p := range c.Pairs {
		degree[p.A] += probability[i]
		if c.Right == 0 {
			degree[p.B] += probability[i]
		}
	}
	for _, d := range degree {
		if d > 0.7*float64(k) {
			full++
		}
	}
	return full*100 > len(degree)
}
