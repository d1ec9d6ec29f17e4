package dedup

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/bitset"
	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/contain"
	"github.com/alike-dev/alike/dedup/internal/copies"
	"github.com/alike-dev/alike/dedup/internal/exact"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/group"
	"github.com/alike-dev/alike/dedup/internal/hot"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/verify"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/lsh"
)

// find runs the stages from grouping to verified edges. It finds all edges or, if sparse, enough of
// them to connect the same documents.
func (r *run) find(ctx context.Context, sparse bool) error {
	if r.links != nil {
		return r.takeLinks(ctx)
	}
	r.records = reread.New(r.storeOptions())
	join := false
	err := r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		bySet := r.table.HasSets && r.config.Candidates != CandidatesLSH
		r.classes, err = copies.Find(ctx, copies.Options{Space: r.work, Table: r.table, Sides: &r.sides, BySet: bySet, Threshold: r.threshold})
		if err == nil && r.sides.Apart() {
			r.sides = sides.Between(r.table.Left, r.classes.Both)
		}
		if err == nil {
			join, err = r.chooseExact(ctx, sparse)
		}
		return int64(r.table.Docs), 0, err
	})
	if err != nil {
		return err
	}
	r.describe(join)
	switch _, hamming := r.recipe.Distance(); {
	case hamming: // all pairs, even for clusters: in buckets over the cap, pairs with hubs would not suffice
		err = r.findAll(ctx)
	case join:
		err = r.findExact(ctx, sparse)
		if errors.Is(err, exact.ErrManyEdges) {
			r.describe(false)
			err = r.findByBands(ctx, sparse)
		}
	default:
		err = r.findByBands(ctx, sparse)
	}
	if err == nil {
		r.count()
	}
	return err
}

// findByBands finds candidates by bands and verifies them.
func (r *run) findByBands(ctx context.Context, sparse bool) error {
	if sparse && r.recipe.MinKeys() == 1 { // otherwise the votes of rims count too
		return r.findSparse(ctx)
	}
	return r.findAll(ctx)
}

// findExact joins the feature sets.
func (r *run) findExact(ctx context.Context, sparse bool) error {
	return r.clock.stage("verify", 0, func() (items, bytes int64, err error) {
		edges, n, err := r.log.Step(ctx, "edges", func() ([]*extsort.Sorted, int64, error) {
			edges, err := exact.Join(ctx, r.joinOptions(), r.joinAll(sparse))
			if err != nil {
				return nil, 0, err
			}
			return []*extsort.Sorted{edges}, edges.Len(), nil
		}, r.work.Sorting("edges", 8, graph.PairBits(r.table.Docs)))
		if err == nil {
			r.edges = edges[0]
			r.summary.Candidates += n
		}
		return n, 0, err
	})
}

// findAll groups band keys and verifies all pairs that share a bucket. It joins the documents of
// buckets that are too large for that.
func (r *run) findAll(ctx context.Context) (err error) {
	met, err := r.meet(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, met.Release()) }()
	if _, hamming := r.recipe.Distance(); hamming && met.Hot.Len() > 0 {
		pairs, err := r.withHotPairs(ctx, met)
		if err != nil {
			return err
		}
		r.edges, err = r.verify(ctx, "edges", pairs, nil)
		return errors.Join(err, r.work.Release(pairs))
	}
	joined, err := r.joinHot(ctx, met.Hot)
	if err != nil {
		return err
	}
	edges, err := r.verify(ctx, "edges", met.Pairs, joined.Docs)
	if err == nil && joined.Edges != nil {
		r.edges, err = r.graph().Merge(ctx, edges, joined.Edges)
		err = errors.Join(err, r.work.Release(edges))
	} else {
		r.edges = edges
	}
	return errors.Join(err, r.work.ReleaseAll(joined.Edges))
}

