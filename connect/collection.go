package connect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
)

// A collection is what passed, for all processors that have it in common: a pipeline makes one of
// them for each of its threads.
type collection struct {
	mu       sync.Mutex
	settings settings
	users    int
	index    *index.Index // nil: it is to be opened
	filter   *stream.Filter
}

// collectionKey tells the collections of a program apart: by folder or, in memory, by the label
// of the processor.
type collectionKey struct{ path, label string }

// acquire returns the collection of a processor, opened. Each call wants one of release.
func acquire(s settings, mgr *service.Resources) (*collection, error) {
	key := collectionKey{path: s.path}
	if s.path == "" {
		key.label = mgr.Label()
	}
	shared, _ := mgr.GetOrSetGeneric(key, &collection{})
	c := shared.(*collection)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users > 0 && c.settings != s {
		if s.path == "" {
			return nil, errors.New("another alike_dedupe in memory has other settings: give each a label of its own")
		}
		return nil, fmt.Errorf("another alike_dedupe has %s %q with other settings", fieldPath, s.path)
	}
	if c.users == 0 {
		c.settings = s
		if err := c.open(); err != nil {
			return nil, err
		}
	}
	c.users++
	return c, nil
}

func (c *collection) release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users > 0 {
		return nil
	}
	return c.close()
}

func (c *collection) open() error {
	o, err := c.settings.options()
	if err != nil {
		return err
	}
	var x *index.Index
	if c.settings.path == "" {
		x, err = index.New(o)
	} else {
		x, err = index.OpenOrCreate(c.settings.path, index.OpenOptions{Options: o})
	}
	if err != nil {
		return err
	}
	if c.filter, err = stream.NewFilter(x); err != nil {
		return errors.Join(err, x.Close())
	}
	c.index = x
	return nil
}

func (c *collection) close() error {
	if c.index == nil {
		return nil
	}
	x := c.index
	c.index, c.filter = nil, nil
	return x.Close()
}

// Pauses between attempts to decide: where a disk is full, it is so for long.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 30 * time.Second
)

// decide decides about messages as stream.Filter does. After an error it tries again, with the
// state opened anew, until it can or the context ends: nothing passes undecided.
func (c *collection) decide(ctx context.Context, log *service.Logger, messages []stream.Message) ([]stream.Decision, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		x, f, err := c.current()
		if err == nil {
			var decisions []stream.Decision
			if decisions, err = f.Decide(messages); err == nil {
				return decisions, nil
			}
			err = errors.Join(err, c.discard(x))
		}
		log.Errorf("%d messages wait, nothing is decided: %v; trying again in %v", len(messages), err, pause)
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

// current returns the index and its filter, opened if they are not.
func (c *collection) current() (*index.Index, *stream.Filter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index == nil {
		if err := c.open(); err != nil {
			return nil, nil, err
		}
	}
	return c.index, c.filter, nil
}

// discard closes an index on disk that takes no more writes, so that it is opened anew.
func (c *collection) discard(x *index.Index) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index != x || c.settings.path == "" || x.Err() == nil {
		return nil
	}
	return c.close()
}

// documents returns how many the window holds.
func (c *collection) documents() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index == nil {
		return 0
	}
	return c.index.Documents()
}
