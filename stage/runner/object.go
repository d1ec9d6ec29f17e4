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

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/vfs"
)

// The output of a task is one object: a header, then, in the form "blocks 2", an index and the blocks of the task, sorted
// by stream and partition. A reader of one partition of a stream needs the beginning of the object and one range.
//
//	header | index: CRC-32C of the rest of the index, begun with that of the header 4 | entries 4 |
//	               stream 4, partition 4, bytes of their blocks 8 … | block… | magic "alikeend" 8
//
// If a writer does not know the bytes of the last entry beforehand, they are 2⁶⁴−1: its blocks go up to the magic.
// These constants belong to the form.
const (
	formBlocks = "blocks 2"
	endMagic   = "alikeend"
	indexBytes = 8 // before its entries
	entryBytes = 16
	upToEnd    = 1<<64 - 1
)

// firstBytes is how many bytes at the beginning of an object are read first. They contain header and index of most objects.
const firstBytes = 64 << 10

// ErrObject says that an object of the work folder is damaged, missing, or another one.
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

// begin returns what comes before the blocks of an object that consists of these parts. A negative length is not known.
func begin(h *header, parts ...extent) ([]byte, error) {
	b, err := h.append(nil)
	if err != nil {
		return nil, err
	}
	sum := binary.LittleEndian.Uint32(b[8:])
	index := binary.LittleEndian.AppendUint32(nil, uint32(len(parts)))
	for _, part := range parts {
		index = binary.LittleEndian.AppendUint32(index, uint32(part.stream))
		index = binary.LittleEndian.AppendUint32(index, uint32(part.partition))
		index = binary.LittleEndian.AppendUint64(index, uint64(max(part.length, -1)))
	}
	return append(binary.LittleEndian.AppendUint32(b, durable.Checksum(sum, index)), index...), nil
}

// object is an object of a task, with the places of its blocks.
type object struct {
	corpus.Object
	header *header
	blocks []extent
}

// summary returns the summary of the run, if the object is there and that of the last task.
func (o *object) summary() *Summary {
	if o == nil {
		return nil
	}
	return o.header.Summary
}

// openObject reads the beginning of an object, which must have the wanted header. The error wraps ErrObject if
// another task's object, or none, is there.
func (p place) openObject(ctx context.Context, o corpus.Object, want *header) (*object, error) {
	var first []byte
	more := func(n int64) ([]byte, error) {
		if n > o.Size {
			return nil, errors.New("it is cut off")
		}
		if have := int64(len(first)); n > have {
			rest, err := p.read(ctx, o, have, min(max(n, firstBytes), o.Size)-have)
			if err != nil {
				return nil, err
			}
			first = append(first, rest...)
		}
		return first[:n], nil
	}
	h, offset, sum, err := parseHeader(more)
	if err == nil {
		err = h.differs(want)
	}
	made := &object{Object: o, header: h}
	if err == nil {
		made.blocks, err = parseIndex(more, offset, sum, o.Size)
	}
	if n := len(made.blocks); err == nil && n > 0 && made.blocks[n-1].length < 0 {
		err = p.measure(ctx, o, &made.blocks[n-1])
	}
	var unread *corpus.Problem // says nothing about the object
	switch {
	case errors.As(err, &unread):
		return nil, err
	case err != nil:
		return nil, damaged(o, err)
	}
	return made, nil
}

func damaged(o corpus.Object, what error) error {
	return fmt.Errorf("%w: %s: %w; remove it and run its task again", ErrObject, o.Key, what)
}

