package runner

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/stage"
)

// The output of a task is one object: its blocks, sorted by stream and partition, and an index of them. A
// reader of one partition of a stream needs one range of the object. Numbers are little-endian.
//
//	block… | index: stream 4, partition 4, offset 8, length 8 … |
//	footer: CRC-32C of index and rest of the footer 4 | version 4 | plan 8 | entries 8 |
//	        offset of the index 8 | magic "alikeend" 8
//
// These constants are part of the format and do not change within a version.
const (
	objectMagic   = "alikeend"
	objectVersion = 1
	footerBytes   = 40
	entryBytes    = 24
)

// tailBytes is how many bytes at the end of an object are read first. They contain the index of most objects.
const tailBytes = 64 << 10

// ErrObject says that an object of the work folder is damaged, or missing.
var ErrObject = errors.New("bad object of the work folder")

// extent is the range of an object that has the blocks of a partition.
type extent struct {
	stream         stage.Stream
	partition      int
	offset, length int64
}

func compareExtents(a, b extent) int {
	return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.partition, b.partition))
}

// collector is the Output of a task. It keeps the blocks in a temporary file until the task is done.
type collector struct {
	plan   uint64
	file   vfs.File
	to     *bufio.Writer
	blocks []extent // in the temporary file
	size   int64
}

func newCollector(space *scratch.Space, plan uint64) (*collector, error) {
	file, err := space.Create(space.Unique("made", ""))
	if err != nil {
		return nil, err
	}
	return &collector{plan: plan, file: file, to: bufio.NewWriterSize(file, 1<<20)}, nil
}

// Block implements stage.Output.
func (c *collector) Block(h stage.Header, block []byte) error {
	c.blocks = append(c.blocks, extent{h.Stream, h.Partition, c.size, int64(len(block))})
	c.size += int64(len(block))
	_, err := c.to.Write(block)
	return scratch.Error(err)
}

// publish writes the object.
func (c *collector) publish(to io.Writer) error {
	if err := c.to.Flush(); err != nil {
		return scratch.Error(err)
	}
	slices.SortStableFunc(c.blocks, compareExtents)
	out := bufio.NewWriterSize(to, 1<<20)
	var parts []extent
	offset := int64(0)
	for _, b := range c.blocks {
		if last := len(parts) - 1; last < 0 || compareExtents(b, parts[last]) != 0 {
			parts = append(parts, extent{b.stream, b.partition, offset, 0})
		}
		parts[len(parts)-1].length += b.length
		offset += b.length
		if _, err := io.Copy(out, io.NewSectionReader(c.file, b.offset, b.length)); err != nil {
			return err
		}
	}
	return writeIndex(out, c.plan, parts)
}

// writeIndex writes index and footer of an object that consists of these parts, one after the other.
func writeIndex(out *bufio.Writer, plan uint64, parts []extent) error {
	var index []byte
	end := int64(0)
	for _, part := range parts {
		index = binary.LittleEndian.AppendUint32(index, uint32(part.stream))
		index = binary.LittleEndian.AppendUint32(index, uint32(part.partition))
		index = binary.LittleEndian.AppendUint64(index, uint64(part.offset))
		index = binary.LittleEndian.AppendUint64(index, uint64(part.length))
		end = part.offset + part.length
	}
	rest := binary.LittleEndian.AppendUint32(nil, objectVersion)
	for _, v := range []uint64{plan, uint64(len(parts)), uint64(end)} {
		rest = binary.LittleEndian.AppendUint64(rest, v)
	}
	rest = append(rest, objectMagic...)
	sum := durable.Checksum(durable.Checksum(0, index), rest)
	for _, b := range [][]byte{index, binary.LittleEndian.AppendUint32(nil, sum), rest} {
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	return out.Flush()
}

// onePart is the Output for blocks of one stream and one partition. It writes them to the object at once.
type onePart struct {
	to   *bufio.Writer
	part extent
}

// Block implements stage.Output.
func (o *onePart) Block(h stage.Header, block []byte) error {
	if of := (extent{h.Stream, h.Partition, 0, o.part.length}); o.part.length == 0 {
		o.part = of
	} else if of != o.part {
		return fmt.Errorf("%w: %s in an object of stream %s", ErrObject, h, o.part.stream)
	}
	o.part.length += int64(len(block))
	_, err := o.to.Write(block)
	return err
}

// end writes index and footer of the object.
func (o *onePart) end(plan uint64) error {
	if o.part.length == 0 {
		return writeIndex(o.to, plan, nil)
	}
	return writeIndex(o.to, plan, []extent{o.part})
}

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
