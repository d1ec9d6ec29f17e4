package stage

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simjoin"
)

// Buckets over the cap are hot: only pairs with a hub of the bucket are candidates. Where all pairs are needed, an exact
// join of all hot documents finds the others, as far as forecast.JoinHot finds it worth while.
// forecast.HotFeatures bounds the join, so that one task can do it, with 150 MiB at most.

// hotSets sends the sets of hot documents from stage texts to stage hot. A nil pointer sends none.
type hotSets struct {
	t     *task
	level extsort.Lookup
	of    uint64 // level of the document that was asked for last
	hot   bool   // it has one
	maker *recipe.Maker
	sizes [forecast.HotLevels]hotSize
}

type hotSize struct{ documents, features uint64 }

func newHotSets(t *task) (*hotSets, error) {
	if !t.plan.comparesHot() {
		return nil, nil
	}
	sorted, err := t.sorted(8, Hot)
	if err != nil {
		return nil, err
	}
	return &hotSets{t: t, level: t.lookup(sorted), maker: t.plan.recipe.NewMaker(recipe.MakerOptions{})}, nil
}

// has tells whether a document is hot. Positions must ascend from call to call.
func (h *hotSets) has(position uint64) bool {
	if h == nil {
		return false
	}
	h.of, h.hot = h.level.Find(position) // the lowest of its levels
	return h.hot
}

// send sends the set or signature of the document that was asked for last, if it is hot: a set unless the documents of
// this task up to its level have more features than stage hot joins at all.
func (h *hotSets) send(d *Document, payload []byte) error {
	if h == nil || !h.hot {
		return nil
	}
	level, r := h.of, h.t.plan.recipe
	if level >= forecast.HotLevels {
		return errParts
	}
	if _, hamming := r.Distance(); hamming {
		return h.t.out.add(HotSets, 0, payload, d.Position, level, 0, 0)
	}
	h.maker.Within(h.t.plan.within().of(d))
	made := h.maker.Make(d.Text)
	defer h.maker.Trim()
	h.sizes[level].documents++
	h.sizes[level].features += uint64(made.Features)
	below := uint64(0)
	for _, n := range h.sizes[:level+1] {
		below += n.features
	}
	if below > forecast.HotFeatures || !joinsHot(r) {
		return nil
	}
	return h.t.out.add(HotSets, 0, payload, d.Position, level, made.Digest[0], uint64(made.Features))
}

func (h *hotSets) end() (err error) {
	if h == nil {
		return nil
	}
	for level, n := range h.sizes {
		if n.documents > 0 {
			err = errors.Join(err, h.t.out.add(HotSizes, 0, nil, uint64(level), n.documents, n.features))
		}
	}
	return err
}

// hotJoins returns the work of stage hot.
func hotJoins(hamming bool) func(t *task) error {
	return func(t *task) error {
		documents := uint64(0)
		if err := t.each(Totals, func(r row) error { documents += r.words[0]; return nil }); err != nil {
			return err
		}
		if hamming {
			return compareNear(t, int(documents))
		}
		return joinHot(t, int(documents))
	}
}

// joinHot joins the documents of hot buckets.
func joinHot(t *task, documents int) error {
	var sizes [forecast.HotLevels]uint64
	var features [forecast.HotLevels]sides.Features
	err := t.each(HotSizes, func(r row) error {
		level, n := r.words[0], int64(r.words[2])
		if level >= forecast.HotLevels {
			return errParts
		}
		sizes[level] += r.words[1]
		if joinsHot(t.plan.recipe) {
			features[level].Left += n
			features[level].Right += n
		}
		return nil
	})
	if err != nil {
		return err
	}
	j := &hotJoin{t: t}
	end, err := forecast.JoinHot(&features, documents, j.judge, j.join)
	if err != nil {
		return err
	}
	missed := uint64(0)
	for _, n := range sizes[end:] {
		missed += n
	}
	return errors.Join(j.emit(), t.count(CountMissed, int64(missed)))
}

// hotJoin joins hot documents. Documents are numbered by their index in found.
type hotJoin struct {
	t      *task
	loaded bool
	found  []hotDocument
	edges  *extsort.Sorted // Key: the numbers of two documents, Value: bits of their similarity; nil: none
}

type hotDocument struct {
	position, level, digest uint64
	features                uint32
	set                     []uint64
}

// load loads the documents of levels below end. Each call has a lower end than the one before.
func (j *hotJoin) load(end int) error {
	if j.loaded {
		j.found = slices.DeleteFunc(j.found, func(d hotDocument) bool { return d.level >= uint64(end) })
		return nil
	}
	j.loaded = true
	return j.t.each(HotSets, func(r row) error {
		if r.words[1] >= uint64(end) {
			return nil
		}
		j.found = append(j.found, hotDocument{r.words[0], r.words[1], r.words[2], uint32(r.words[3]), wordsOf(nil, r.payload)})
		return nil
	})
}

func (j *hotJoin) judge(end int) (forecast.Forecast, error) {
	if err := j.load(end); err != nil {
		return forecast.Forecast{}, err
	}
	policy, p := j.sides(), j.t.plan
	return forecast.Of(forecast.Options{Recipe: p.recipe, Sides: &policy, Threshold: p.edges.Threshold, Cap: p.BucketCap}, j)
}

