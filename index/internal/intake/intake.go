// Package intake reads files of records with several goroutines and commits their results in the order of
// the input.
//
//	files → blocks   → Prepare           → Commit
//	        any one    any order, at the   in order of the input,
//	                   same time           one at a time
//
// There is no queue: a goroutine that has prepared a block waits for its turn and then commits it. So there
// is at most one block in memory for each goroutine.
package intake

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/alike-dev/alike/corpus"
)

// A Worker handles one block after the other. It belongs to one goroutine. If a method returns an error, Read
// stops and returns that error.
type Worker interface {
	// Prepare handles the records of a block. Workers call it at the same time and in any order. line is the
	// number of the block's first line in the file, from 0 on.
	Prepare(f *corpus.File, b *corpus.Block, line int64) error
	// Commit completes the block that was prepared last. Commit and Damaged are called for one worker at a
	// time, in the order of the input.
	Commit() error
	// Damaged receives the problem because of which the rest of a file, or all of it, cannot be read.
	Damaged(p *corpus.Problem) error
}

// Read reads sources in order, with one goroutine for each worker. opened, if not nil, is called for each
// source before its blocks are prepared; blocks of earlier sources may not be committed then.
//
// When Read returns, all goroutines have ended, with one exception: if ctx ends while a goroutine is blocked
// in a read from a stream, the goroutine ends after that read. It calls no method of its worker.
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

// reader is the state of one Read. All methods of reader and file are called with the lock, except work.
type reader struct {
	ctx     context.Context
	sources []corpus.Source
	options corpus.Options
	opened  func(*corpus.File) error // may be nil
	cancel  context.CancelFunc

	mu      sync.Mutex // for the fields below and for files
	changed *sync.Cond // any of them has changed
	err     error      // the result of Read
	stopped bool       // after an error: goroutines are to end
	busy    int        // goroutines that run and are not inside Next
	number  int        // sources that were opened so far
	file    *file      // the last of them
}

// file is a source that is being read.
type file struct {
	*corpus.File                 // nil if it could not be opened, or is closed
	before       *file           // the previous file; nil when that is complete
	inside       int             // goroutines inside Next
	handed       int64           // blocks that Next has returned
	committed    int64           // blocks
	damage       *corpus.Problem // not given to a worker yet
	ended        bool            // Next has returned io.EOF or an error

	// Next returns blocks to goroutines in any order. The first line of a block is known when all blocks
	// before it are there.
	lines  map[int64]int64 // number of lines of each block that came before an earlier one
	starts map[int64]int64 // first line of each block whose goroutine has not asked for it yet
	read   int64           // number of the first block that is not there yet
	line   int64           // its first line
}

// isTurn tells whether all files before it are complete.
func (f *file) isTurn() bool {
	if f.before != nil && f.before.complete() {
		f.before = nil
	}
	return f.before == nil
}

// complete tells whether this file and all files before it are read and committed.
func (f *file) complete() bool {
	return f.isTurn() && f.committedAll() && f.damage == nil
}

// committedAll tells whether the file has ended and all its blocks are committed.
func (f *file) committedAll() bool { return f.ended && f.inside == 0 && f.committed == f.handed }

// close closes the file if all its blocks are committed.
func (f *file) close() error {
	if f.File == nil || !f.committedAll() {
		return nil
	}
	opened := f.File
	f.File = nil
	return opened.Close()
}

// end records how a goroutine has ended. After the first error all others are to end too.
func (r *reader) end(err error) {
	if err != nil && !r.stopped {
		r.err, r.stopped = err, true
		r.cancel()
	}
	r.changed.Broadcast()
}

// work handles blocks until there are none. It takes the lock, and gives it back while it reads, prepares and
// commits.
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

// current returns the file to read from, or nil when all files are read.
func (r *reader) current() (*file, error) {
	if r.file != nil && !r.file.ended {
		return r.file, nil
	}
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
		return f, r.opened(opened)
	}
	return f, nil
}

// next calls corpus.File.Next without the lock, and records what is needed to find the lines of blocks.
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

// lasting tells whether an error is a property of the file: then another run would meet it too, and the
// lost records count as skipped. Failed connections and a context that has ended are not.
func (r *reader) lasting(err error) bool {
	return !errors.Is(err, corpus.ErrUnavailable) && r.ctx.Err() == nil
}

// ending handles the end of a file: io.EOF, or an error of Next. If the file is damaged, it waits until all
// earlier blocks are committed and gives the problem to the worker.
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
	for !r.stopped && f.damage != nil && !(f.isTurn() && f.committedAll()) {
		r.changed.Wait()
	}
	switch {
	case r.stopped:
		return nil
	case f.damage == nil: // another worker has given it to its own
		return f.close()
	}
	problem, f.damage = f.damage, nil
	r.changed.Broadcast()
	return errors.Join(f.close(), w.Damaged(problem))
}

// handle prepares a block, waits for its turn, and commits it.
func (r *reader) handle(f *file, b *corpus.Block, w Worker) error {
	for _, known := f.starts[b.Seq]; !known && !r.stopped; _, known = f.starts[b.Seq] {
		r.changed.Wait() // another goroutine is about to record an earlier block
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
	err = w.Commit() // alone: the next turn begins when committed grows
	r.mu.Lock()
	f.committed++
	r.changed.Broadcast()
	return errors.Join(err, f.close())
}