// parseIndex reads the index at an offset of an object. If the length of the last extent is not known, it is −1.
func parseIndex(more func(n int64) ([]byte, error), offset int64, sum uint32, size int64) (all []extent, err error) {
	b, err := more(offset + indexBytes)
	if err != nil {
		return nil, err
	}
	end := offset + indexBytes + entryBytes*int64(binary.LittleEndian.Uint32(b[offset+4:]))
	if b, err = more(end); err != nil {
		return nil, err
	}
	if durable.Checksum(sum, b[offset+4:end]) != binary.LittleEndian.Uint32(b[offset:]) {
		return nil, errors.New("its index has another checksum than its bytes")
	}
	for b = b[offset+indexBytes : end]; len(b) > 0; b = b[entryBytes:] {
		e := extent{stage.Stream(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:])), end, int64(binary.LittleEndian.Uint64(b[8:]))}
		if e.length < 0 && len(b) > entryBytes || e.length > size-end {
			return nil, errors.New("its index leads out of it")
		}
		all = append(all, e)
		end += max(e.length, 0)
	}
	if known := len(all) == 0 || all[len(all)-1].length >= 0; known && end != size-int64(len(endMagic)) {
		return nil, errors.New("it is not as long as its index says")
	}
	return all, nil
}

// measure sets the length of an extent that goes up to the end of the object.
func (p place) measure(ctx context.Context, o corpus.Object, last *extent) error {
	last.length = o.Size - int64(len(endMagic)) - last.offset
	if last.length < 0 {
		return errors.New("it is cut off")
	}
	end, err := p.read(ctx, o, last.offset+last.length, int64(len(endMagic)))
	if err == nil && string(end) != endMagic {
		err = errors.New("it is cut off")
	}
	return err
}

// collector is the Output of a task. It keeps the blocks in a temporary file until the task is done.
type collector struct {
	file   vfs.File
	to     *bufio.Writer
	blocks []extent // in the temporary file
	size   int64
}

func newCollector(space *scratch.Space) (*collector, error) {
	file, err := space.Create(space.Unique("made", ""))
	if err != nil {
		return nil, err
	}
	return &collector{file: file, to: bufio.NewWriterSize(file, 1<<20)}, nil
}

// Block implements stage.Output.
func (c *collector) Block(h stage.Header, block []byte) error {
	c.blocks = append(c.blocks, extent{h.Stream, h.Partition, c.size, int64(len(block))})
	c.size += int64(len(block))
	_, err := c.to.Write(block)
	return scratch.Error(err)
}

// publish writes the object.
func (c *collector) publish(to io.Writer, h *header) error {
	if err := c.to.Flush(); err != nil {
		return scratch.Error(err)
	}
	slices.SortStableFunc(c.blocks, compareExtents)
	var parts []extent
	for _, b := range c.blocks {
		if last := len(parts) - 1; last < 0 || compareExtents(b, parts[last]) != 0 {
			parts = append(parts, extent{stream: b.stream, partition: b.partition})
		}
		parts[len(parts)-1].length += b.length
	}
	first, err := begin(h, parts...)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 1<<20)
	if _, err := out.Write(first); err != nil {
		return err
	}
	for _, b := range c.blocks {
		if _, err := io.Copy(out, io.NewSectionReader(c.file, b.offset, b.length)); err != nil {
			return err
		}
	}
	if _, err := out.WriteString(endMagic); err != nil {
		return err
	}
	return out.Flush()
}

// straight is the Output for blocks of one stream and one partition. It writes them to the object at once.
type straight struct{ to *bufio.Writer }

// newStraight begins an object of blocks of documents for a task.
func newStraight(to io.Writer, h *header) (*straight, error) {
	first, err := begin(h, extent{stream: stage.Documents, partition: h.Task, length: -1})
	if err != nil {
		return nil, err
	}
	s := &straight{bufio.NewWriterSize(to, 256<<10)}
	_, err = s.to.Write(first)
	return s, err
}

// Block implements stage.Output.
func (s *straight) Block(_ stage.Header, block []byte) error {
	_, err := s.to.Write(block)
	return err
}

// end ends the object.
func (s *straight) end() error {
	if _, err := s.to.WriteString(endMagic); err != nil {
		return err
	}
	return s.to.Flush()
}

// unexpected turns io.EOF into io.ErrUnexpectedEOF, for an end within a batch.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