// findSparse verifies spokes, and then only those other pairs that connect different clusters of
// the spokes.
func (r *run) findSparse(ctx context.Context) (err error) {
	met, err := r.meet(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, met.Release()) }()
	edges, err := r.verify(ctx, "spoke-edges", met.Pairs, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.work.Release(edges)) }()
	var others *extsort.Sorted
	err = r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		labels, err := r.graph().Components(ctx, edges)
		if err != nil {
			return 0, 0, err
		}
		others, err = group.Crossing(ctx, r.groupOptions(), met, labels)
		return 0, 0, errors.Join(err, r.work.Release(labels))
	})
	if err != nil {
		return err
	}
	more, err := r.verify(ctx, "crossing-edges", others, nil)
	if err = errors.Join(err, r.work.Release(others)); err != nil {
		return errors.Join(err, r.work.ReleaseAll(more))
	}
	r.edges, err = r.graph().Merge(ctx, edges, more)
	return errors.Join(err, r.work.Release(more))
}

// meet returns the pairs that share buckets or, with containment, those where one document has
// enough of the other one's sample.
func (r *run) meet(ctx context.Context, sparse bool) (met *group.Met, err error) {
	err = r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		if r.recipe.Sample().Size > 0 {
			met, r.sizes, err = r.contained(ctx)
		} else {
			met, err = group.Candidates(ctx, r.groupOptions(), sparse)
		}
		if err == nil {
			r.summary.BucketsCapped = met.Capped
		}
		return int64(r.table.Docs), 0, err
	})
	return met, err
}

func (r *run) contained(ctx context.Context) (met *group.Met, sizes *extsort.Sorted, err error) {
	found, err := contain.Candidates(ctx, contain.Options{
		Graph: r.graph(), Records: r.records, Docs: r.classes.Representatives, Sides: &r.sides,
		Sampling: engine.Sampling{Sample: r.recipe.Sample(), Seed: r.recipe.SampleSeed(), Threshold: r.threshold, Cap: r.config.BucketCap}, Sizes: r.removesParts, Log: r.log, Progress: r.config.Progress,
	})
	if err != nil {
		return nil, nil, err
	}
	return &found.Met, found.Sizes, nil
}

func (r *run) groupOptions() group.Options {
	return group.Options{
		Graph: r.graph(), Table: r.table, Docs: r.classes.Representatives, Sides: &r.sides, Keys: r.recipe.Keys(), Threshold: r.threshold,
		Cap: r.config.BucketCap, Together: r.config.limits.together, Log: r.log, Progress: r.config.Progress, Meter: r.clock.meter,
	}
}

// verify returns the edges among pairs, and counts both. It skips pairs whose documents are both in
// known: all edges of such pairs are known.
func (r *run) verify(ctx context.Context, kind string, pairs *extsort.Sorted, known bitset.Set) (edges *extsort.Sorted, err error) {
	err = r.clock.stage("verify", 0, func() (items, bytes int64, err error) {
		found, n, err := r.log.Step(ctx, kind, func() ([]*extsort.Sorted, int64, error) {
			edges, n, err := verify.Pairs(ctx, r.verifyOptions(), verify.Query{
				Pairs: pairs, Votes: uint64(r.recipe.MinKeys()), Known: known, Kind: kind + "-so-far",
			})
			if err != nil {
				return nil, 0, err
			}
			return []*extsort.Sorted{edges}, n, nil
		}, r.work.Sorting("edges", 8, graph.PairBits(r.table.Docs)))
		if err == nil {
			edges = found[0]
			r.summary.Candidates += n
		}
		return n, 0, err
	})
	return edges, err
}

func (r *run) clusterOptions() clusters.Options {
	o := clusters.Options{
		Graph: r.graph(), Table: r.table, Sides: &r.sides, Keep: r.config.Keep, Star: r.config.Star, Parts: r.removesParts, Sizes: r.sizes, Verify: r.verifyOptions(),
	}
	if r.links != nil {
		o.Rate = r.links.Similarity
	}
	return o
}

func (r *run) verifyOptions() verify.Options {
	return verify.Options{Graph: r.graph(), Records: r.records, Edges: r.edgeRule(), Log: r.log, Progress: r.config.Progress, Meter: r.clock.meter}
}

