// Package roomtest has what tests of several rooms of linkage share.
package roomtest

import (
	"context"
	"sync"
	"sync/atomic"
)

// EndsAt is a context that ends when it is asked for the n-th time whether it has, so that a test
// counts steps and no time matters. Asked counts on after that.
type EndsAt struct {
	context.Context
	n     int64
	Asked atomic.Int64
	once  sync.Once
	done  chan struct{}
}

// NewEndsAt returns a context that ends when it is asked for the n-th time.
func NewEndsAt(n int64) *EndsAt {
	return &EndsAt{Context: context.Background(), n: n, done: make(chan struct{})}
}

// Done implements context.Context.
func (e *EndsAt) Done() <-chan struct{} { return e.done }

// Err implements context.Context, and counts.
func (e *EndsAt) Err() error {
	if e.Asked.Add(1) < e.n {
		return nil
	}
	e.once.Do(func() { close(e.done) })
	return context.Canceled
}
