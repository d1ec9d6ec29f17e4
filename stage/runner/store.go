package runner

import (
	"bufio"
	"context"
	"encoding/binary"
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
	at     writable
	prefix string
	plan   *Plan
	number int               // the partition
	stages map[string][]made // objects of the stages that were loaded, by task
}

// made is the object of a task, with the ranges of the blocks for the store's partition.
type made struct {
	corpus.Object
	blocks []extent
}

func openStore(ctx context.Context, p *Plan, buckets Buckets, number int) (*store, error) {
	at, prefix, err := place(ctx, p.Work, buckets)
	if err != nil {
		return nil, err
	}
	if local, ok := at.(folder); ok { // readIndex detects an object that was not written to the end
		local.volatile = true
		at = local
	}
	return &store{at: at, prefix: prefix, plan: p, number: number, stages: map[string][]made{}}, nil
}

// key returns the name of a task's object.
func (s *store) key(name string, task int) string {
	return fmt.Sprintf("%s%s/%s/%06d", s.prefix, s.plan.Digest, name, task)
}

// atOnce is how many requests run at the same time.
const atOnce = 16

// load lists the objects of a stage, with one request for each thousand, and reads their indexes.
func (s *store) load(ctx context.Context, of stage.Stage) ([]made, error) {
	if found := s.stages[of.Name]; found != nil {
		return found, nil
	}
	found := make([]made, of.Tasks)
	begin := fmt.Sprintf("%s%s/%s/", s.prefix, s.plan.Digest, of.Name)
	err := s.at.List(ctx, begin, func(o corpus.Object) error {
		var task int
		if n, err := fmt.Sscanf(o.Key[len(begin):], "%d", &task); err == nil && n == 1 && task >= 0 && task < of.Tasks && o.Key == s.key(of.Name, task) {
			found[task].Object = o
		}
		return nil
	})
	if err != nil {
		return nil, &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	for task, o := range found {
		if o.Key == "" {
			return nil, fmt.Errorf("%w: task %d of stage %s has left nothing in %s: run it first", ErrObject, task, of.Name, s.plan.Work)
		}
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range found {
		group.Go(func() error {
			all, err := s.readIndex(within, found[i].Object)
			found[i].blocks = slices.Clone(slices.DeleteFunc(all, func(e extent) bool { return e.partition != s.number }))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s.stages[of.Name] = found
	return found, nil
}

func (s *store) damaged(o corpus.Object, what string) error {
	return fmt.Errorf("%w: %s: %s; remove it and run its task again", ErrObject, o.Key, what)
}

// readIndex reads the index of an object.
func (s *store) readIndex(ctx context.Context, o corpus.Object) (all []extent, err error) {
	tail, err := s.read(ctx, o, max(o.Size-tailBytes, 0), min(o.Size, tailBytes))
	if err != nil {
		return nil, err
	}
	if len(tail) < footerBytes || string(tail[len(tail)-8:]) != objectMagic {
		return nil, s.damaged(o, "it does not end as an object does")
	}
	footer := tail[len(tail)-footerBytes:]
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(footer[i:])) }
	entries, offset := at(16), at(24)
	size := o.Size - footerBytes - offset
	switch {
	case binary.LittleEndian.Uint32(footer[4:]) != objectVersion:
		return nil, s.damaged(o, "it is of another version")
	case offset < 0 || entries < 0 || size/entryBytes != entries || size%entryBytes != 0:
		return nil, s.damaged(o, "its index is not where it should be")
	}
	index := tail[:len(tail)-footerBytes]
	if int64(len(index)) >= size {
		index = index[int64(len(index))-size:]
	} else if index, err = s.read(ctx, o, offset, size); err != nil {
		return nil, err
	}
	if durable.Checksum(durable.Checksum(0, index), footer[4:]) != binary.LittleEndian.Uint32(footer) {
		return nil, s.damaged(o, "its index has another checksum than its bytes")
	}
	if uint64(at(8)) != s.plan.ID() {
		return nil, s.damaged(o, "it is of another plan")
	}
	for ; len(index) > 0; index = index[entryBytes:] {
		e := extent{
			stage.Stream(binary.LittleEndian.Uint32(index)), int(binary.LittleEndian.Uint32(index[4:])),
			int64(binary.LittleEndian.Uint64(index[8:])), int64(binary.LittleEndian.Uint64(index[16:])),
		}
		if e.offset < 0 || e.length < 0 || e.length > offset || e.offset > offset-e.length {
			return nil, s.damaged(o, "its index leads out of it")
		}
		all = append(all, e)
	}
	return all, nil
}

// read reads a range of an object.
func (s *store) read(ctx context.Context, o corpus.Object, offset, length int64) ([]byte, error) {
	if length == 0 {
		return nil, nil
	}
	r, err := s.at.Read(ctx, o, offset, length)
	if err != nil {
		return nil, &corpus.Problem{Path: o.Key, Err: err}
	}
	b := make([]byte, length)
	_, err = io.ReadFull(r, b)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, &corpus.Problem{Path: o.Key, Err: err}
	}
	return b, nil
}

// blocks visits the blocks of a stream that a stage made for the partition.
func (s *store) blocks(ctx context.Context, of stage.Stage, stream stage.Stream, visit func(block []byte) error) error {
	objects, err := s.load(ctx, of)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := s.extents(ctx, o, stream, visit); err != nil {
			return err
		}
	}
	return nil
}

// extents visits the blocks of a stream that one object holds for the partition.
func (s *store) extents(ctx context.Context, o made, stream stage.Stream, visit func(block []byte) error) error {
	i, found := slices.BinarySearchFunc(o.blocks, extent{stream: stream, partition: s.number}, compareExtents)
	if !found {
		return nil
	}
	r, err := s.at.Read(ctx, o.Object, o.blocks[i].offset, o.blocks[i].length)
	if err == nil {
		err = eachBlock(bufio.NewReaderSize(r, 256<<10), o.blocks[i].length, visit)
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.Key, err)
	}
	return nil
}

