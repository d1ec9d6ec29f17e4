package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/stage"
)

// store is the place of the objects of a plan, as seen by the task of a stage.
type store struct {
	place
	plan   *Plan
	reader string               // the stage, or the step of one
	number int                  // of the task, and of the partition that it reads
	stages map[string][]*object // objects of the stages that were loaded, by task, with the blocks for the reader
}

func openStore(ctx context.Context, p *Plan, buckets Buckets, reader string, number int) (*store, error) {
	at, err := openPlace(ctx, p.Work, buckets, true) // openObject detects what was not written to the end
	if err != nil {
		return nil, err
	}
	return (&store{place: at, plan: p}).as(reader, number), nil
}

// as returns the store as another task sees it.
func (s *store) as(reader string, number int) *store {
	return &store{place: s.place, plan: s.plan, reader: reader, number: number, stages: map[string][]*object{}}
}

// nameOf returns the name of a task's object. It has two digits of a hash before the stage, so that the requests of a plan
// go to many ranges of names: object stores divide those that are asked for most among their servers.
func (p *Plan) nameOf(name string, task int) string {
	return fmt.Sprintf("%s/%02x/%s/%06d", p.Digest, byte(xxh3.HashString(strconv.Itoa(task))), name, task)
}

// atOnce is how many requests run at the same time.
const atOnce = 16

// load reads where the blocks for the task are in the objects of a stage, with one short request for each. Each task begins
// with another object, so that tasks which start together do not ask for the same ones at once.
func (s *store) load(ctx context.Context, of stage.Stage) ([]*object, error) {
	if found := s.stages[of.Name]; found != nil {
		return found, nil
	}
	table := s.plan.table(of)
	mine := table.section(s.reader)
	first, n := mine.readBy(s.number, of.Tasks)
	found, failed := make([]*object, n), make([]error, n)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range found {
		at := (s.number + i) % n
		group.Go(func() error {
			found[at], failed[at] = s.look(ctx, of, first+at, mine)
			return nil
		})
	}
	_ = group.Wait() // it waits only: the first task that has failed is told, whichever answered first
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		return nil, failed[i]
	}
	s.stages[of.Name] = found
	return found, nil
}

// look reads the row for the task in an object of another one.
func (s *store) look(ctx context.Context, of stage.Stage, task int, mine *section) (*object, error) {
	o := &object{Object: corpus.Object{Key: s.prefix + s.plan.nameOf(of.Name, task)}, header: s.plan.header(of, task)}
	first, sum, err := o.header.encoded()
	if err != nil {
		return nil, err
	}
	row, err := s.read(ctx, o.Object, int64(len(first))+mine.row(s.number), mine.rowBytes())
	if err == nil {
		if o.blocks, err = mine.parse(row, s.number, sum); err == nil {
			return o, nil
		}
	}
	// Why it cannot be read: the object itself may say what it is.
	there, missing := s.stat(ctx, s.plan.nameOf(of.Name, task))
	switch {
	case errors.Is(missing, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: task %d of stage %s has left nothing in %s: run it first", ErrObject, task, of.Name, s.plan.Work)
	case missing != nil:
		return nil, &corpus.Problem{Path: s.plan.Work, Err: missing}
	}
	if _, wrong := s.openObject(ctx, there, o.header, s.plan.table(of)); wrong != nil {
		return nil, wrong
	}
	return nil, err
}

// blocks visits the blocks of a stream that a stage made for the partition.
func (s *store) blocks(ctx context.Context, of stage.Stage, stream stage.Stream, visit func(block []byte) error) error {
	objects, err := s.load(ctx, of)
	if err != nil {
		return err
	}
	for _, o := range objects {
		i := slices.IndexFunc(o.blocks, func(e extent) bool { return e.stream == stream })
		if i < 0 {
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
	return s.within(ctx, o, e.offset, e.length, func(h stage.Header) bool { return h.Stream == e.stream && h.Partition == e.partition }, visit)
}

// within visits the blocks in a range of an object, which must be of its task and such as fits accepts.
func (s *store) within(ctx context.Context, o *object, offset, length int64, fits func(stage.Header) bool, visit func(block []byte) error) error {
	r, err := s.openRange(ctx, o.Object, offset, length)
	if err != nil {
		return err
	}
	err = eachBlock(bufio.NewReaderSize(r, 256<<10), length, func(h stage.Header) error {
		if h.Plan != s.plan.ID() || h.Task != o.header.Task || !fits(h) {
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
	found, err := s.stat(ctx, s.plan.nameOf(of.Name, task))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, durable.ErrForeign):
		return nil, nil
	case err != nil:
		return nil, &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	o, err := s.openObject(ctx, found, s.plan.header(of, task), s.plan.table(of))
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
	var of stage.Header
	fits := func(h stage.Header) bool {
		of = h
		return slices.Contains(o.header.Streams, h.Stream.String())
	}
	return s.within(ctx, o, o.begin, o.end-o.begin, fits, func(block []byte) error {
		return stage.EachRow(block, s.plan.ID(), of.Stream, func([]uint64, []byte) error { return ctx.Err() })
	})
}

// leave writes the object of a task from the blocks that make emits. make may add to the results in the header.
func (s *store) leave(ctx context.Context, space *scratch.Space, of stage.Stage, h *header, make func(to stage.Output) error) (err error) {
	made, err := newCollector(space)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.file.Close()) }()
	if err := make(made); err != nil {
		return err
	}
	to, err := s.create(ctx, s.plan.nameOf(h.Stage, h.Task))
	if err != nil {
		return &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	defer to.Abort()
	if err := made.publish(to, h, s.plan.table(of)); err != nil {
		return err
	}
	return to.Commit()
}

// documents visits the blocks of documents that Pack wrote for the task.
func (s *store) documents(ctx context.Context, visit func(block []byte) error) error {
	found, err := s.stat(ctx, s.plan.nameOf(packing.Name, s.number))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: part %d of the documents is not in %s: pack it first", ErrObject, s.number, s.plan.Work)
	}
	if err != nil {
		return &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	o, err := s.openObject(ctx, found, s.plan.header(packing, s.number), table{})
	if err != nil {
		return err
	}
	return s.extent(ctx, o, extent{stage.Documents, s.number, o.begin, o.end - o.begin}, visit)
}
