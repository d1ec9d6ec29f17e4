package doctable

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/sorting"
)

// Block is a run of documents of one file, with the problems found there: a block of the input, or
// a piece of one whose documents fill several segments.
type Block struct {
	File     int32
	segment  int32 // that holds its documents
	row      uint32
	Docs     uint32
	FirstDoc uint32
	Piece    int32
	Seq      int64 // number in the file; endOfFile for problems behind the last one

	Lines     int64 // 0 for every piece but the last one
	firstLine int64 // of the file, from 0

	problems                []byte // while they are in memory
	problemsAt, problemsLen int64  // in the segment's part
}

// endOfFile is the number of a block that stands for the end of a file and says whether the file
// breaks off. It has no documents, and its row is the number of blocks before it.
const endOfFile = math.MaxInt64

// Position orders blocks, and their pieces, as the input does.
type Position struct {
	File  int
	seq   int64
	piece int32
}

func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.seq, q.seq), cmp.Compare(p.piece, q.piece))
}

var EndOfInput = Position{File: math.MaxInt}

// EndBlock returns the block for the end of a file with that many blocks.
func EndBlock(file int, blocks int64) Block {
	return Block{File: int32(file), Seq: endOfFile, row: uint32(blocks)}
}

// IsEnd tells whether it stands for the end of a file; blocksBefore returns how many blocks that
// has.
func (b *Block) IsEnd() bool         { return b.Seq == endOfFile }
func (b *Block) BlocksBefore() int64 { return int64(b.row) }

// AddProblem adds a problem: with the line within the block or, for a file that breaks off, the
// complement of the line in the file.
func (b *Block) AddProblem(line int64, id []byte, err error) {
	b.problems = appendProblem(b.problems, line, id, err)
}

func (b *Block) HasProblems() bool { return len(b.problems) > 0 }

func (b *Block) Position() Position { return Position{int(b.File), b.Seq, b.Piece} }

// Table is all documents in input order: references first, then the inputs; or the left of two
// collections first, then the right. The order is that of the sources and, within a file, of the
// records, whichever worker read them and when.
//
// A document's data are in the row of a segment, in memory or in a part; only blocks are always in
// memory, about 100 bytes for each MiB of input.
type Table struct {
	Sources        []corpus.Source
	ReferenceFiles int   // leading sources that are references
	References     int   // leading documents that are references
	leftFiles      int   // leading sources of the left of two collections; see With
	Left           int   // leading documents of these sources
	Docs           int   // documents
	Features       int64 // of all documents, with repeats
	bands          int
	k              int  // components of a signature that are kept; 0: none
	HasSets        bool // feature sets are kept
	hasIDs         bool // some document has an id of its own
	within         bool // see Options.Within
	valued         bool // Options.Within or By

	segments []*segment
	parts    []part
	Blocks   []Block
	Skipped  bitset.Set[uint32] // documents found unusable after they were read
	Known    bitset.Set[uint32] // documents like one of NewTo.Known; nil: none, or Known is not set
	// ByPlace has the references that are named by their places, because inputs have their names;
	// nil: none.
	ByPlace bitset.Set[uint32]
}

// HasIDs tells whether some document has an id of its own.
func (t *Table) HasIDs() bool { return t.hasIDs }

// Counts tells whether a document is neither skipped nor known: only then can it be similar to
// others, or kept.
func (t *Table) Counts(doc uint32) bool {
	return !t.Skipped.Has(doc) && (t.Known == nil || !t.Known.Has(doc))
}

// number sorts the blocks into input order and numbers the documents.
func (t *Table) number() error {
	sorting.Func(t.Blocks, func(a, b Block) int { return a.Position().Compare(b.Position()) })
	docs, line, file := int64(0), int64(0), int32(-1)
	for i := range t.Blocks {
		b := &t.Blocks[i]
		if b.File != file {
			line, file = 0, b.File
		}
		b.FirstDoc, b.firstLine = uint32(docs), line
		docs += int64(b.Docs)
		line += b.Lines
		if int(file) < t.ReferenceFiles {
			t.References = int(docs)
		}
		if int(file) < t.leftFiles {
			t.Left = int(docs)
		}
		s := t.segments[b.segment]
		s.blocks = append(s.blocks, int32(i))
		t.hasIDs = t.hasIDs || len(s.ids) > 0 || s.layout.ids > 0
		if err := CheckDocuments(docs); err != nil {
			return err
		}
	}
	t.Docs = int(docs)
	t.Skipped = bitset.New[uint32](t.Docs)
	return nil
}