// eachBlock visits blocks that follow each other in length bytes of r.
func eachBlock(r io.Reader, length int64, visit func(block []byte) error) error {
	var block []byte
	for length > 0 {
		block = scratch.Buffer(block, stage.HeaderBytes)
		if _, err := io.ReadFull(r, block); err != nil {
			return err
		}
		h, err := stage.ParseHeader(block)
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
			return err
		}
		if err := visit(block); err != nil {
			return err
		}
		length -= size
	}
	return nil
}

// has tells whether a whole object exists.
func (s *store) has(ctx context.Context, key string) (bool, error) {
	object, err := s.at.Stat(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	_, err = s.readIndex(ctx, object)
	return err == nil, nil
}

// leave writes the object of a task from the blocks that make emits.
func (s *store) leave(ctx context.Context, space *scratch.Space, name string, number int, make func(to stage.Output) error) (err error) {
	made, err := newCollector(space, s.plan.ID())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.file.Close()) }()
	if err := make(made); err != nil {
		return err
	}
	to, err := s.at.Create(ctx, s.key(name, number))
	if err != nil {
		return &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	defer to.Abort()
	if err := made.publish(to); err != nil {
		return err
	}
	return to.Commit()
}

// packed stands in the keys of the objects of Pack, in the place of the name of a stage.
const packed = "pack"

// documents visits the blocks of documents that Pack wrote for the task.
func (s *store) documents(ctx context.Context, visit func(block []byte) error) error {
	key := s.key(packed, s.number)
	object, err := s.at.Stat(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: part %d of the documents is not in %s: pack it first", ErrObject, s.number, s.plan.Work)
	}
	if err != nil {
		return &corpus.Problem{Path: s.plan.Work, Err: err}
	}
	all, err := s.readIndex(ctx, object)
	if err != nil {
		return err
	}
	return s.extents(ctx, made{object, all}, stage.Documents, visit)
}
