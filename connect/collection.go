package connect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
)

// A collection holds the messages that passed. The threads of a pipeline share one processor; several processors
// share a collection if they say so, see acquire.
type collection struct {
	mu       sync.Mutex
	settings settings
	users    int          // processors
	index    *index.Index // nil: not open
	filter   *stream.Filter
	unnamed  atomic.Int64 // messages so far of which nothing tells which they are
}

// collectionKey identifies a collection that processors may share: by its folder or, in memory, by their label.
type collectionKey struct{ path, label string }

// acquire returns the collection for a processor and opens it if need be. Processors with the same path share one, and
// those in memory with the same label, which Benthos makes of one configuration (copies of an input, say). A processor
// in memory without a label has its own: nothing says that another one is to know of its messages. The processor must
// call release.
func acquire(s settings, mgr *service.Resources) (*collection, error) {
	c, key := &collection{}, collectionKey{path: s.path}
	if s.path == "" {
		key.label = mgr.Label()
	}
	if key != (collectionKey{}) {
		shared, _ := mgr.GetOrSetGeneric(key, c)
		c = shared.(*collection)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users > 0 && !c.settings.equal(s) {
		if s.path == "" {
			return nil, fmt.Errorf("another alike_dedupe in memory has the label %q and other settings: give each a label of its own", mgr.Label())
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

// release ends the use of the collection by one processor. The last one closes it.
func (c *collection) release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users > 0 {
		return nil
	}
	return c.close()
}

// open opens the index, or makes it. The caller has the lock.
func (c *collection) open() error {
	var x *index.Index
	var err error
	if o := c.settings.options; c.settings.path == "" {
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

// close closes the index. The caller has the lock.
func (c *collection) close() error {
	if c.index == nil {
		return nil
	}
	x := c.index
	c.index, c.filter = nil, nil
	return x.Close()
}

// Pauses between attempts to decide. They double, since a full disk often stays full for a long time.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 30 * time.Second
)

// decide calls stream.Filter.Decide. After an error it opens the index again and retries, until it succeeds or
// the context ends: no message passes undecided.
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

// current returns the index and its filter, and opens them if need be.
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

// discard closes an index in a folder that takes no more writes, so that current opens it again.
func (c *collection) discard(x *index.Index) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index != x || c.settings.path == "" || x.Err() == nil {
		return nil
	}
	return c.close()
}

// documents returns the number of documents in the window.
func (c *collection) documents() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index == nil {
		return 0
	}
	return c.index.Documents()
}
