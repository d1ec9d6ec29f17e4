package doctable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// A part is a file of the work folder with segments that one worker has filled, one after the
// other. docs/how/formats.md describes it:
//
//	"alikepart 4 ", the number of the part in hexadecimal, '\n', the scheme line, '\n'
//	columns of the segments
//	index: words, then a CRC-32C
//	trailer: offset and length of the index, partMagic
//
// Without a complete trailer a part does not count: its worker was killed.
const (
	partHeader  = "alikepart 4 %016x\n%s\n"
	partMagic   = 0x616c696b65706133 // "alikepa3"
	trailerSize = 24
)

// part is a part that is open for reading.
type part struct {
	PartName
	file extsort.RunFile
}

// PartName names a part in the journal.
type PartName struct {
	Name string
	ID   uint64 // as in the part: no other part is mistaken for it
}

// partWriter fills a part. It belongs to one goroutine.
type partWriter struct {
	part     part
	file     vfs.File // nil: closed
	at       int64    // bytes written
	features int64    // of its documents, with repeats
	segments []layout
	blocks   []Block // segment: number in this part
	buf      []byte
}

func newPartWriter(space *scratch.Space) (*partWriter, error) {
	name := PartName{space.Unique("read", ".part"), durable.NewID()}
	file, err := space.Create(name.Name)
	if err != nil {
		return nil, err
	}
	p := &partWriter{part: part{PartName: name}, file: file}
	if err = p.write(fmt.Appendf(nil, partHeader, name.ID, space.Scheme)); err == nil {
		if p.part.file, err = space.Open(name.Name); err != nil {
			err = fault.InWorkFolder(err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// close ends the writing. A second call does nothing.
func (p *partWriter) close() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

func (p *partWriter) write(b []byte) error {
	n, err := p.file.Write(b)
	p.at += int64(n)
	if err != nil {
		return fault.InWorkFolder(err)
	}
	return nil
}

// add writes a segment and the problems of its blocks, and records their places in both. Data in
// memory stay there.
func (p *partWriter) add(s *segment, blocks []Block, bands, k int, hasSets bool) error {
	p.buf = s.appendTo(p.buf[:0], &p.part, p.at, bands, k, hasSets)
	for i := range blocks {
		b := &blocks[i]
		b.problemsAt, b.problemsLen = p.at+int64(len(p.buf)), int64(len(b.problems))
		if b.problemsLen > 0 {
			p.buf = p.part.appendSealed(p.buf, b.problemsAt, func(to []byte) []byte { return append(to, b.problems...) })
		}
		stored := *b
		stored.segment, stored.problems = int32(len(p.segments)), nil
		p.blocks = append(p.blocks, stored)
	}
	p.segments = append(p.segments, s.layout)
	return p.write(p.buf)
}

// seal writes the index, makes the part durable and ends the writing.
func (p *partWriter) seal() error {
	index := []uint64{uint64(p.features), uint64(len(p.segments)), uint64(len(p.blocks))}
	for i := range p.segments {
		index = p.segments[i].appendTo(index)
	}
	for i := range p.blocks {
		index = p.blocks[i].appendTo(index)
	}
	at := p.at
	b := p.part.appendSealed(p.buf[:0], at, func(b []byte) []byte { return appendWords(b, index) })
	b = appendWords(b, []uint64{uint64(at), uint64(len(b)), partMagic})
	if err := p.write(b); err != nil {
		return err
	}
	if err := errors.Join(p.file.Sync(), p.close()); err != nil {
		return fault.InWorkFolder(err)
	}
	return nil
}

func (l *layout) appendTo(dst []uint64) []uint64 {
	sets := uint64(0)
	if l.hasSets {
		sets = 1
	}
	return append(dst, uint64(l.offset), uint64(l.rows), uint64(l.ids), uint64(l.values), uint64(l.features),
		uint64(l.keyed), uint64(l.hashes), uint64(l.bands), uint64(l.k), sets)
}

const layoutWords = 10

func (b *Block) appendTo(dst []uint64) []uint64 {
	return append(dst, uint64(b.File), uint64(b.Seq), uint64(b.segment), uint64(b.row), uint64(b.Docs), uint64(b.Lines),
		uint64(b.problemsAt), uint64(b.problemsLen), uint64(b.Piece))
}

const blockWords = 9

// partIndex is the content of a finished part.
type partIndex struct {
	features int64
	segments []layout
	blocks   []Block
}

// openPart opens a finished part and reads its index.
func openPart(space *scratch.Space, name PartName) (part, *partIndex, error) {
	file, err := space.Open(name.Name)
	if err != nil {
		return part{}, nil, fmt.Errorf("%w: %w", scratch.ErrDamaged, err)
	}
	p := part{name, file}
	index, err := p.readIndex(space.Scheme)
	if err != nil {
		return part{}, nil, errors.Join(fmt.Errorf("%s: %w", name.Name, err), file.Close())
	}
	return p, index, nil
}

// readIndex reads and checks header, trailer and index. The columns are checked when
// they are read.
func (p *part) readIndex(scheme string) (*partIndex, error) {
	want := fmt.Appendf(nil, partHeader, p.ID, scheme)
	header := make([]byte, len(want))
	if _, err := p.file.ReadAt(header, 0); err != nil || !bytes.Equal(header, want) {
		return nil, scratch.ErrDamaged
	}
	size, err := p.file.Size()
	if err != nil {
		return nil, err
	}
	if size < int64(len(header))+crcSize+trailerSize {
		return nil, scratch.ErrDamaged
	}
	trailer := make([]byte, trailerSize)
	if _, err := p.file.ReadAt(trailer, size-trailerSize); err != nil {
		return nil, err
	}
	t := words(nil, trailer)
	at, length := int64(t[0]), int64(t[1])
	if t[2] != partMagic || at < int64(len(header)) || length < crcSize+24 || length%8 != crcSize || at > size || at+length != size-trailerSize {
		return nil, scratch.ErrDamaged
	}
	b := make([]byte, length)
	if _, err := p.file.ReadAt(b, at); err != nil {
		return nil, err
	}
	if b, err = p.checked(b, at); err != nil {
		return nil, err
	}
	return parsePartIndex(words(nil, b), at)
}

// widest is more bands and more components of a signature than there can be.
const widest = 1 << 20

// within tells whether the columns lie before end, which is small enough that sums and products of
// their lengths do not overflow.
func (l *layout) within(end int64) bool {
	for _, n := range []int64{l.offset, l.rows, l.ids, l.values, l.features, l.keyed, l.hashes} {
		if n < 0 || n > end || end > 1<<40 {
			return false
		}
	}
	if l.bands < 0 || l.bands > widest || l.k < 0 || l.k > widest || l.rows > end/documentSize || l.keyed > l.rows || l.features > math.MaxUint32 {
		return false
	}
	return l.end() <= end
}

// parsePartIndex parses the words of an index. Columns must lie before end.
func parsePartIndex(w []uint64, end int64) (*partIndex, error) {
	index := &partIndex{features: int64(w[0])}
	segments, blocks := w[1], w[2]
	w = w[3:]
	limit := uint64(len(w))
	if segments > limit || blocks > limit || segments*layoutWords+blocks*blockWords != limit {
		return nil, scratch.ErrDamaged
	}
	for range segments {
		l := layout{
			offset: int64(w[0]), rows: int64(w[1]), ids: int64(w[2]), values: int64(w[3]), features: int64(w[4]),
			keyed: int64(w[5]), hashes: int64(w[6]), bands: int64(w[7]), k: int64(w[8]), hasSets: w[9] != 0,
		}
		if !l.within(end) {
			return nil, scratch.ErrDamaged
		}
		index.segments = append(index.segments, l)
		w = w[layoutWords:]
	}
	for range blocks {
		b := Block{
			File: int32(w[0]), Seq: int64(w[1]), segment: int32(w[2]), row: uint32(w[3]), Docs: uint32(w[4]), Lines: int64(w[5]),
			problemsAt: int64(w[6]), problemsLen: int64(w[7]), Piece: int32(w[8]),
		}
		sound := w[0] <= math.MaxInt32 && w[8] <= math.MaxInt32 && w[2] < segments && w[3] <= math.MaxUint32 && w[4] <= math.MaxUint32 &&
			b.Seq >= 0 && b.Lines >= 0 && b.problemsLen >= 0 && b.problemsAt >= 0 && b.problemsAt <= end-b.problemsLen
		if !sound || b.Seq != endOfFile && int64(b.row)+int64(b.Docs) > index.segments[b.segment].rows {
			return nil, scratch.ErrDamaged
		}
		index.blocks = append(index.blocks, b)
		w = w[blockWords:]
	}
	return index, nil
}

// damaged says that the part is not what was written.
func (p *part) damaged() error { return fmt.Errorf("%s: %w", p.Name, scratch.ErrDamaged) }

func (p *part) readProblems(b *Block) ([]byte, error) {
	problems, _, err := p.readChecked(nil, b.problemsAt, b.problemsLen)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return problems, nil
}

// appendProblem appends a problem to those of a block, with its line within the block or, for a
// file that breaks off, a negative number; id is that of the record, if it is known.
func appendProblem(dst []byte, line int64, id []byte, err error) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(line))
	dst = append(dst, fault.KindNumber(err))
	dst = append(binary.AppendUvarint(dst, uint64(len(id))), id...)
	dst = append(dst, setting.Mark(err)...)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// nextProblem returns the first problem of b, and the rest.
func nextProblem(b []byte) (p storedProblem, rest []byte, err error) {
	if len(b) < 4 {
		return p, nil, scratch.ErrDamaged
	}
	n := int(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if n < 9 || n > len(b) {
		return p, nil, scratch.ErrDamaged
	}
	b, rest = b[:n], b[n:]
	id, width := binary.Uvarint(b[9:])
	if width <= 0 || id > uint64(n-9-width) {
		return p, nil, scratch.ErrDamaged
	}
	text := b[9+width:]
	p = storedProblem{line: int64(binary.LittleEndian.Uint64(b)), id: string(text[:id]), err: RestoredError(b[8], string(text[id:]))}
	return p, rest, nil
}

// storedProblem is a problem of a block.
type storedProblem struct {
	line int64 // see appendProblem
	id   string
	err  error
}

// restored is an error with the text and the kind of an earlier one.
type restored struct {
	kind error
	text setting.Text
}

func (r *restored) Error() string { return r.text.String() }

// Explain returns the text with every setting named by name, see alike.Explain.
func (r *restored) Explain(name func(field string) string) string { return r.text.Explain(name) }

func (r *restored) Unwrap() error { return r.kind }

// RestoredError returns an error of a kind with a text that setting.Mark has returned.
func RestoredError(kind byte, text string) error {
	return &restored{fault.NumberedKind(kind), setting.Unmark(text)}
}

// Changed says that an input has changed since it was read.
func Changed(path string) error {
	return fmt.Errorf("%s: %w: leave the input alone during a run and start it again", fault.Shown(path), corpus.ErrChanged)
}
