package dedup

import (
	"context"
	"errors"

	"github.com/alike-dev/alike/dedup/internal/clusters"
	"github.com/alike-dev/alike/dedup/internal/contain"
	"github.com/alike-dev/alike/dedup/internal/copies"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/dedup/internal/exact"
	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/dedup/internal/group"
	"github.com/alike-dev/alike/dedup/internal/hot"
	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/dedup/internal/thirds"
	"github.com/alike-dev/alike/dedup/internal/verify"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/sides"
)

// found is the result of find.
type found struct {
	*search
	edges *extsort.Sorted // between similar representatives; see graph.Edges
	sizes *extsort.Sorted // of sets, if they are needed and the table has none
}

// find runs the stages from grouping to verified edges. It finds all edges or, if sparse, enough of
// them to connect the same documents. The result is released at the end of the run, or before
// another round.
func find(ctx context.Context, j *job, in *inputs, how choice, docs *documents, sparse bool) (f *found, err error) {
	s := &search{job: j, docs: docs, how: how, sides: docs.sides, sparse: sparse, records: reread.New(docs.storeOptions(j, how))}
	f = &found{search: s}
	j.atEnd(f.release)
	if docs.links != nil {
		s.classes, f.edges, err = takeLinks(ctx, j, in, docs)
		return f, err
	}
	if err := f.search.find(ctx, f); err != nil {
		return nil, err
	}
	if err := f.lookAgain(ctx); err != nil {
		return nil, err
	}
	return f, s.sameValues(ctx, f.edges, func(e extsort.Entry) (a, b uint32) { p := graph.PairOf(e.Key); return p.A, p.B })
}

// find fills in the edges.
func (s *search) find(ctx context.Context, f *found) error {
	join, err := s.group(ctx)
	if err == nil {
		err = s.sameValues(ctx, s.classes.Members, func(e extsort.Entry) (a, b uint32) { return uint32(e.Key), uint32(e.Value) })
	}
	if err != nil {
		return err
	}
	s.account.method(&s.how.recipe, join.exact)
	s.contained = join.exact && s.byRarest()
	if join.exact && !s.contained {
		f.edges, err = s.join(ctx, join.limit)
		if !errors.Is(err, exact.ErrManyEdges) {
			return s.counted(f, err)
		}
		s.account.method(&s.how.recipe, false)
	}
	if s.contained || s.byDistance() || !s.sparse || s.how.recipe.MinKeys() > 1 { // otherwise votes of rims, or pairs with others than hubs, count too
		err = s.all(ctx, f)
	} else {
		err = s.connecting(ctx, f)
	}
	return s.counted(f, err)
}

// lookAgain takes out the edges that the texts themselves contradict, as far as that is asked for.
func (f *found) lookAgain(ctx context.Context) error {
	if f.ThirdTexts {
		gone, err := f.without(ctx, "thirds", func() (*extsort.Sorted, int64, error) { return thirds.Left(ctx, f.thirdsOptions(), f.edges) })
		if err != nil {
			return err
		}
		f.account.Contradicted = &gone
	}
	if f.Whole {
		gone, err := f.without(ctx, "whole", func() (*extsort.Sorted, int64, error) {
			return thirds.Whole(ctx, f.thirdsOptions(), &f.sides, f.classes.Representatives, f.edges)
		})
		if err != nil {
			return err
		}
		f.account.Partial = &gone
	}
	return nil
}

// without leaves the edges that a stage of this name returns, and returns how many it does not.
func (f *found) without(ctx context.Context, name string, leave func() (left *extsort.Sorted, gone int64, err error)) (gone int64, err error) {
	err = f.account.stage(name, 0, func() (items, bytes int64, err error) {
		made, n, err := f.log.Step(ctx, "after-"+name, func() ([]*extsort.Sorted, int64, error) {
			left, n, err := leave()
			if err != nil {
				return nil, 0, errors.Join(err, f.space.ReleaseAll(left))
			}
			return []*extsort.Sorted{left}, n, nil
		}, f.space.Sorting("fresh", 8, graph.PairBits(f.docs.table.Docs)))
		if err != nil {
			return 0, 0, err
		}
		items, gone = f.edges.Len(), n
		err = f.space.Release(f.edges)
		f.edges = made[0]
		return items, 0, err
	})
	return gone, err
}

// release releases what was found; once more, it does nothing.
func (f *found) release() error {
	f.records.Close()
	err := f.space.ReleaseAll(f.edges, f.sizes)
	if f.classes != nil {
		err = errors.Join(err, f.space.ReleaseAll(f.classes.Members))
	}
	f.edges, f.sizes, f.classes = nil, nil, nil
	return err
}

