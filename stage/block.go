package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/durable"
)

// Tasks exchange blocks. A block has rows of one stream for one partition of it.
// All numbers are little-endian.
//
//	magic "alikeblk" 8 | CRC-32C of the rest 4 | version 4 | plan 8 | stream 4 |
//	task that made it 4 | number in that task 4 | partition 4 | rows 4 | bytes of rows 4 | rows…
//	row: its words, 8 each, then, in streams whose rows have a payload, its length 4 and its bytes
//
// These constants are part of the format and do not change within a version.
const (
	blockMagic   = "alikeblk"
	blockVersion = 1

	// HeaderBytes is the length of a block's header.
	HeaderBytes = 48
	// MaxBlock is the length of the longest block in bytes. A row must fit into one block.
	MaxBlock = 1 << 30
)

// ErrBlock says that a block is damaged, or of another plan or version.
var ErrBlock = errors.New("bad block")

// Header is the content of a block's header.
type Header struct {
	Plan      uint64 // see Plan.ID
	Stream    Stream
	Task      int // the task that made the block, in the stage that writes the stream
	Number    int // of the block among those of its task
	Partition int // of the stream; also the number of the task that reads it
	Rows      int
	Bytes     int // length of the block without its header
}

// String names a block in messages.
func (h Header) String() string {
	return fmt.Sprintf("block %d of stream %s from task %d for partition %d", h.Number, h.Stream, h.Task, h.Partition)
}

func (h Header) less(other Header) bool {
	if h.Task != other.Task {
		return h.Task < other.Task
	}
	return h.Number < other.Number
}

// seal writes the header into the first HeaderBytes of a block, which are free for it.
func (h Header) seal(block []byte) {
	put := binary.LittleEndian.PutUint32
	copy(block, blockMagic)
	put(block[12:], blockVersion)
	binary.LittleEndian.PutUint64(block[16:], h.Plan)
	for i, v := range []int{int(h.Stream), h.Task, h.Number, h.Partition, h.Rows, len(block) - HeaderBytes} {
		put(block[24+4*i:], uint32(v))
	}
	put(block[8:], durable.Checksum(0, block[12:]))
}

// ParseHeader reads the first HeaderBytes of a block. It does not check the rows; EachRow does.
// The error wraps ErrBlock.
func ParseHeader(b []byte) (h Header, err error) {
	if len(b) < HeaderBytes || string(b[:8]) != blockMagic {
		return h, fmt.Errorf("%w: it does not begin as a block does", ErrBlock)
	}
	if v := binary.LittleEndian.Uint32(b[12:]); v != blockVersion {
		return h, fmt.Errorf("%w: version %d, not %d: use one version of alike for all tasks", ErrBlock, v, blockVersion)
	}
	at := func(i int) int { return int(binary.LittleEndian.Uint32(b[24+4*i:])) }
	h = Header{binary.LittleEndian.Uint64(b[16:]), Stream(at(0)), at(1), at(2), at(3), at(4), at(5)}
	switch {
	case h.Stream < 1 || h.Stream >= streamsEnd:
		return h, fmt.Errorf("%w: no stream has the number %d", ErrBlock, uint32(h.Stream))
	case h.Bytes > MaxBlock-HeaderBytes:
		return h, fmt.Errorf("%w: %s has %d bytes", ErrBlock, h, h.Bytes)
	}
	return h, nil
}

// open checks a whole block and returns its rows. The error wraps ErrBlock.
func open(b []byte) (h Header, rows []byte, err error) {
	if h, err = ParseHeader(b); err != nil {
		return h, nil, err
	}
	switch {
	case len(b) != HeaderBytes+h.Bytes:
		return h, nil, fmt.Errorf("%w: %s has %d bytes in place of %d", ErrBlock, h, len(b), HeaderBytes+h.Bytes)
	case binary.LittleEndian.Uint32(b[8:]) != durable.Checksum(0, b[12:]):
		return h, nil, fmt.Errorf("%w: %s has another checksum than its bytes", ErrBlock, h)
	}
	return h, b[HeaderBytes:], nil
}

// row is a row of a block. Its slices are valid during the visit only.
type row struct {
	words   []uint64
	payload []byte
}

// eachRow visits the rows of a block.
func eachRow(h Header, rows []byte, words []uint64, visit func(r row) error) error {
	damaged := func() error { return fmt.Errorf("%w: the rows of %s do not fill it", ErrBlock, h) }
	s := streams[h.Stream]
	for range h.Rows {
		if len(rows) < 8*s.words {
			return damaged()
		}
		words = words[:0]
		for range s.words {
			words = append(words, binary.LittleEndian.Uint64(rows))
			rows = rows[8:]
		}
		r := row{words: words}
		if s.payload {
			if len(rows) < 4 || uint64(len(rows)-4) < uint64(binary.LittleEndian.Uint32(rows)) {
				return damaged()
			}
			n := int(binary.LittleEndian.Uint32(rows))
			r.payload, rows = rows[4:4+n:4+n], rows[4+n:]
		}
		if err := visit(r); err != nil {
			return err
		}
	}
	if len(rows) > 0 {
		return damaged()
	}
	return nil
}

// EachRow checks a whole block, which must be of stream s and of the plan with this ID, and visits its rows:
// their words and, in streams that have one, their payload. Both slices are valid during the visit only. The
// error wraps ErrBlock.
func EachRow(block []byte, plan uint64, s Stream, visit func(words []uint64, payload []byte) error) error {
	h, rows, err := open(block)
	if err != nil {
		return err
	}
	if h.Plan != plan || h.Stream != s {
		return fmt.Errorf("%w: %s is of another plan, or in place of one of stream %s", ErrBlock, h, s)
	}
	return eachRow(h, rows, make([]uint64, 0, 8), func(r row) error { return visit(r.words, r.payload) })
}

// errParts says that a row does not have the form of its stream. The checksum of its block is right, so
// another program made the block.
var errParts = fmt.Errorf("%w: a row without the parts that it should have", ErrBlock)

// appendPart appends bytes with their length.
func appendPart(dst, part []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(part))), part...)
}

// cutPart undoes appendPart.
func cutPart(b []byte) (part, rest []byte, err error) {
	n, at := binary.Uvarint(b)
	if at <= 0 || n > uint64(len(b)-at) {
		return nil, nil, errParts
	}
	return b[at:][:n:n], b[at:][n:], nil
}

func appendWords(dst []byte, words []uint64) []byte {
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// wordsOf undoes appendWords.
func wordsOf(dst []uint64, payload []byte) []uint64 {
	dst = slices.Grow(dst, len(payload)/8)
	for ; len(payload) >= 8; payload = payload[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(payload))
	}
	return dst
}

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
	// outer, of a step of a joined stage, takes the rows that leave its task, as rows of its own.
	outer *emitter
	ways  *ways
}

type openBlock struct {
	rows  int
	bytes []byte
}

// add adds a row to the open block of its partition, and hands the block to the output when it is full.
func (e *emitter) add(s Stream, partition int, payload []byte, words ...uint64) error {
	if e.outer != nil && e.ways.outside[s] {
		if err := e.outer.add(s, partition, payload, words...); err != nil || !e.ways.inside[s] {
			return err
		}
	}
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
