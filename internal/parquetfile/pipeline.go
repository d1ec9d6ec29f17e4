package parquetfile

import (
	"context"
	"io"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// A pipeline runs jobs in parallel and writes their results in order:
//
//	producer ──► todo  ──► workers (run)
//	        └──► order ──► writer  (write, after the job's run)
//
// Workers and the writer get the jobs in the order in which they were added, so a run may wait for
// the run of an earlier job. The memory of jobs is bounded: add waits until enough of them were
// written.
type pipeline struct {
	ctx   context.Context
	todo  chan *job
	order chan *job
	room  *semaphore.Weighted
	most  int64
}

// job is one piece of the output. run and write may be nil.
type job struct {
	run    func(f *filter) error // by a worker
	write  func(o *output) error // by the writer
	weight int64                 // bytes of memory

	ran chan struct{}
}

// roomPerThread is the memory for jobs under way if File.Room does not set it. A larger page goes
// alone. With 12 MiB this happened to pages of 3 MiB and more, so that one thread had nothing to
// do.
const roomPerThread = 48 << 20

// runPipeline runs the jobs that produce adds, and returns when all of them are written. room is
// the memory for jobs under way, in bytes; 0: roomPerThread.
func runPipeline(ctx context.Context, o *output, threads int, room int64, produce func(p *pipeline) error) error {
	group, ctx := errgroup.WithContext(ctx)
	p := &pipeline{
		ctx: ctx, todo: make(chan *job, 2*threads), order: make(chan *job, 4*threads),
		most: room,
	}
	if p.most <= 0 {
		p.most = int64(threads) * roomPerThread
	}
	p.room = semaphore.NewWeighted(p.most)
	group.Go(func() (err error) {
		defer guard(&err)
		defer close(p.todo)
		defer close(p.order)
		return produce(p)
	})
	for range threads {
		group.Go(func() error { return p.work() })
	}
	group.Go(func() error { return p.writeInOrder(o) })
	return group.Wait()
}

// add passes a job to the workers and the writer.
func (p *pipeline) add(j *job) error {
	j.ran = make(chan struct{})
	j.weight = min(j.weight, p.most)
	if err := p.room.Acquire(p.ctx, j.weight); err != nil {
		return err
	}
	for _, to := range [...]chan *job{p.order, p.todo} {
		select {
		case to <- j:
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
	return nil
}

func (p *pipeline) work() error {
	f := &filter{}
	for {
		select {
		case j, more := <-p.todo:
			if !more {
				return nil
			}
			if err := j.do(f); err != nil {
				return err
			}
			close(j.ran)
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
}

func (j *job) do(f *filter) (err error) {
	defer guard(&err)
	if j.run != nil {
		err = j.run(f)
	}
	return err
}

func (p *pipeline) writeInOrder(o *output) error {
	for {
		select {
		case j, more := <-p.order:
			if !more {
				return nil
			}
			if err := p.wait(j.ran); err != nil {
				return err
			}
			if j.write != nil {
				if err := j.write(o); err != nil {
					return err
				}
			}
			p.room.Release(j.weight)
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
}

// wait returns when c is closed.
func (p *pipeline) wait(c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// output is the file that is written.
type output struct {
	w      io.Writer
	at     int64
	groups []*outGroup
}

func (o *output) write(b []byte) error {
	n, err := o.w.Write(b)
	o.at += int64(n)
	return err
}

// copyRange copies bytes of the source.
func (o *output) copyRange(ctx context.Context, r io.ReaderAt, from, to int64) error {
	buf := make([]byte, min(1<<20, to-from))
	for from < to {
		b := buf[:min(int64(len(buf)), to-from)]
		if err := readAt(r, b, from); err != nil {
			return err
		}
		if err := o.write(b); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		from += int64(len(b))
	}
	return nil
}
