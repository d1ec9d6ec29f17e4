package runner

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/vfs"
)

// The output of a task is one object. In the form "blocks 3" its header is followed by a table, the blocks of the task,
// sorted by stream and partition, and its results:
//
//	header | table | block… | results, JSON | CRC-32C of the results, begun with that of the header 4 | bytes of the results 4 | magic "alikeend" 8
//
// The table says where the blocks for every reader are, see table.go. These constants belong to the form.
const (
	formBlocks = "blocks 3"
	endMagic   = "alikeend"
	endBytes   = 16 // behind the results
)

// firstBytes is how many bytes at the beginning of an object are read first to look at all of it, and at its end.
const firstBytes = 64 << 10

// ErrObject says that an object of the work folder is damaged, missing, or another one.
var ErrObject = errors.New("bad object of the work folder")

// object is an object of a task, with the places of blocks in it.
type object struct {
	corpus.Object
	header *header
	blocks []extent // for the task that reads
	// begin and end are where its blocks begin and end, if all of it was looked at.
	begin, end int64
}

// summary returns the summary of the run, if the object is there and that of the last task.
func (o *object) summary() *Summary {
	if o == nil {
		return nil
	}
	return o.header.Summary
}

// openObject looks at all of an object but its blocks. It must have the wanted header. The error wraps ErrObject if
// another task's object, or none, is there.
func (p place) openObject(ctx context.Context, o corpus.Object, want *header, of table) (*object, error) {
	made := &object{Object: o, header: want}
	err := made.check(of, func(offset, length int64) ([]byte, error) {
		if offset < 0 || offset+length > o.Size {
			return nil, errors.New("it is cut off")
		}
		return p.read(ctx, o, offset, length)
	})
	var unread *corpus.Problem // says nothing about the object
	switch {
	case errors.As(err, &unread):
		return nil, err
	case err != nil:
		return nil, damaged(o, err)
	}
	return made, nil
}

// check checks header, table and end, and reads the results into the header.
func (o *object) check(of table, read func(offset, length int64) ([]byte, error)) error {
	first, err := read(0, min(firstBytes, o.Size))
	if err != nil {
		return err
	}
	there, length, sum, err := parseHeader(func(n int64) ([]byte, error) {
		if rest := n - int64(len(first)); rest > 0 {
			more, err := read(int64(len(first)), rest)
			if err != nil {
				return nil, err
			}
			first = append(first, more...)
		}
		return first[:n], nil
	})
	if err == nil {
		err = there.differs(o.header)
	}
	if err != nil {
		return err
	}
	rows, err := read(length, of.length)
	if err == nil {
		err = of.check(rows, sum)
	}
	if err != nil {
		return err
	}
	o.begin = length + of.length
	return o.readResults(sum, read)
}

// readResults reads what comes after the blocks. sum is the checksum in the header.
func (o *object) readResults(sum uint32, read func(offset, length int64) ([]byte, error)) error {
	end, err := read(o.Size-endBytes, endBytes)
	if err != nil {
		return err
	}
	size := int64(binary.LittleEndian.Uint32(end[4:]))
	if o.end = o.Size - endBytes - size; string(end[8:]) != endMagic || o.end < o.begin {
		return errors.New("it is cut off")
	}
	results, err := read(o.end, size)
	if err == nil && durable.Checksum(sum, results) != binary.LittleEndian.Uint32(end) {
		err = errors.New("its results have another checksum than their bytes")
	}
	if err == nil && size > 0 {
		err = json.Unmarshal(results, &o.header.results)
	}
	return err
}

// appendEnd appends what comes after the blocks of an object.
func (h *header) appendEnd(b []byte, sum uint32) ([]byte, error) {
	var text []byte
	if h.Files != nil || h.Summary != nil {
		var err error
		if text, err = json.Marshal(h.results); err != nil {
			return nil, err
		}
	}
	b = append(b, text...)
	b = binary.LittleEndian.AppendUint32(b, durable.Checksum(sum, text))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	return append(b, endMagic...), nil
}

func damaged(o corpus.Object, what error) error {
	return fmt.Errorf("%w: %s: %w; remove it and run its task again", ErrObject, o.Key, what)
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
	return fault.InWorkFolder(err)
}

func (c *collector) publish(to io.Writer, h *header, of table) error {
	if err := c.to.Flush(); err != nil {
		return fault.InWorkFolder(err)
	}
	first, sum, err := h.encoded()
	if err != nil {
		return err
	}
	sorting.Stable(c.blocks, compareExtents)
	var parts []extent
	at := int64(len(first)) + of.length
	for _, b := range c.blocks {
		if last := len(parts) - 1; last < 0 || compareExtents(b, parts[last]) != 0 {
			parts = append(parts, extent{stream: b.stream, partition: b.partition, offset: at})
		}
		parts[len(parts)-1].length += b.length
		at += b.length
	}
	out := bufio.NewWriterSize(to, 1<<20)
	if _, err := out.Write(of.append(first, sum, parts)); err != nil {
		return err
	}
	for _, b := range c.blocks {
		if _, err := io.Copy(out, io.NewSectionReader(c.file, b.offset, b.length)); err != nil {
			return err
		}
	}
	end, err := h.appendEnd(nil, sum)
	if err != nil {
		return err
	}
	if _, err := out.Write(end); err != nil {
		return err
	}
	return out.Flush()
}

// straight is the Output for blocks of one stream and one partition. It writes them to the object at once, which has no
// table: its reader reads all of it.
type straight struct {
	to  *bufio.Writer
	h   *header
	sum uint32
}

// newStraight begins an object of blocks of documents for a task.
func newStraight(to io.Writer, h *header) (*straight, error) {
	first, sum, err := h.encoded()
	if err != nil {
		return nil, err
	}
	s := &straight{bufio.NewWriterSize(to, 256<<10), h, sum}
	_, err = s.to.Write(first)
	return s, err
}

// Block implements stage.Output.
func (s *straight) Block(_ stage.Header, block []byte) error {
	_, err := s.to.Write(block)
	return err
}

func (s *straight) end() error {
	end, err := s.h.appendEnd(nil, s.sum)
	if err != nil {
		return err
	}
	if _, err := s.to.Write(end); err != nil {
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
