// Package intake reads files of records with several goroutines and commits their results in the order of
// the input.
//
//	files → blocks   → Prepare           → Commit
//	        any one    any order, at the   in order of the input,
//	                   same time           one at a time
//
// There is no queue: a goroutine that has prepared a block waits until it is its turn, and
// commits it. So as many blocks are under way as there are goroutines.
package intake

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/alike-dev/alike/corpus"
)

// A Worker handles blocks, one after the other. It belongs to one goroutine. An error of any
// method ends the reading, as its result.
type Worker interface {
	// Prepare handles the records of a block, of which the first line is that number of the
	// file, from 0 on.
	Prepare(f *corpus.File, b *corpus.Block, line int64) error
	// Commit completes the block that was prepared last.
	Commit() error
	// Damaged is told, in order, of what ends a file early.
	Damaged(p *corpus.Problem) error
}

// Read reads sources, in order, with as many goroutines as there are workers. opened, if set, is called
// for each source before its blocks, but perhaps before blocks of earlier sources are committed. When
// Read returns, all goroutines have ended, except one that is blocked in a read from a stream when ctx
// ends: it ends with that read, and touches only its worker's block.
func Read(ctx context.Context, sources []corpus.Source, o corpus.Options, opened func(*corpus.File) error, workers []Worker) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &reader{ctx: ctx, sources: sources, options: o, opened: opened, cancel: cancel}
	r.changed = sync.NewCond(&r.mu)
	ended := make(chan struct{})
	left := len(workers)
	for _, w := range workers {
		go func() {
			err := r.work(w)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.end(err)
			if left--; left == 0 {
				close(ended)
			}
		}()
	}
	select {
	case <-ended:
	case <-ctx.Done():
		r.mu.Lock()
		r.end(ctx.Err())
		for r.busy > 0 { // all but those inside Next
			r.changed.Wait()
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

type reader struct {
	ctx     context.Context
	sources []corpus.Source
	options corpus.Options
	opened  func(*corpus.File) error // nil: nobody asks
	cancel  context.CancelFunc

	mu      sync.Mutex
	changed *sync.Cond
	err     error
	stopped bool
	busy    int   // goroutines that do anything but wait for Next
	number  int   // of the sources that were opened
	file    *file // the last one
}

// file is a source that is being read.
type file struct {
	*corpus.File       // nil: it could not be opened
	before       *file // the one before it, until that is complete
	inside       int   // goroutines inside Next
	handed       int64 // blocks that Next has returned
	committed    int64
	damage       *corpus.Problem
	ended        bool

	lines  map[int64]int64 // of blocks, by number, until starts has them
	starts map[int64]int64 // the first lines of blocks, until they are asked for
	read   int64           // blocks in starts
	line   int64           // the first one after these
}

// isTurn tells whether all files before it are complete.
func (f *file) isTurn() bool {
	if f.before != nil && f.before.complete() {
		f.before = nil
	}
	return f.before == nil
}

func (f *file) complete() bool {
	return f.isTurn() && f.ended && f.inside == 0 && f.committed == f.handed && f.damage == nil
}

// close closes the file when nobody needs it any more.
func (f *file) close() error {
	if f.File == nil || !f.ended || f.inside > 0 || f.committed < f.handed {
		return nil
	}
	opened := f.File
	f.File = nil
	return opened.Close()
}

// end makes all goroutines end. The first error counts. The caller has the lock.
func (r *reader) end(err error) {
	if err != nil && !r.stopped {
		r.err, r.stopped = err, true
		r.cancel()
	}
	r.changed.Broadcast()
}

// work handles blocks until there are none.
func (r *reader) work(w Worker) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy++
	defer func() { r.busy-- }()
	var b corpus.Block
	for !r.stopped {
		f, err := r.current()
		if f == nil || err != nil {
			return err
		}
		err = r.next(f, &b)
		if r.stopped {
			return nil
		}
		if err != nil {
			if err := r.ending(f, err, w); err != nil {
				return err
			}
			continue
		}
		if err := r.handle(f, &b, w); err != nil {
			return err
		}
	}
	return nil
}

// current returns the file to read from, nil when all are read. The caller has the lock.
func (r *reader) current() (*file, error) {
	for r.file == nil || r.file.ended {
		if r.number == len(r.sources) {
			return nil, nil
		}
		f := &file{lines: map[int64]int64{}, starts: map[int64]int64{}, before: r.file}
		source := r.sources[r.number]
		r.number++
		opened, err := corpus.Open(r.ctx, source, r.options)
		var problem *corpus.Problem
		switch {
		case errors.As(err, &problem) && r.lasting(err):
			f.ended, f.damage = true, problem
		case err != nil:
			return nil, err
		}
		f.File = opened
		r.file = f
		if opened != nil && r.opened != nil {
			if err := r.opened(opened); err != nil {
				return nil, err
			}
		}
		if f.damage != nil {
			return f, nil
		}
	}
	return r.file, nil
}

// next is corpus.File.Next without the lock.
func (r *reader) next(f *file, b *corpus.Block) error {
	if f.File == nil {
		return io.EOF
	}
	f.inside++
	r.busy--
	if r.stopped {
		r.changed.Broadcast()
	}
	opened := f.File
	r.mu.Unlock()
	err := opened.Next(b)
	r.mu.Lock()
	r.busy++
	f.inside--
	if err == nil {
		f.handed++
		f.lines[b.Seq] = b.Lines
		for n, ok := f.lines[f.read]; ok; n, ok = f.lines[f.read] {
			delete(f.lines, f.read)
			f.starts[f.read] = f.line
			f.line += n
			f.read++
		}
		r.changed.Broadcast()
	}
	return err
}

// lasting tells whether an error says something of the file, and not of the way to it or of
// the context: another run would meet it too, so that what is lost is counted as skipped.
func (r *reader) lasting(err error) bool {
	return !errors.Is(err, corpus.ErrUnavailable) && r.ctx.Err() == nil
}

// ending handles the end of a file, whether it is what it should be or damage.
func (r *reader) ending(f *file, err error, w Worker) error {
	f.ended = true
	var problem *corpus.Problem
	if errors.As(err, &problem) && r.lasting(err) {
		f.damage = problem
	} else if err != io.EOF {
		return err
	}
	r.changed.Broadcast()
	if f.damage == nil {
		return f.close()
	}
	for !r.stopped && (!f.isTurn() || f.inside > 0 || f.committed < f.handed) {
		r.changed.Wait()
	}
	if r.stopped {
		return nil
	}
	problem, f.damage = f.damage, nil
	r.changed.Broadcast()
	return errors.Join(f.close(), w.Damaged(problem))
}

// handle prepares a block and commits it when it is its turn.
func (r *reader) handle(f *file, b *corpus.Block, w Worker) error {
	for _, known := f.starts[b.Seq]; !known && !r.stopped; _, known = f.starts[b.Seq] {
		r.changed.Wait() // another goroutine has the block before, and is about to say so
	}
	line := f.starts[b.Seq]
	delete(f.starts, b.Seq)
	opened := f.File
	r.mu.Unlock()
	err := w.Prepare(opened, b, line)
	r.mu.Lock()
	for err == nil && !r.stopped && (!f.isTurn() || f.committed != b.Seq) {
		r.changed.Wait()
	}
	if err != nil || r.stopped {
		return err
	}
	r.mu.Unlock()
	err = w.Commit() // nobody else's turn comes before committed grows
	r.mu.Lock()
	f.committed++
	r.changed.Broadcast()
	return errors.Join(err, f.close())
}