// sides says which of the loaded documents may be compared, by their numbers.
func (j *hotJoin) sides() sides.Policy {
	inputs := slices.IndexFunc(j.found, func(d hotDocument) bool { return !j.t.plan.reference(d.position) })
	if inputs < 0 {
		inputs = len(j.found)
	}
	return sides.Against(inputs)
}

// Each implements forecast.Documents.
func (j *hotJoin) Each(visit func(d forecast.Document)) error {
	for i, d := range j.found {
		visit(forecast.Document{Number: uint32(i), Features: d.features, Digest: d.digest})
	}
	return nil
}

// Sets implements forecast.Documents.
func (j *hotJoin) Sets(of []uint32, _ func(uint64) bool, visit func(number uint32, set []uint64)) error {
	for _, i := range of {
		visit(i, j.found[i].set)
	}
	return nil
}

var errManyEdges = errors.New("more edges than the limit")

// join finds the edges among the loaded documents. It returns false if there are more than limit.
func (j *hotJoin) join(_ int, limit int64) (done bool, err error) {
	sets := make([][]uint64, len(j.found))
	for i, d := range j.found {
		sets[i] = d.set
	}
	index := simjoin.NewIndex(sets, j.t.plan.edges.Threshold)
	j.edges, err = j.t.sort("hot-edges", 4, func(to *extsort.Appender) error {
		return j.eachEdge(index, limit, to)
	})
	if errors.Is(err, errManyEdges) {
		return false, nil
	}
	return true, err
}

func (j *hotJoin) eachEdge(index *simjoin.Index, limit int64, to *extsort.Appender) error {
	policy := j.sides()
	return eachMatch(j.t.ctx, index, func(m measure.Match) error {
		if !policy.Meet(uint32(m.A), uint32(m.B)) {
			return nil
		}
		if limit--; limit < 0 {
			return errManyEdges
		}
		if m.A > m.B {
			m = engine.Turned(m)
		}
		edges, n := j.t.plan.edges.Of(m, policy.Reference(uint32(m.A)))
		for _, e := range edges[:n] {
			if err := to.Add(e.A<<32|e.B, math.Float64bits(e.Similarity)); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachMatch visits the pairs of an index.
func eachMatch(ctx context.Context, x *simjoin.Index, visit func(m measure.Match) error) error {
	for g := range x.Len() {
		if err := engine.EachOfEqual(x, g, visit); err != nil {
			return err
		}
	}
	var p simjoin.Prober
	for piece := range x.Pieces() {
		if err := errors.Join(ctx.Err(), engine.EachOfPiece(x, &p, piece, visit)); err != nil {
			return err
		}
	}
	return nil
}

func (j *hotJoin) emit() error {
	if j.edges == nil {
		return nil
	}
	return j.edges.Visit(func(e extsort.Entry) error {
		return j.t.hotEdge(j.found[e.Key>>32].position, j.found[uint32(e.Key)].position, e.Value)
	})
}

// joinsHot tells whether hot documents are joined by their sets. Pairs that need several keys, or that are compared by
// signatures, are found by bands only.
func joinsHot(r recipe.Recipe) bool {
	return r.BySets() && (r.MinKeys() == 1 || r.Sample().Size > 0)
}

// hotBuckets collects the buckets over the cap of a task.
type hotBuckets struct {
	t       *task
	members *extsort.Appender // Key: a member, Value: the bucket's number
	levels  []uint8           // of the buckets
}

// withHot calls find with the buckets over the cap that it fills, counts them and, if it is needed, emits for each
// document of one the level of the smallest such bucket that contains it.
func (t *task) withHot(find func(h *hotBuckets) error) error {
	h := &hotBuckets{t: t}
	members, err := t.sort("hot", 8, func(to *extsort.Appender) error {
		h.members = to
		return find(h)
	})
	if err != nil {
		return err
	}
	last, level := uint64(0), uint8(forecast.HotLevels)
	flush := func() error {
		if level == forecast.HotLevels {
			return nil
		}
		return t.out.add(Hot, t.plan.TaskOf(last), nil, last, uint64(level))
	}
	err = members.Visit(func(e extsort.Entry) error {
		if e.Key != last {
			if err := flush(); err != nil {
				return err
			}
			last, level = e.Key, forecast.HotLevels
		}
		level = min(level, h.levels[e.Value])
		return nil
	})
	return errors.Join(err, flush(), t.count(CountCapped, int64(len(h.levels))))
}

func (h *hotBuckets) add(key, position uint64) error {
	if !h.t.plan.comparesHot() {
		return nil
	}
	if _, hamming := h.t.plan.recipe.Distance(); hamming {
		if err := h.t.out.add(HotMembers, 0, nil, key, position); err != nil {
			return err
		}
	}
	return h.members.Add(position, uint64(len(h.levels)))
}

func (h *hotBuckets) end(size int64) {
	h.levels = append(h.levels, uint8(forecast.HotLevel(size, h.t.plan.BucketCap)))
}
