package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/stage"
)

// store is the place of the objects of a plan, as seen by the reader of one partition.
type store struct {
	place
	plan   *Plan
	number int                  // the partition
	stages map[string][]*object // objects of the stages that were loaded, by task, with the blocks for the partition
}

func openStore(ctx context.Context, p *Plan, buckets Buckets, number int) (*store, error) {
	at, err := openPlace(ctx, p.Work, buckets, true) // openObject detects what was not written to the end
	if err != nil {
		return nil, err
	}
	return &store{place: at, plan: p, number: number, stages: map[string][]*object{}}, nil
}

// folderOf returns the name of the folder with the objects of a stage.
func (s *store) folderOf(name string) string { return s.plan.Digest + "/" + name }

// nameOf returns the name of a task's object.
func (s *store) nameOf(name string, task int) string {
	return fmt.Sprintf("%s/%06d", s.folderOf(name), task)
}

// atOnce is how many requests run at the same time.
const atOnce = 16

// load lists the objects of a stage, with one request for each thousand, and reads their indexes.
func (s *store) load(ctx context.Context, of stage.Stage) ([]*object, error) {
	if found := s.stages[of.Name]; found != nil {
		return found, nil
	}
	objects := make([]corpus.Object, of.Tasks)
	err := s.list(ctx, s.folderOf(of.Name), func(name string, o corpus.Object) {
		var task int
		if n, err := fmt.Sscanf(name, "%d", &task); err == nil && n == 1 && task >= 0 && task < of.Tasks && name == fmt.Sprintf("%06d", task) {
			objects[task] = o
		}
	})
	if err != nil {
		return nil, &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	for task, o := range objects {
		if o.Key == "" {
			return nil, fmt.Errorf("%w: task %d of stage %s has left nothing in %s: run it first", ErrObject, task, of.Name, s.plan.Work)
		}
	}
	found := make([]*object, of.Tasks)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for task := range found {
		group.Go(func() error {
			o, err := s.openObject(within, objects[task], s.plan.header(of, task))
			if err == nil {
				o.blocks = slices.Clone(slices.DeleteFunc(o.blocks, func(e extent) bool { return e.partition != s.number }))
			}
			found[task] = o
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s.stages[of.Name] = found
	return found, nil
}

// blocks visits the blocks of a stream that a stage made for the partition.
func (s *store) blocks(ctx context.Context, of stage.Stage, stream stage.Stream, visit func(block []byte) error) error {
	objects, err := s.load(ctx, of)
	if err != nil {
		return err
	}
	for _, o := range objects {
		i, found := slices.BinarySearchFunc(o.blocks, extent{stream: stream, partition: s.number}, compareExtents)
		if !found {
			continue
		}
		if err := s.extent(ctx, o, o.blocks[i], visit); err != nil {
			return err
		}
	}
	return nil
}

// extent visits the blocks of an extent of an object.
func (s *store) extent(ctx context.Context, o *object, e extent, visit func(block []byte) error) error {
	r, err := s.openRange(ctx, o.Object, e.offset, e.length)
	if err != nil {
		return err
	}
	err = eachBlock(bufio.NewReaderSize(r, 256<<10), e.length, func(h stage.Header) error {
		if h.Plan != s.plan.ID() || h.Task != o.header.Task || h.Stream != e.stream || h.Partition != e.partition {
			return fmt.Errorf("%w: %s is in the place of another one", stage.ErrBlock, h)
		}
		return nil
	}, visit)
	err = errors.Join(err, r.Close())
	switch {
	case errors.Is(err, stage.ErrBlock) || errors.Is(err, io.ErrUnexpectedEOF):
		return damaged(o.Object, err)
	case err != nil:
		return fmt.Errorf("%s: %w", o.Key, err)
	}
	return nil
}

// eachBlock visits blocks that follow each other in length bytes of r, if check finds nothing wrong with their headers.
func eachBlock(r io.Reader, length int64, check func(stage.Header) error, visit func(block []byte) error) error {
	var block []byte
	for length > 0 {
		block = scratch.Buffer(block, stage.HeaderBytes)
		if _, err := io.ReadFull(r, block); err != nil {
			return unexpected(err)
		}
		h, err := stage.ParseHeader(block)
		if err == nil {
			err = check(h)
		}
		if err != nil {
			return err
		}
		size := int64(stage.HeaderBytes + h.Bytes)
		if size > length {
			return fmt.Errorf("%w: %s is longer than what is left", stage.ErrBlock, h)
		}
		whole := scratch.Buffer(block[:cap(block)], int(size))
		copy(whole, block[:stage.HeaderBytes])
		block = whole
		if _, err := io.ReadFull(r, block[stage.HeaderBytes:]); err != nil {
			return unexpected(err)
		}
		if err := visit(block); err != nil {
			return err
		}
		length -= size
	}
	return nil
}

// done returns the object of a task that need not be run again; nil: it must be. The task must have left its own, whole
// object. If it has also written results, these and all blocks must be what it wrote: nothing later would notice.
func (s *store) done(ctx context.Context, of stage.Stage, task int, buckets Buckets) (*object, error) {
	found, err := s.stat(ctx, s.nameOf(of.Name, task))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, durable.ErrForeign):
		return nil, nil
	case err != nil:
		return nil, &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	o, err := s.openObject(ctx, found, s.plan.header(of, task))
	if err == nil && (of.Name == stage.Write || of.Name == stage.Publish) {
		err = errors.Join(s.checkBlocks(ctx, o), s.plan.checkFiles(ctx, o.header.Files, buckets))
	}
	if errors.Is(err, ErrObject) || errors.Is(err, errNotWritten) {
		return nil, nil
	}
	return o, err
}

// checkBlocks reads all blocks of an object.
func (s *store) checkBlocks(ctx context.Context, o *object) error {
	for _, e := range o.blocks {
		err := s.extent(ctx, o, e, func(block []byte) error {
			return stage.EachRow(block, s.plan.ID(), e.stream, func([]uint64, []byte) error { return ctx.Err() })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// leave writes the object of a task from the blocks that make emits. make may add to the header.
func (s *store) leave(ctx context.Context, space *scratch.Space, h *header, make func(to stage.Output) error) (err error) {
	made, err := newCollector(space)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.file.Close()) }()
	if err := make(made); err != nil {
		return err
	}
	to, err := s.create(ctx, s.nameOf(h.Stage, h.Task))
	if err != nil {
		return &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	defer to.Abort()
	if err := made.publish(to, h); err != nil {
		return err
	}
	return to.Commit()
}

// documents visits the blocks of documents that Pack wrote for the task.
func (s *store) documents(ctx context.Context, visit func(block []byte) error) error {
	found, err := s.stat(ctx, s.nameOf(packing.Name, s.number))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: part %d of the documents is not in %s: pack it first", ErrObject, s.number, s.plan.Work)
	}
	if err != nil {
		return &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	o, err := s.openObject(ctx, found, s.plan.header(packing, s.number))
	if err != nil {
		return err
	}
	for _, e := range o.blocks {
		if err := s.extent(ctx, o, e, visit); err != nil {
			return err
		}
	}
	return nil
}