// search is what the parts of find share. Nothing in it changes after group.
type search struct {
	*job
	docs      *documents
	how       choice
	sparse    bool
	records   *reread.Store // for verification
	classes   *copies.Classes
	sides     sides.Policy
	contained bool // by containment, and no pair is missed: see contain.Options.Exact
}

// group finds equal documents, and chooses how the other pairs are found.
func (s *search) group(ctx context.Context) (join joining, err error) {
	err = s.account.stage("group", 0, func() (items, bytes int64, err error) {
		t := s.docs.table
		bySet := t.HasSets && s.Method != MethodLSH
		s.classes, err = copies.Find(ctx, copies.Options{Space: s.space, Table: t, Sides: &s.sides, BySet: bySet, Threshold: s.threshold})
		if err == nil && s.sides.Apart() {
			s.sides = sides.Between(t.Left, s.classes.Both)
		}
		if err == nil {
			join, err = chooseExact(ctx, s)
		}
		return int64(t.Docs), 0, err
	})
	return join, err
}

// counted counts the pairs, unless there was an error.
func (s *search) counted(f *found, err error) error {
	if err == nil {
		s.account.pairs(f.classes.Copies, f.edges.Len())
	}
	return err
}

// byRarest tells whether exact candidates are found by containment, since a join would need the sets of all documents in
// memory.
func (s *search) byRarest() bool {
	return s.threshold.Measure().ByParts() && s.how.recipe.BySets() && !s.docs.table.HasSets
}

func (s *search) byDistance() bool {
	_, hamming := s.how.recipe.Distance()
	return hamming
}

// step makes edges, or takes those that an earlier process has made, and counts candidates.
func (s *search) step(ctx context.Context, kind string, make func() (*extsort.Sorted, int64, error)) (edges *extsort.Sorted, err error) {
	err = s.account.stage("verify", 0, func() (items, bytes int64, err error) {
		made, n, err := s.log.Step(ctx, kind, func() ([]*extsort.Sorted, int64, error) {
			edges, n, err := make()
			if err != nil {
				return nil, 0, err
			}
			return []*extsort.Sorted{edges}, n, nil
		}, s.space.Sorting("edges", 8, graph.PairBits(s.docs.table.Docs)))
		if err == nil {
			edges = made[0]
			s.account.Candidates += n
		}
		return n, 0, err
	})
	return edges, err
}

// join joins the feature sets of all representatives. It gives up at more edges than limit; 0: never.
func (s *search) join(ctx context.Context, limit int64) (*extsort.Sorted, error) {
	return s.step(ctx, "edges", func() (*extsort.Sorted, int64, error) {
		edges, err := exact.Join(ctx, s.joinOptions(), exact.Query{Docs: s.classes.Representatives, Kind: "joined", Limit: limit})
		if err != nil {
			return nil, 0, err
		}
		return edges, edges.Len(), nil
	})
}

// verify returns the edges among pairs, and counts both. It skips pairs whose documents are both in
// known: all edges of such pairs are known.
func (s *search) verify(ctx context.Context, kind string, pairs *extsort.Sorted, known bitset.Set[uint32]) (*extsort.Sorted, error) {
	return s.step(ctx, kind, func() (*extsort.Sorted, int64, error) {
		return verify.Pairs(ctx, s.verifyOptions(), verify.Query{
			Pairs: pairs, Votes: uint64(s.how.recipe.MinKeys()), Known: known, Kind: kind + "-so-far",
		})
	})
}

// all groups band keys and verifies all pairs that share a bucket. It joins the documents of
// buckets that are too large for that.
func (s *search) all(ctx context.Context, f *found) (err error) {
	met, err := s.meet(ctx, f, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, met.Release()) }()
	if s.byDistance() && met.Hot.Len() > 0 {
		pairs, err := s.withHotPairs(ctx, met)
		if err != nil {
			return err
		}
		f.edges, err = s.verify(ctx, "edges", pairs, nil)
		return errors.Join(err, s.space.Release(pairs))
	}
	joined, err := s.joinHot(ctx, met.Hot)
	if err != nil {
		return err
	}
	edges, err := s.verify(ctx, "edges", met.Pairs, joined.Docs)
	if err == nil && joined.Edges != nil {
		f.edges, err = s.graph().Merge(ctx, edges, joined.Edges)
		err = errors.Join(err, s.space.Release(edges))
	} else {
		f.edges = edges
	}
	return errors.Join(err, s.space.ReleaseAll(joined.Edges))
}

