package runner

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

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
