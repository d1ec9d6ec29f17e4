package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/among"
	"github.com/alike-dev/alike/mcpserver"
	"github.com/alike-dev/alike/shingle"
)

// openIndex is an index as a collection.
type openIndex struct {
	x         *index.Index
	searchers sync.Pool
}

func (c *openIndex) Use(_ context.Context, f func(*index.Searcher, *index.Index) error) error {
	s, ok := c.searchers.Get().(*index.Searcher)
	if !ok {
		s = c.x.NewSearcher()
	}
	defer c.searchers.Put(s)
	return f(s, c.x)
}

func (c *openIndex) Clusters(context.Context, float64) ([]mcpserver.Cluster, error) {
	return nil, mcpserver.ErrNoClusters
}

// freshFor is how long a folder is not looked at again.
const freshFor = 2 * time.Second

// openFolder is a folder as a collection. One question is answered at a time: an answer takes milliseconds.
type openFolder struct {
	o        among.Options
	config   alike.Config
	features shingle.Options

	mu       sync.Mutex
	opened   *among.Opened
	searcher *index.Searcher
	looked   time.Time
}

func (c *openFolder) Use(ctx context.Context, f func(*index.Searcher, *index.Index) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened == nil || time.Since(c.looked) > freshFor {
		opened, err := among.Open(ctx, c.o)
		if err != nil {
			return err
		}
		if err := c.closeOpened(); err != nil {
			return errors.Join(err, opened.Index.Close())
		}
		c.opened, c.searcher, c.looked = opened, opened.Index.NewSearcher(), time.Now()
		c.searcher.UseSizes(opened.Sizes)
	}
	return f(c.searcher, c.opened.Index)
}

func (c *openFolder) closeOpened() error {
	if c.opened == nil {
		return nil
	}
	x := c.opened.Index
	c.opened, c.searcher = nil, nil
	return x.Close()
}

func (c *openFolder) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.closeOpened() // it was only read
}

func (c *openFolder) Clusters(ctx context.Context, threshold float64) ([]mcpserver.Cluster, error) {
	config := c.config
	config.Signatures, config.Decide = dedup.OfShingles{Options: c.features}, dedup.Similarity{Threshold: threshold}
	config.OnSkip = nil
	number, ids := map[string]uint32{}, []string{}
	var edges []cluster.Edge
	var similarities []float64
	_, err := alike.Pairs(ctx, config, func(p alike.Pair) error {
		var e [2]uint32
		for i, id := range []string{string(p.A), string(p.B)} {
			n, known := number[id]
			if !known {
				n = uint32(len(ids))
				number[id], ids = n, append(ids, id)
			}
			e[i] = n
		}
		edges, similarities = append(edges, cluster.Edge{A: e[0], B: e[1]}), append(similarities, p.Similarity)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return clustersOf(ids, edges, similarities), nil
}

// clustersOf groups documents that edges connect, the largest group first.
func clustersOf(ids []string, edges []cluster.Edge, similarities []float64) []mcpserver.Cluster {
	labels := cluster.Components(len(ids), edges)
	groups := map[uint32]*mcpserver.Cluster{}
	for i, label := range labels {
		if groups[label] == nil {
			groups[label] = &mcpserver.Cluster{Least: 1}
		}
		groups[label].IDs = append(groups[label].IDs, ids[i])
	}
	for i, e := range edges {
		g := groups[labels[e.A]]
		g.Least = min(g.Least, similarities[i])
	}
	var all []mcpserver.Cluster
	for i, label := range labels {
		if uint32(i) == label {
			all = append(all, *groups[label])
		}
	}
	slices.SortStableFunc(all, func(a, b mcpserver.Cluster) int { return cmp.Compare(len(b.IDs), len(a.IDs)) })
	return all
}