// connecting verifies spokes, and then only those other pairs that connect different clusters of
// the spokes.
func (s *search) connecting(ctx context.Context, f *found) (err error) {
	met, err := s.meet(ctx, f, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, met.Release()) }()
	edges, err := s.verify(ctx, "spoke-edges", met.Pairs, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.space.Release(edges)) }()
	var others *extsort.Sorted
	err = s.account.stage("group", 0, func() (items, bytes int64, err error) {
		labels, err := s.graph().Components(ctx, edges)
		if err != nil {
			return 0, 0, err
		}
		others, err = group.Crossing(ctx, s.groupOptions(), met, labels)
		return 0, 0, errors.Join(err, s.space.Release(labels))
	})
	if err != nil {
		return err
	}
	more, err := s.verify(ctx, "crossing-edges", others, nil)
	if err = errors.Join(err, s.space.Release(others)); err != nil {
		return errors.Join(err, s.space.ReleaseAll(more))
	}
	f.edges, err = s.graph().Merge(ctx, edges, more)
	return errors.Join(err, s.space.Release(more))
}

// meet returns the pairs that share buckets or, with containment, those where one document has
// enough of the other one's sample.
func (s *search) meet(ctx context.Context, f *found, sparse bool) (met *group.Met, err error) {
	err = s.account.stage("group", 0, func() (items, bytes int64, err error) {
		if s.contained || s.how.recipe.Sample().Size > 0 {
			var contained *contain.Found
			if contained, err = contain.Candidates(ctx, s.containOptions()); err == nil {
				met, f.sizes = &contained.Met, contained.Sizes
			}
		} else {
			met, err = group.Candidates(ctx, s.groupOptions(), sparse)
		}
		if err == nil {
			s.account.BucketsCapped = met.Capped
		}
		return int64(s.docs.table.Docs), 0, err
	})
	return met, err
}

// withHotPairs returns the candidate pairs, and the pairs within the distance that only buckets
// over the cap have. It reports for how many documents pairs may be missing.
func (s *search) withHotPairs(ctx context.Context, met *group.Met) (pairs *extsort.Sorted, err error) {
	missed := int64(0)
	err = s.account.stage("join", 0, func() (items, bytes int64, err error) {
		if pairs, missed, err = hot.Within(ctx, s.hotOptions(), met.Pairs, met.Hot); err != nil {
			return 0, 0, err
		}
		return pairs.Len(), 0, nil
	})
	s.account.ExpectedRecall = s.account.ExpectedRecall.WithoutAll(missed, int64(s.classes.Representatives.Len()))
	s.account.missed(missed, true)
	return pairs, err
}

// joinHot joins the documents in buckets over the cap, given by members, as far as that is worth
// its cost. It reports for how many documents pairs may be missing.
func (s *search) joinHot(ctx context.Context, members *extsort.Sorted) (h hot.Joined, err error) {
	if members.Len() == 0 {
		return h, nil
	}
	var levels *extsort.Sorted
	err = s.account.stage("group", 0, func() (items, bytes int64, err error) {
		levels, err = hot.Levels(ctx, s.hotOptions(), members)
		return 0, 0, err
	})
	if err != nil {
		return h, err
	}
	h.Missed = levels.Len()
	if r := &s.how.recipe; r.BySets() && (r.MinKeys() == 1 || r.Sample().Size > 0) {
		err = s.account.stage("join", 0, func() (items, bytes int64, err error) {
			if h, err = hot.Join(ctx, s.hotOptions(), levels); err != nil {
				return 0, 0, err
			}
			s.account.Candidates += h.Edges.Len()
			return h.Edges.Len(), 0, nil
		})
	}
	var lost []int64
	if err == nil && h.Missed > 0 {
		lost, err = hot.LostKeys(ctx, s.hotOptions(), members, h.Docs)
	}
	if err == nil {
		s.account.lost(lost, int64(s.classes.Representatives.Len()), &s.how.recipe)
		s.account.missed(h.Missed, false)
	}
	if err = errors.Join(err, s.space.Release(levels)); err != nil {
		return hot.Joined{}, errors.Join(err, s.space.ReleaseAll(h.Edges))
	}
	return h, nil
}

// graph is the vertex set of pairs of the run's documents.
func (s *search) graph() graph.Graph { return graph.Graph{Space: s.space, Docs: s.docs.table.Docs} }

// edgeRule says which edges pairs of sets make.
func (s *search) edgeRule() graph.Edges {
	return graph.Edges{Edges: engine.Edges{Threshold: s.threshold, RemovesParts: s.removesParts}, Sides: &s.sides}
}

func (s *search) forecastOptions() forecast.Options {
	return forecast.Options{Recipe: s.how.recipe, Sides: &s.sides, Threshold: s.threshold, Cap: s.BucketCap}
}