// describe records in the summary how candidates are found.
func (r *run) describe(exact bool) {
	s := r.summary
	if exact {
		s.CandidateMethod, s.ExpectedRecall = string(CandidatesExact), 1
		return
	}
	if _, hamming := r.recipe.Distance(); hamming {
		s.CandidateMethod, s.Bands, s.ExpectedRecall = "blocks", r.recipe.Keys(), 1
		return
	}
	s.CandidateMethod = string(CandidatesLSH)
	if sample := r.recipe.Sample(); sample.Size > 0 {
		s.Sample, s.ExpectedRecall = sample.Size, sample.Probability(r.threshold.Float())
		return
	}
	banding := r.recipe.Banding()
	s.Bands, s.Rows = banding.Bands, banding.Rows
	least, _ := r.threshold.LeastJaccard()
	s.ExpectedRecall = banding.Probability(r.recipe.Agreement(least))
}

// count fills in the numbers of pairs. A copy is a candidate that is verified by its digest.
func (r *run) count() {
	s := r.summary
	s.Candidates += r.classes.Copies
	s.Verified = r.edges.Len() + r.classes.Copies
	s.Rejected = s.Candidates - s.Verified
}

// withHotPairs returns the candidate pairs, and the pairs within the distance that only buckets
// over the cap have. It reports for how many documents pairs may be missing.
func (r *run) withHotPairs(ctx context.Context, met *group.Met) (pairs *extsort.Sorted, err error) {
	missed := int64(0)
	err = r.clock.stage("join", 0, func() (items, bytes int64, err error) {
		if pairs, missed, err = hot.Within(ctx, r.hotOptions(), met.Pairs, met.Hot); err != nil {
			return 0, 0, err
		}
		return pairs.Len(), 0, nil
	})
	if missed > 0 {
		r.config.OnNotice(setting.Textf("documents in buckets of more than %d: %d were not compared with all of their buckets, only with the first %d and some others, "+
			"so pairs of them may be missing; raise %s, or take a smaller %s", r.config.BucketCap, missed, lsh.Hubs, setting.BucketCap, setting.Distance))
	}
	return pairs, err
}

// joinHot joins the documents in buckets over the cap, given by members, as far as that is worth
// its cost. It reports for how many documents pairs may be missing.
func (r *run) joinHot(ctx context.Context, members *extsort.Sorted) (h hot.Joined, err error) {
	if members.Len() == 0 {
		return h, nil
	}
	var levels *extsort.Sorted
	err = r.clock.stage("group", 0, func() (items, bytes int64, err error) {
		levels, err = hot.Levels(ctx, r.hotOptions(), members)
		return 0, 0, err
	})
	if err != nil {
		return h, err
	}
	h.Missed = levels.Len()
	if r.recipe.BySets() && (r.recipe.MinKeys() == 1 || r.recipe.Sample().Size > 0) {
		err = r.clock.stage("join", 0, func() (items, bytes int64, err error) {
			if h, err = hot.Join(ctx, r.hotOptions(), levels); err != nil {
				return 0, 0, err
			}
			r.summary.Candidates += h.Edges.Len()
			return h.Edges.Len(), 0, nil
		})
	}
	if err == nil && h.Missed > 0 {
		r.config.OnNotice(setting.Textf("documents in buckets of more than %d: %d were compared with the first %d of their buckets only, "+
			"so pairs of them may be missing; raise %s, or find them with %s exact", r.config.BucketCap, h.Missed, lsh.Hubs, setting.BucketCap, setting.Candidates))
	}
	if err = errors.Join(err, r.work.Release(levels)); err != nil {
		return hot.Joined{}, errors.Join(err, r.work.ReleaseAll(h.Edges))
	}
	return h, nil
}

func (r *run) hotOptions() hot.Options {
	return hot.Options{
		Graph: r.graph(), Sides: &r.sides, Cap: r.config.BucketCap, Log: r.log,
		Join: r.joinOptions(), Forecast: r.forecastOptions(), Budget: r.config.limits.hot,
	}
}
