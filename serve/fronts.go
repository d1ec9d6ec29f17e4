package serve

import (
	"context"
	"errors"
	"sync"
)

// fronts are those of a server.
type fronts struct {
	mu  sync.Mutex
	all []endingFront
}

type endingFront interface {
	Close() error
	end(ctx context.Context) error
}

func (f *fronts) add(one endingFront) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, one)
}

func (f *fronts) end(ctx context.Context) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		err = errors.Join(err, one.Close(), one.end(ctx))
	}
	return err
}