func (s *search) groupOptions() group.Options {
	return group.Options{
		Graph: s.graph(), Table: s.docs.table, Docs: s.classes.Representatives, Sides: &s.sides, Keys: s.how.recipe.Keys(), Threshold: s.threshold,
		Cap: s.BucketCap, Together: s.limits.together, Log: s.log, Progress: s.Progress, Meter: s.account.meter,
	}
}

func (s *search) containOptions() contain.Options {
	return contain.Options{
		Graph: s.graph(), Records: s.records, Docs: s.classes.Representatives, Sides: &s.sides,
		Sampling: engine.Sampling{Sample: s.how.recipe.Sample(), Seed: s.how.recipe.SampleSeed(), Threshold: s.threshold, Cap: s.BucketCap},
		Exact:    s.contained, Sizes: s.removesParts, Log: s.log, Progress: s.Progress,
	}
}

func (s *search) verifyOptions() verify.Options {
	return verify.Options{Graph: s.graph(), Records: s.records, Edges: s.edgeRule(), Log: s.log, Progress: s.Progress, Meter: s.account.meter}
}

func (s *search) thirdsOptions() thirds.Options {
	return thirds.Options{Graph: s.graph(), Records: s.records, Parts: s.removesParts, Progress: s.Progress, Meter: s.account.meter}
}

func (s *search) joinOptions() exact.Options {
	return exact.Options{
		Graph: s.graph(), Records: s.records, Edges: s.edgeRule(),
		IndexMost: s.limits.index, Log: s.log, Progress: s.Progress, Meter: s.account.meter,
	}
}

func (s *search) hotOptions() hot.Options {
	return hot.Options{
		Graph: s.graph(), Sides: &s.sides, Cap: s.BucketCap, Log: s.log,
		Join: s.joinOptions(), Forecast: s.forecastOptions(), Budget: s.limits.hot,
	}
}

func (f *found) clusterOptions() clusters.Options {
	o := clusters.Options{
		Graph: f.graph(), Table: f.docs.table, Sides: &f.sides, Keep: f.Keep, Star: f.Star, Whole: f.Whole, Parts: f.removesParts, Sizes: f.sizes, Verify: f.verifyOptions(),
		Sized: f.Tags != nil,
	}
	if f.docs.links != nil {
		o.Rate, o.All = f.docs.links.Similarity, f.docs.links.Undecided
	}
	return o
}

// joining says whether all sets are joined exactly.
type joining struct {
	exact bool
	limit int64 // of edges, more than which are found in vain; 0: none
}

// chooseExact decides between exact and lsh candidates. By Auto it takes the cheaper
// way according to a forecast. The choice depends only on the corpus and the settings, never on
// threads or memory, so that every run gives the same pairs.
func chooseExact(ctx context.Context, s *search) (joining, error) {
	t, r := s.docs.table, &s.how.recipe
	switch {
	case s.Method == MethodExact || r.Keys() == 0:
		return s.joining(0), nil
	case s.Method == MethodLSH || !r.BySets() || s.how.expected == MethodLSH:
		return joining{}, nil
	case r.Sample().Size > 0: // an index of all features takes many times the memory, and more time
		if t.HasSets {
			return s.joining(0), nil
		}
		return joining{}, nil
	case !t.HasSets && t.Features > s.limits.exact && r.Banding().Rows > 1:
		return joining{}, nil
	}
	f, err := forecast.Of(s.forecastOptions(), s.records.Judged(ctx, s.classes.Representatives))
	if err != nil {
		return joining{}, err
	}
	bands := f.ByBands(r.Keys(), s.sparse, setsAgain(t))
	cheaper := f.Exact()+f.Sets() <= exactAgain*bands
	if t.HasSets {
		cheaper = f.Exact() <= bands+exactSpare
	}
	if !cheaper {
		return joining{}, nil
	}
	return s.joining(f.Edges), nil
}

// joining is an exact join, for which the forecast is so many edges; 0: there is none.
func (s *search) joining(edges float64) joining {
	j := joining{exact: true}
	if s.Method == methodAuto && s.how.recipe.Banding().Rows > 1 {
		j.limit = edgesEach*int64(s.docs.table.Docs) + edgesMore
		if !s.sparse {
			j.limit += int64(edgesOver * edges)
		}
	}
	return j
}

// setsAgain tells how often the sets of candidate pairs of bands are made again.
func setsAgain(t *doctable.Table) forecast.Again {
	switch {
	case t.HasSets:
		return forecast.Never
	case verify.SetsFit(int64(t.Docs), t.Features):
		return forecast.Once
	default:
		return forecast.ForPairs
	}
}
