package dedup

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// chooseExact decides between exact and lsh candidates under CandidatesAuto.
// The choice depends on the corpus alone, never on threads or memory, so that
// every way of running gives the same pairs. Exact costs less where the feature
// sets are kept anyway (see retainMax), and where bands of a single row would
// propose every pair that shares a feature or two.
func chooseExact(config *Config, banding lsh.Params, haveSets bool) bool {
	switch config.Candidates {
	case CandidatesExact:
		return true
	case CandidatesLSH:
		return false
	}
	return config.Verify == VerifyExact && (haveSets || banding.Rows <= 1)
}

// probeChunk is how many sets a worker takes at once.
const probeChunk = 64

// chunk is a run of representatives' feature sets in memory.
type chunk struct {
	docs  []uint32
	sets  [][]uint64
	index *simjoin.Index
	whole *simjoin.SearchIndex // index is a part of it; nil: there is nothing behind the chunk
	next  uint32               // first document behind it
}

// joiner finds all pairs of representatives at or above the threshold with a
// prefix-filter index over the feature sets. Where not all sets fit in memory
// they are joined by chunks: each with itself, and with all sets behind it. That
// reads the sets once for each chunk; the pairs are the same.
type joiner struct {
	r     *run
	edges *extsort.Sorter
	to    []*extsort.Appender
	count atomic.Int64 // edges so far
	limit int64        // of them; 0: any number
}

// errManyEdges says that a join has gone over its limit. Whether it does depends on
// the corpus alone.
var errManyEdges = errors.New("more similar pairs than an exact join is good for")

// A join that was not asked for is given up when it has found more edges than
// edgesEach for each document, and some: a large cluster can be known without
// finding all its pairs.
const (
	edgesEach = 32
	edgesMore = 1 << 20
)

// joined is a note of how far a join is.
type joined struct {
	stored        // edges
	Next   uint32 // first document of the next chunk
}

// joinedKind is the kind of those notes.
const joinedKind = "joined"

// joinExact returns the edges.
func (r *run) joinExact(ctx context.Context) (*extsort.Sorted, error) {
	o := r.work.sorting("edges", 8, r.table.keyBits())
	var before joined
	if found, err := r.work.log.last(joinedKind, &before); err != nil {
		return nil, err
	} else if found {
		o.Runs = before.Runs[0]
	}
	edges, err := extsort.New(o)
	if err != nil {
		return nil, err
	}
	j := &joiner{r: r, edges: edges, to: appenders(edges, r.work.threads)}
	j.count.Store(before.Count)
	if r.config.Candidates == CandidatesAuto && r.banding.Rows > 1 {
		j.limit = edgesEach*int64(r.table.n) + edgesMore
	}
	return r.work.ended(ctx, edges, j.join(ctx, before.Next))
}

func (j *joiner) join(ctx context.Context, next uint32) error {
	for int(next) < j.r.table.n {
		c, err := j.load(next)
		if err != nil {
			return err
		}
		if err = j.within(ctx, c); err == nil {
			err = j.behind(ctx, c)
		}
		if err := flush(j.to, err); err != nil {
			return err
		}
		next = c.next
		if !j.r.work.log.due() {
			continue
		}
		runs, err := j.edges.Save(ctx)
		if err != nil {
			return err
		}
		if err := j.r.work.log.note(joinedKind, joined{stored{[][]extsort.Run{runs}, j.count.Load()}, next}); err != nil {
			return err
		}
	}
	return nil
}

// load reads sets from a document on, as many as may be in memory, and indexes
// them.
func (j *joiner) load(next uint32) (*chunk, error) {
	r := j.r
	limit := r.work.share(2)
	c := &chunk{}
	sets := r.table.scanner()
	features := 0
	for ; int(next) < r.table.n; next++ {
		if !r.classes.active.has(next) {
			continue
		}
		set := sets.set(next)
		if sets.err != nil {
			return nil, sets.err
		}
		if limit > 0 && len(c.docs) > 0 && simjoin.SearchIndexBytes(len(c.docs)+1, features+len(set))+8*int64(features) > limit {
			break
		}
		if !sets.segment.resident {
			set = slices.Clone(set)
		}
		features += len(set)
		c.docs, c.sets = append(c.docs, next), append(c.sets, set)
	}
	c.next = next
	if int(next) == r.table.n {
		c.index = simjoin.NewIndex(c.sets, r.threshold)
	} else {
		c.whole = simjoin.NewSearchIndex(c.sets, r.threshold)
		c.index = &c.whole.Index
	}
	c.sets = nil
	return c, nil
}

// within joins a chunk with itself. Equal sets are in one class, so a group of the
// index is one document.
func (j *joiner) within(ctx context.Context, c *chunk) error {
	return j.parallel(ctx, c.index.Len(), func(to *extsort.Appender, p *simjoin.Prober, g int) error {
		x := c.docs[c.index.Members(g)[0]]
		for _, m := range c.index.Matches(p, g) {
			if err := j.add(to, x, c.docs[c.index.Members(m.Group)[0]], c.index.Size(g), m); err != nil {
				return err
			}
		}
		return nil
	})
}

// behind joins a chunk with all sets behind it.
func (j *joiner) behind(ctx context.Context, c *chunk) error {
	t := j.r.table
	if c.whole == nil {
		return nil
	}
	var next atomic.Int64
	next.Store(int64(t.blockOf(c.next)))
	group, ctx := errgroup.WithContext(ctx)
	for worker := range j.r.work.threads {
		group.Go(func() error {
			var p simjoin.Prober
			sets := t.scanner()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(t.blocks) {
					return nil
				}
				b := &t.blocks[i]
				for doc := max(b.firstDoc, c.next); doc < b.firstDoc+b.docs; doc++ {
					if !j.r.classes.active.has(doc) {
						continue
					}
					set := sets.set(doc)
					if sets.err != nil {
						return sets.err
					}
					for _, m := range c.whole.Search(&p, set) {
						if err := j.add(j.to[worker], doc, c.docs[c.index.Members(m.Group)[0]], len(set), m); err != nil {
							return err
						}
					}
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// parallel calls visit for 0 … n−1 from all workers.
func (j *joiner) parallel(ctx context.Context, n int, visit func(to *extsort.Appender, p *simjoin.Prober, i int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range j.r.work.threads {
		group.Go(func() error {
			var p simjoin.Prober
			for ctx.Err() == nil {
				start := int(next.Add(probeChunk)) - probeChunk
				if start >= n {
					return nil
				}
				end := min(start+probeChunk, n)
				for i := start; i < end; i++ {
					if err := visit(j.to[worker], &p, i); err != nil {
						return err
					}
				}
				j.r.config.Progress.Advance(int64(end-start), 0)
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// add adds an edge of x, whose set has size features, unless it joins two references.
func (j *joiner) add(to *extsort.Appender, x, y uint32, size int, m simjoin.GroupMatch) error {
	a, b := min(x, y), max(x, y)
	if b < uint32(j.r.table.refs) {
		return nil
	}
	if n := j.count.Add(1); j.limit > 0 && n > j.limit {
		return errManyEdges
	}
	return to.Add(pair{a, b}.key(), math.Float64bits(measure.Jaccard.Similarity(uint64(m.Intersection), uint64(size), uint64(m.Size))))
}
