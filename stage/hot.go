package stage

import (
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/simjoin"
)

// Buckets over the cap are hot: only pairs with a hub of the bucket are candidates. For Pairs, an exact
// join of all hot documents finds the other pairs, as far as forecast.JoinHot finds it worth while.
// forecast.HotFeatures bounds the join, so that one task can do it, with 150 MiB at most.

// joinsHot tells whether hot documents are joined. Pairs that need several keys, or that are compared
// by signatures, are found by bands only.
func joinsHot(r recipe.Recipe) bool { return r.BySets() && r.MinKeys() == 1 }

// hotSets sends the sets of hot documents from stage texts to stage hot. A nil pointer sends none.
type hotSets struct {
	t      *task
	sorted *extsort.Sorted
	level  extsort.Lookup
	maker  *recipe.Maker
	sizes  [forecast.HotLevels]hotSize
}

type hotSize struct{ documents, features uint64 }

func (t *task) newHotSets() (*hotSets, error) {
	if t.plan.Command != Pairs {
		return nil, nil
	}
	sorted, err := t.sorted(8, Hot)
	if err != nil {
		return nil, err
	}
	return &hotSets{t: t, sorted: sorted, level: extsort.NewLookup(sorted), maker: t.plan.recipe.NewMaker(recipe.MakerOptions{})}, nil
}

// send sends the set of a document if it is hot, unless the documents of this task up to its level
// have more features than stage hot joins at all.
func (h *hotSets) send(d *Document, set []byte) error {
	if h == nil {
		return nil
	}
	level, found := h.level.Find(d.Position) // the lowest of its levels
	if !found {
		return nil
	}
	if level >= forecast.HotLevels {
		return errParts
	}
	made := h.maker.Make(d.Text)
	defer h.maker.Trim()
	h.sizes[level].documents++
	h.sizes[level].features += uint64(made.Features)
	below := uint64(0)
	for _, n := range h.sizes[:level+1] {
		below += n.features
	}
	if below > forecast.HotFeatures || !joinsHot(h.t.plan.recipe) {
		return nil
	}
	return h.t.out.add(HotSets, 0, set, d.Position, level, made.Digest[0], uint64(made.Features))
}

func (h *hotSets) close() (err error) {
	if h == nil {
		return nil
	}
	for level, n := range h.sizes {
		if n.documents > 0 {
			err = errors.Join(err, h.t.out.add(HotSizes, 0, nil, uint64(level), n.documents, n.features))
		}
	}
	return errors.Join(err, h.level.Close(), h.sorted.Close())
}

// hot joins the documents of hot buckets.
func hot(t *task) error {
	documents := uint64(0)
	if err := t.each(Totals, func(r row) error { documents += r.words[0]; return nil }); err != nil {
		return err
	}
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
	end, err := forecast.JoinHot(&features, int(documents), j.judge, j.join)
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
	all, r := sides.Self(), j.t.plan.recipe
	return forecast.Of(forecast.Options{Recipe: r, Sides: &all, Threshold: r.Threshold(), Cap: j.t.plan.BucketCap}, j)
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
	index := simjoin.NewIndex(sets, j.t.plan.recipe.Threshold())
	j.edges, err = j.t.space.Sorted(j.t.ctx, j.t.space.Sorting("hot-edges", 4, 64), func(to *extsort.Appender) error {
		return j.eachEdge(index, limit, to)
	})
	if errors.Is(err, errManyEdges) {
		return false, nil
	}
	return true, err
}

func (j *hotJoin) eachEdge(index *simjoin.Index, limit int64, to *extsort.Appender) error {
	of := j.t.plan.recipe.Threshold().Measure()
	add := func(a, b uint32, inter, sizeA, sizeB uint32) error {
		if limit--; limit < 0 {
			return errManyEdges
		}
		similarity := of.Similarity(uint64(inter), uint64(sizeA), uint64(sizeB))
		return to.Add(uint64(min(a, b))<<32|uint64(max(a, b)), math.Float64bits(similarity))
	}
	for g := range index.Len() {
		own, size := index.Members(g), uint32(index.Size(g))
		for i, a := range own {
			for _, b := range own[i+1:] {
				if err := add(a, b, size, size, size); err != nil {
					return err
				}
			}
		}
	}
	var p simjoin.Prober
	for piece := range index.Pieces() {
		if err := j.t.ctx.Err(); err != nil {
			return err
		}
		for m := range index.Pairs(&p, piece) {
			for _, a := range index.Members(m.B) {
				for _, b := range index.Members(m.A) {
					if err := add(a, b, m.Intersection, uint32(index.Size(m.B)), uint32(index.Size(m.A))); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// emit emits the edges.
func (j *hotJoin) emit() error {
	if j.edges == nil {
		return nil
	}
	err := j.edges.Visit(func(e extsort.Entry) error {
		a, b := j.found[e.Key>>32].position, j.found[uint32(e.Key)].position
		return j.t.out.add(HotEdges, j.t.plan.TaskOf(a), nil, a, b, e.Value)
	})
	return errors.Join(err, j.edges.Close())
}
