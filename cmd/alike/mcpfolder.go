package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/alike-dev/alike"
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
	if err := c.look(ctx); err != nil {
		return err
	}
	return f(c.searcher, c.opened.Index)
}

// look opens the folder's index unless it is open and was looked at a moment ago, or is as it was. A searcher knows the sizes
// of documents by then, and its caches are warm: what it has is given up for a change only.
func (c *openFolder) look(ctx context.Context) error {
	if c.opened != nil {
		if time.Since(c.looked) <= freshFor {
			return nil
		}
		current, err := c.opened.Current(ctx)
		if err != nil {
			return err
		}
		if current {
			c.looked = time.Now()
			return nil
		}
	}
	opened, err := among.Open(ctx, c.o)
	if err != nil {
		return err
	}
	if err := c.closeOpened(); err != nil {
		return errors.Join(err, opened.Index.Close())
	}
	c.opened, c.searcher, c.looked = opened, opened.Index.NewSearcher(), time.Now()
	c.searcher.UseSizes(opened.Sizes)
	return nil
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
	groups, err := alike.Groups(ctx, config)
	if err != nil {
		return nil, err
	}
	var all []mcpserver.Cluster
	for _, g := range groups {
		all = append(all, mcpserver.Cluster(g))
	}
	return all, nil
}
