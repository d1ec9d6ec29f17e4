package dedup

import (
	"context"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/simjoin"
)

// chooseExact decides between exact and lsh candidates under CandidatesAuto.
// The choice depends on the corpus alone, never on threads or memory, so that
// every way of running gives the same pairs. Exact costs less where the feature
// sets are held anyway (see retainMax), and where bands of a single row would
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

// probeChunk is how many groups of the index a worker takes at once.
const probeChunk = 64

// joinExact finds all pairs of representatives at or above the threshold with a
// prefix-filter index over the feature sets. Sets that turn out equal although
// their documents repeat features differently are joined to one class in c.
func joinExact(ctx context.Context, t *table, c *classes, config *Config, threshold simjoin.Threshold) ([]edge, error) {
	sets := make([][]uint64, len(t.docs))
	for i := range sets {
		if doc := uint32(i); t.compared(doc) && c.isRep(doc) {
			sets[i] = t.sets[i]
		}
	}
	index := simjoin.NewIndex(sets, threshold)
	c.joinGroups(index)
	found := make([][]edge, config.Threads)
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range config.Threads {
		group.Go(func() error {
			var prober simjoin.Prober
			for ctx.Err() == nil {
				start := int(next.Add(probeChunk)) - probeChunk
				if start >= index.Len() {
					return nil
				}
				end := min(start+probeChunk, index.Len())
				for g := start; g < end; g++ {
					x := index.Members(g)[0]
					for _, m := range index.Matches(&prober, g) {
						y := index.Members(m.Group)[0]
						if min(x, y) < uint32(t.refs) && max(x, y) < uint32(t.refs) {
							continue
						}
						found[worker] = append(found[worker], edge{min(x, y), max(x, y), float64(m.Inter) / float64(m.Union)})
					}
				}
				config.Progress.Advance(int64(end-start), 0)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	edges := slices.Concat(found...)
	slices.SortFunc(edges, edge.compare)
	return edges, nil
}

// joinGroups makes one class of the classes whose representatives the index
// found to have equal sets.
func (c *classes) joinGroups(index *simjoin.Index) {
	changed := false
	for g := range index.Len() {
		reps := index.Members(g)
		if len(reps) < 2 {
			continue
		}
		changed = true
		var members []uint32
		for _, rep := range reps {
			c.each(rep, func(doc uint32) { members = append(members, doc) })
			if i, ok := c.index[rep]; ok {
				c.members[i] = nil
			}
		}
		slices.Sort(members)
		for _, doc := range members {
			c.rep[doc] = members[0]
		}
		c.members = append(c.members, members)
	}
	if changed {
		c.reindex()
	}
}
