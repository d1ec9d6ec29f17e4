package stage

import (
	"encoding/binary"
	"fmt"
)

// Output receives the blocks that a task makes. A block is valid during the call.
type Output interface {
	Block(h Header, block []byte) error
}

// emitter packs the rows of one task into blocks.
type emitter struct {
	plan    *Plan
	task    int
	out     Output
	number  int
	streams [streamsEnd][]openBlock // by partition; nil: nothing was emitted
}

type openBlock struct {
	rows  int
	bytes []byte
}

// add adds a row to the open block of its partition, and hands the block to the output when it is full.
func (e *emitter) add(s Stream, partition int, payload []byte, words ...uint64) error {
	if s.Own() && partition != e.task {
		return fmt.Errorf("stage: a row of stream %s of task %d is for task %d, which will not look for it", s, e.task, partition)
	}
	if e.streams[s] == nil {
		e.streams[s] = make([]openBlock, e.plan.partitions(s))
	}
	b := &e.streams[s][partition]
	size := 8*len(words) + 4 + len(payload)
	if HeaderBytes+size > MaxBlock {
		return fmt.Errorf("a row of stream %s has %d bytes, more than a block may have; take a smaller max-record", s, size)
	}
	if b.bytes == nil {
		b.bytes = make([]byte, HeaderBytes, max(e.plan.blockBytes()/4, HeaderBytes+size))
	}
	for _, w := range words {
		b.bytes = binary.LittleEndian.AppendUint64(b.bytes, w)
	}
	if streams[s].payload {
		b.bytes = binary.LittleEndian.AppendUint32(b.bytes, uint32(len(payload)))
		b.bytes = append(b.bytes, payload...)
	}
	if b.rows++; len(b.bytes) < e.plan.blockBytes() {
		return nil
	}
	return e.hand(s, partition, b)
}

func (e *emitter) hand(s Stream, partition int, b *openBlock) error {
	h := Header{Plan: e.plan.ID(), Stream: s, Task: e.task, Number: e.number, Partition: partition, Rows: b.rows, Bytes: len(b.bytes) - HeaderBytes}
	h.seal(b.bytes)
	e.number++
	err := e.out.Block(h, b.bytes)
	b.rows, b.bytes = 0, b.bytes[:HeaderBytes]
	if cap(b.bytes) > 2*e.plan.blockBytes() {
		b.bytes = nil // it had a row longer than a block
	}
	return err
}

// flush hands the blocks that are not full to the output.
func (e *emitter) flush() error {
	for s := range e.streams {
		for partition := range e.streams[s] {
			if b := &e.streams[s][partition]; b.rows > 0 {
				if err := e.hand(Stream(s), partition, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
