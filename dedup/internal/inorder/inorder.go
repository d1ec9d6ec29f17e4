// Package inorder reads sources block by block: several workers process blocks, and what they made is taken in the order
// of the input.
package inorder

import (
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
)

// A Block is a block of a source, or its end.
type Block struct {
	File *corpus.File // nil: it could not be opened
	At   int          // number of the source
	corpus.Block
	End bool  // there is no block: the source ends here
	Err error // with End: why, if not because it is whole

	turn int64
}

// Options say what to read.
type Options struct {
	Sources []corpus.Source
	Corpus  corpus.Options
	Threads int
	Wanted  func(file int) bool            // of sources that are opened; nil: all
	Skip    func(file int, seq int64) bool // blocks to leave out, asked in order; nil: none
}

// Steps are what happens to each block. Take and Commit are called in the order of the input, one at a time each; Work by
// several workers.
type Steps struct {
	Take   func(worker int, b *Block) error // before Work; may be nil
	Work   func(worker int, b *Block) error
	Commit func(worker int, b *Block) error
}

// Each processes all blocks. A source is open until its end is committed.
func Each(ctx context.Context, o Options, s Steps) error {
	group, inner := errgroup.WithContext(ctx)
	e := &each{Options: o, Steps: s, ctx: inner}
	e.committed.L = &e.order
	stop := context.AfterFunc(inner, func() {
		e.order.Lock()
		defer e.order.Unlock()
		e.committed.Broadcast()
	})
	defer stop()
	for worker := range o.Threads {
		group.Go(func() error { return e.work(worker) })
	}
	err := group.Wait()
	if e.file != nil {
		err = errors.Join(err, e.file.Close())
	}
	return err
}

type each struct {
	Options
	Steps
	ctx context.Context

	mu    sync.Mutex // held while a block is taken
	at    int        // number of the source that is next, or read
	file  *corpus.File
	turns int64

	order     sync.Mutex
	committed sync.Cond
	turn      int64 // that is next to commit
}

func (e *each) work(worker int) error {
	b := &Block{}
	defer b.Release()
	for {
		if b.Admitted() { // the worker that takes the next block may be waiting for it
			b.Release()
		}
		more, err := e.take(worker, b)
		if err != nil || !more {
			return err
		}
		if err := e.Work(worker, b); err != nil {
			return errors.Join(err, e.close(b))
		}
		if err := e.commit(worker, b); err != nil {
			return err
		}
	}
}

// take takes the next block. more is false at the end of the input.
func (e *each) take(worker int, b *Block) (more bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.ctx.Err(); err != nil {
		return false, err
	}
	for e.file == nil && e.at < len(e.Sources) && e.Wanted != nil && !e.Wanted(e.at) {
		e.at++
	}
	if e.at == len(e.Sources) {
		return false, nil
	}
	b.At, b.End, b.Err = e.at, false, nil
	if e.file == nil {
		e.open(b)
	}
	if b.File = e.file; b.File != nil {
		if err := b.File.Next(&b.Block); err != nil {
			b.End = true
			if err != io.EOF { // compared directly: an error of damage may wrap one
				b.Err = err
			}
		}
	}
	if b.End {
		e.file = nil // closed when this is committed
		e.at++
	}
	if errors.Is(b.Err, corpus.ErrUnavailable) {
		return false, errors.Join(b.Err, e.close(b))
	}
	b.turn = e.turns
	e.turns++
	if e.Take != nil {
		err = e.Take(worker, b)
	}
	return err == nil, err
}

// open opens the next source, or makes the block its end.
func (e *each) open(b *Block) {
	file, err := corpus.Open(e.ctx, e.Sources[e.at], e.Corpus)
	if err != nil {
		b.End, b.Err = true, err
		return
	}
	if e.Skip != nil {
		at := e.at
		file.Skip(func(seq int64) bool { return e.Skip(at, seq) })
	}
	e.file = file
}

func (e *each) commit(worker int, b *Block) error {
	e.order.Lock()
	defer e.order.Unlock()
	for e.turn < b.turn && e.ctx.Err() == nil {
		e.committed.Wait()
	}
	if err := e.ctx.Err(); err != nil {
		return errors.Join(err, e.close(b))
	}
	err := e.Commit(worker, b)
	if err = errors.Join(err, e.close(b)); err == nil {
		e.turn++
		e.committed.Broadcast()
	}
	return err
}

// close closes the source at its end.
func (e *each) close(b *Block) error {
	if !b.End || b.File == nil {
		return nil
	}
	return b.File.Close()
}
