// Package memlog has a log in memory, and ways in which a log fails, for tests of package ordered and its users.
package memlog

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/alike-dev/alike/internal/ordered"
)

// A Log is a log. Clients of it are ordered.Logs.
type Log struct {
	Now func() time.Time // the log's clock

	mu        sync.Mutex
	changed   chan struct{} // closed when something changes
	made      bool
	first     uint64
	entries   [][]byte
	times     []int64 // of the entries
	answering map[*Client]func([]byte) []byte
}

// New returns a log that no client has made.
func New() *Log {
	return &Log{Now: time.Now, changed: make(chan struct{}), first: 1, answering: map[*Client]func([]byte) []byte{}}
}

// A Client is a connection to the log.
type Client struct {
	log *Log
	// Down cuts the client off. Lost has entries appended, and errors returned.
	Down, Lost bool
	// Stale is the last entry that Bounds knows of, as of a server that no longer leads; 0: it knows all.
	Stale uint64
	// Drop loses each entry of so many that is sent; 0: none.
	Drop int
	Most int

	sent int
}

// Client returns a new connection.
func (l *Log) Client() *Client { return &Client{log: l, Most: 1 << 20} }

// Set changes how a client fails.
func (c *Client) Set(change func(c *Client)) {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	change(c)
	c.log.change()
}

func (l *Log) change() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Cut loses the last n entries.
func (l *Log) Cut(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.times = l.entries[:len(l.entries)-n], l.times[:len(l.times)-n]
	l.change()
}

// Entries returns all entries, the first of which has that number.
func (l *Log) Entries() (first uint64, entries [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first, append([][]byte{}, l.entries...)
}

func (l *Log) Put(entry []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(entry)
}

func (l *Log) add(entry []byte) {
	l.entries, l.times = append(l.entries, append([]byte{}, entry...)), append(l.times, l.Now().UnixNano())
	l.change()
}

var errDown = errors.New("memlog: cut off")

// locked calls use with the log locked, unless the client is cut off.
func (c *Client) locked(ctx context.Context, use func(l *Log) error) error {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	if c.Down {
		return errDown
	}
	return errors.Join(ctx.Err(), use(c.log))
}

// Open implements ordered.Log.
func (c *Client) Open(ctx context.Context, first uint64) error {
	return c.locked(ctx, func(l *Log) error {
		if !l.made {
			l.made, l.first = true, first
		}
		return nil
	})
}

// Send implements ordered.Log.
func (c *Client) Send(entry []byte) error {
	drop := false
	c.Set(func(c *Client) {
		if c.Drop > 0 {
			c.sent++
			drop = c.sent%c.Drop == 0
		}
	})
	if drop {
		return nil
	}
	return c.Append(context.Background(), entry)
}

// Append implements ordered.Log.
func (c *Client) Append(ctx context.Context, entry []byte) error {
	return c.locked(ctx, func(l *Log) error {
		if len(entry) > c.Most {
			return ordered.ErrTooLarge
		}
		l.add(entry)
		if c.Lost {
			return errDown
		}
		return nil
	})
}

// Follow implements ordered.Log.
func (c *Client) Follow(ctx context.Context, from uint64, visit ordered.Visit) error {
	for {
		var entry []byte
		var at int64
		var changed chan struct{}
		err := c.locked(ctx, func(l *Log) error {
			changed = l.changed
			switch next := l.first + uint64(len(l.entries)); {
			case from < l.first:
				return ordered.ErrTrimmed
			case from > next:
				return ordered.ErrShort
			case from < next:
				entry, at = l.entries[from-l.first], l.times[from-l.first]
			}
			return nil
		})
		if err != nil {
			return err
		}
		if entry == nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-changed:
			}
			continue
		}
		lent := bytes.Clone(entry)
		err = visit(from, at, lent)
		clear(lent) // who kept it sees that
		if err != nil {
			return err
		}
		from++
	}
}

// Bounds implements ordered.Log.
func (c *Client) Bounds(ctx context.Context) (first, last uint64, err error) {
	err = c.locked(ctx, func(l *Log) error {
		first, last = l.first, l.first+uint64(len(l.entries))-1
		if c.Stale > 0 {
			last = min(last, c.Stale)
		}
		return nil
	})
	return first, last, err
}

// Trim implements ordered.Log.
func (c *Client) Trim(ctx context.Context, before uint64) error {
	return c.locked(ctx, func(l *Log) error {
		for l.first < before && len(l.entries) > 0 {
			l.first, l.entries, l.times = l.first+1, l.entries[1:], l.times[1:]
		}
		return nil
	})
}

// MostBytes implements ordered.Log.
func (c *Client) MostBytes() int { return c.Most }

// Ask implements ordered.Log.
func (c *Client) Ask(ctx context.Context, question []byte) (answer []byte, err error) {
	var all []func([]byte) []byte
	err = c.locked(ctx, func(l *Log) error {
		for other, f := range l.answering {
			if !other.Down {
				all = append(all, f)
			}
		}
		return nil
	})
	for _, f := range all {
		if answer := f(question); answer != nil {
			return answer, nil
		}
	}
	return nil, errors.Join(err, errors.New("memlog: nobody answers"))
}

// Answer implements ordered.Log.
func (c *Client) Answer(answer func(question []byte) []byte) (stop func(), err error) {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.log.answering[c] = answer
	return func() {
		c.log.mu.Lock()
		defer c.log.mu.Unlock()
		delete(c.log.answering, c)
	}, nil
}