// MaxDocuments is how many documents a run can number; two numbers and a similarity make an entry
// of the sorters.
const MaxDocuments = 1<<32 - 2

func CheckDocuments(n int64) error {
	if n <= MaxDocuments {
		return nil
	}
	return fmt.Errorf("more than %d documents, references included, are more than one run can number: "+
		"split the input and run each part separately, then the documents that they keep", int64(MaxDocuments))
}

// BlockOf returns the number of the block that holds a document.
func (t *Table) BlockOf(doc uint32) int {
	i, found := slices.BinarySearchFunc(t.Blocks, doc, func(b Block, doc uint32) int { return cmp.Compare(b.FirstDoc, doc) })
	if !found {
		return i - 1
	}
	for t.Blocks[i].Docs == 0 { // an empty block begins with the document of the next one
		i++
	}
	return i
}

func (t *Table) FileOf(doc uint32) int { return int(t.Blocks[t.BlockOf(doc)].File) }

// DocsOfFile returns the range of documents of a file.
func (t *Table) DocsOfFile(file int) (first, end uint32) {
	return t.firstOf(Position{File: file, seq: -1}), t.firstOf(Position{File: file + 1, seq: -1})
}

// DocsOfBlock returns the range of documents of a block, empty when it has none.
func (t *Table) DocsOfBlock(file int, seq int64) (first, end uint32) {
	return t.firstOf(Position{File: file, seq: seq}), t.firstOf(Position{File: file, seq: seq + 1})
}

// BlocksOfFile returns the blocks of a file, in order.
func (t *Table) BlocksOfFile(file int) []Block {
	return t.Blocks[t.firstBlock(Position{File: file, seq: -1}):t.firstBlock(Position{File: file + 1, seq: -1})]
}

// firstOf returns the first document at or behind a position.
func (t *Table) firstOf(at Position) uint32 {
	i := t.firstBlock(at)
	if i == len(t.Blocks) {
		return uint32(t.Docs)
	}
	return t.Blocks[i].FirstDoc
}

// firstBlock returns the first block at or behind a position.
func (t *Table) firstBlock(at Position) int {
	i, _ := slices.BinarySearchFunc(t.Blocks, at, func(b Block, at Position) int { return b.Position().Compare(at) })
	return i
}

// EachProblem visits the problems in input order, each with its line in its file; the line is -1
// for a file that breaks off.
func (t *Table) EachProblem(visit func(file int, line int64, p *corpus.Problem) error) error {
	for i := range t.Blocks {
		b := &t.Blocks[i]
		problems := b.problems
		if problems == nil && b.problemsLen > 0 {
			var err error
			if problems, err = t.parts[t.segments[b.segment].part].readProblems(b); err != nil {
				return err
			}
		}
		for len(problems) > 0 {
			stored, rest, err := nextProblem(problems)
			if err != nil {
				return err
			}
			problems = rest
			line, p := stored.line, &corpus.Problem{Path: t.Sources[b.File].Label(), ID: stored.id, Err: stored.err}
			if line < 0 {
				p.Line, line = ^line, -1
			} else {
				line += b.firstLine + 1
				p.Line = line
			}
			if err := visit(int(b.File), line, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// Hashes returns how many hashes of features all documents have.
func (t *Table) Hashes() (n int64) {
	for _, s := range t.segments {
		if s.resident {
			n += int64(len(s.Hashes))
		} else {
			n += s.layout.hashes
		}
	}
	return n
}

// DropKeys gives back the memory of the band keys, and of hashes of features.
func (t *Table) DropKeys() {
	for _, s := range t.segments {
		s.Keys, s.Hashes = nil, nil
	}
}

// Close closes the parts. They were only read, so an error does not matter.
func (t *Table) Close() {
	for _, p := range t.parts {
		_ = p.file.Close()
	}
	t.parts = nil
}
