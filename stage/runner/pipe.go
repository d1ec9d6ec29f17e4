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

	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/vfs"
)

// Pipe runs one task for an engine. The engine passes in all blocks for the task, in any order, and
// receives the blocks that the task makes:
//
//	in:   length 4 | block …                      until the end of the stream
//	out:  stream 4 | partition 4 | length 4 | block …
//
// Numbers are little-endian. The documents of the task are blocks of stage.Documents, see Pack. A block
// that comes twice counts once. Stage write copies no documents: the engine drops those of stage.Drops.
func Pipe(ctx context.Context, p *Plan, name string, number int, in io.Reader, out io.Writer, o Options) (err error) {
	of, err := p.Find(name, number)
	if err != nil {
		return err
	}
	if p.Joined {
		return errors.New("the tasks of a joined plan find and leave blocks in its place for them: give them none")
	}
	space := o.space(p, name, number)
	defer func() { err = errors.Join(err, space.Close()) }()
	given, err := spoolBlocks(ctx, p, of, number, space, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, given.file.Close()) }()
	to := &frames{to: bufio.NewWriterSize(out, 256<<10)}
	if err := stage.Run(ctx, &p.Plan, name, number, &piped{given, p}, to, space); err != nil {
		return err
	}
	return to.to.Flush()
}

// frames is the Output of a pipe.
type frames struct{ to *bufio.Writer }

// Block implements stage.Output.
func (f *frames) Block(h stage.Header, block []byte) error {
	head := make([]byte, 0, 12)
	for _, v := range []int{int(h.Stream), h.Partition, len(block)} {
		head = binary.LittleEndian.AppendUint32(head, uint32(v))
	}
	if _, err := f.to.Write(head); err != nil {
		return err
	}
	_, err := f.to.Write(block)
	return err
}

// spooled are the blocks that came through a pipe, in a temporary file.
type spooled struct {
	file   vfs.File
	blocks []spooledBlock
}

type spooledBlock struct {
	stage.Header
	offset int64
	sum    uint32
}

// spoolBlocks reads the blocks of a task. It refuses blocks of other plans and tasks, and of streams that the task does
// not read.
func spoolBlocks(ctx context.Context, p *Plan, of stage.Stage, number int, space *scratch.Space, in io.Reader) (s *spooled, err error) {
	file, err := space.Create(space.Unique("given", ""))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	s = &spooled{file: file}
	from, to := bufio.NewReaderSize(in, 256<<10), bufio.NewWriterSize(file, 1<<20)
	var block []byte
	var head [4]byte
	for offset := int64(0); ; offset += int64(len(block)) {
		if _, err := io.ReadFull(from, head[:]); err == io.EOF {
			break
		} else if err != nil {
			return s, fmt.Errorf("standard input ends within a block: %w", err)
		}
		n := binary.LittleEndian.Uint32(head[:])
		if n < stage.HeaderBytes || n > stage.MaxBlock {
			return s, fmt.Errorf("%w: a length of %d", stage.ErrBlock, n)
		}
		block = scratch.Buffer(block, int(n))
		if _, err := io.ReadFull(from, block); err != nil {
			return s, fmt.Errorf("standard input ends within a block: %w", err)
		}
		h, err := stage.ParseHeader(block)
		if err != nil {
			return s, err
		}
		if h.Bytes+stage.HeaderBytes != len(block) {
			return s, fmt.Errorf("%w: %s comes with another length", stage.ErrBlock, h)
		}
		read := slices.Contains(of.Reads, h.Stream.String()) || of.Documents && h.Stream == stage.Documents
		if h.Plan != p.ID() || h.Partition != number || !read {
			return s, fmt.Errorf("%w: %s is none of those that task %d of stage %s reads", stage.ErrBlock, h, number, of.Name)
		}
		if _, err := to.Write(block); err != nil {
			return s, fault.InWorkFolder(err)
		}
		s.blocks = append(s.blocks, spooledBlock{h, offset, durable.Checksum(0, block)})
		if err := ctx.Err(); err != nil {
			return s, err
		}
	}
	sorting.Stable(s.blocks, func(a, b spooledBlock) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Number, b.Number))
	})
	s.blocks = slices.CompactFunc(s.blocks, func(a, b spooledBlock) bool { return a.Header == b.Header && a.sum == b.sum })
	return s, fault.InWorkFolder(to.Flush())
}

// piped is the Input of a task that an engine runs.
type piped struct {
	*spooled
	plan *Plan
}

// Blocks implements stage.Input.
func (in *piped) Blocks(_ context.Context, s stage.Stream, visit func(block []byte) error) error {
	first, _ := slices.BinarySearchFunc(in.blocks, s, func(b spooledBlock, s stage.Stream) int { return cmp.Compare(b.Stream, s) })
	var block []byte
	for _, b := range in.blocks[first:] {
		if b.Stream != s {
			break
		}
		block = scratch.Buffer(block, stage.HeaderBytes+b.Bytes)
		if _, err := in.file.ReadAt(block, b.offset); err != nil {
			return fault.InWorkFolder(err)
		}
		if err := visit(block); err != nil {
			return err
		}
	}
	return nil
}

// Step implements stage.Input. No stage has steps, see Pipe.
func (in *piped) Step(stage.Stage, int) stage.Input { return in }

// Documents implements stage.Input.
func (in *piped) Documents(ctx context.Context, wanted func(uint64) bool, visit func(*stage.Document) error) (n stage.DocumentCounts, err error) {
	err = in.Blocks(ctx, stage.Documents, func(block []byte) error { return eachDocument(in.plan, block, &n, wanted, visit) })
	return n, err
}

// Keep implements stage.Input: the engine drops documents itself.
func (in *piped) Keep(context.Context, func(uint64) bool, stage.Edits) error {
	return nil
}
