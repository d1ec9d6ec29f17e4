// Package passages finds the pieces of texts that stand in earlier texts, on one machine, and cuts them out by package pieces.
//
//	Read    sources → pieces with their documents, sorted
//	Group   → of each piece that goes its document and the first one, sorted by document
//	Place   sources → where pieces stand first
//	Unite, GroupNear  in place of Group and Place, if similar pieces count as one: sources → the different pieces as
//	        documents of a run of their own; what that finds → groups, with where each stands first
//	Write   sources → kept/, without what goes; rows
//	List    rows → found.csv
//
// A document is numbered by its place in the input, from 0.
package passages

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/inorder"
	"github.com/alike-dev/alike/dedup/internal/meter"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/pieces"
	"github.com/alike-dev/alike/internal/scratch"
)

// Job is what all steps share.
type Job struct {
	Cut      pieces.Options
	Least    int // documents that have a piece, from which on it goes; at least 2
	Sources  []corpus.Source
	Corpus   corpus.Options
	Space    *scratch.Space
	Progress meter.Progress
	Problem  func(*corpus.Problem) error // is called for each, in order
}

// order returns how the sources are read.
func (j *Job) order() inorder.Options {
	return inorder.Options{Sources: j.Sources, Corpus: j.Corpus, Threads: j.Space.Threads}
}

// Documents are those of the input that can be used.
type Documents struct {
	Count int64
	Bytes int64 // of their records
	files []file
	names *Store // of documents, one after the other
	ends  *Store // where each name ends, 8 bytes
}

// file says which documents a source has.
type file struct {
	first uint32
	ends  []uint32 // of the documents of each block
}

// block returns the documents of a block: from first to end.
func (d *Documents) block(at int, seq int64) (first, end uint32) {
	f := &d.files[at]
	if seq >= int64(len(f.ends)) {
		return math.MaxUint32, math.MaxUint32
	}
	if first = f.first; seq > 0 {
		first = f.ends[seq-1]
	}
	return first, f.ends[seq]
}

func (d *Documents) Close() error { return errors.Join(d.names.Close(), d.ends.Close()) }

func (d *Documents) name(doc uint32) ([]byte, error) {
	var ends [16]byte
	at := int64(doc)*8 - 8
	if at < 0 {
		if _, err := d.ends.ReadAt(ends[8:], 0); err != nil {
			return nil, err
		}
	} else if _, err := d.ends.ReadAt(ends[:], at); err != nil {
		return nil, err
	}
	from, to := binary.LittleEndian.Uint64(ends[:]), binary.LittleEndian.Uint64(ends[8:])
	if from > to || to > uint64(d.names.Len()) {
		return nil, scratch.ErrDamaged
	}
	name := make([]byte, to-from)
	_, err := d.names.ReadAt(name, int64(from))
	return name, err
}

// reading is the work on one block.
type reading struct {
	parser   *corpus.Parser
	cutter   *pieces.Cutter  // nil: texts are not cut
	entries  []extsort.Entry // with numbers of documents within the block
	problems []corpus.Problem
	lines    []int64 // of the problems, within the block
	names    []byte
	unnamed  []int // documents of the block without a name, and their lines
	ends     []int
	docs     uint32
	bytes    int64
}

// Read reads all sources, and adds each piece once for each document that has it: its key, and the document and its check
// (32 bits each). With nil for to texts are not cut. The caller closes the documents.
func Read(ctx context.Context, j *Job, to *extsort.Appender) (d *Documents, err error) {
	share := int(j.Space.Share(16))
	d = &Documents{
		files: make([]file, len(j.Sources)),
		names: &Store{Space: j.Space, Name: "names", Most: share}, ends: &Store{Space: j.Space, Name: "ends", Most: share},
	}
	workers := make([]*reading, j.Space.Threads)
	for i := range workers {
		workers[i] = &reading{parser: corpus.NewParser(j.Corpus)}
		if workers[i].parser.Overwrite(true); to != nil {
			workers[i].cutter = pieces.NewCutter(j.Cut)
		}
	}
	lines := int64(0) // of the source, before the block
	return d, inorder.Each(ctx, j.order(), inorder.Steps{
		Work: func(worker int, b *inorder.Block) error {
			workers[worker].read(b)
			return nil
		},
		Commit: func(worker int, b *inorder.Block) error {
			if b.End && b.Err == nil {
				lines = 0
				return nil
			}
			if err := workers[worker].commit(j, d, b, lines, to); err != nil {
				return err
			}
			if lines += b.Lines; b.End {
				lines = 0
			}
			j.Progress.Advance(int64(workers[worker].docs), int64(len(b.Data())))
			return nil
		},
	})
}

// read parses a block and cuts its texts into pieces.
func (r *reading) read(b *inorder.Block) {
	r.entries, r.problems, r.lines, r.names, r.ends, r.unnamed = r.entries[:0], r.problems[:0], r.lines[:0], r.names[:0], r.ends[:0], r.unnamed[:0]
	r.docs, r.bytes = 0, 0
	if b.End {
		return
	}
	var record corpus.Record
	for r.parser.Start(b.File, &b.Block); r.parser.Next(&record); {
		if record.Err != nil {
			r.problems = append(r.problems, corpus.Problem{Offset: record.Offset, ID: string(record.ID), Err: record.Err})
			r.lines = append(r.lines, record.Line)
			continue
		}
		if r.cutter != nil {
			r.cut(record.Text)
		}
		if r.names = append(r.names, record.ID...); len(record.ID) == 0 {
			r.unnamed = append(r.unnamed, int(r.docs), int(record.Line))
		}
		r.ends = append(r.ends, len(r.names))
		r.docs++
		r.bytes += int64(len(record.Raw))
	}
	if r.parser.Trim(); r.cutter != nil {
		r.cutter.Trim()
	}
}

// cut adds the different pieces of the next document.
func (r *reading) cut(text []byte) {
	start, cut := len(r.entries), r.cutter.Pieces(text)
	r.entries = slices.Grow(r.entries, len(cut))
	for _, p := range cut {
		r.entries = append(r.entries, extsort.Entry{Key: p.Key, Value: uint64(r.docs)<<32 | uint64(p.Check)})
	}
	own := r.entries[start:]
	slices.SortFunc(own, func(a, b extsort.Entry) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	r.entries = r.entries[:start+len(slices.Compact(own))]
}

// commit adds a block, before which its source has so many lines.
func (r *reading) commit(j *Job, d *Documents, b *inorder.Block, lines int64, to *extsort.Appender) error {
	source := &j.Sources[b.At]
	if b.End {
		var p *corpus.Problem
		if !errors.As(b.Err, &p) {
			p = &corpus.Problem{Path: source.Label(), Err: b.Err}
		}
		return j.Problem(p)
	}
	for i := range r.problems {
		p := &r.problems[i]
		p.Path = source.Label()
		if source.Format != corpus.Text {
			p.Line = lines + r.lines[i] + 1
		}
		if err := j.Problem(p); err != nil {
			return err
		}
	}
	if d.Count+int64(r.docs) > math.MaxUint32 {
		return fmt.Errorf("more than %d documents: take a part of the input", uint32(math.MaxUint32))
	}
	base := uint64(d.Count) << 32
	for _, e := range r.entries {
		if err := to.Add(e.Key, e.Value+base); err != nil {
			return err
		}
	}
	if err := r.addNames(source, d, lines); err != nil {
		return err
	}
	f := &d.files[b.At]
	if len(f.ends) == 0 {
		f.first = uint32(d.Count)
	}
	d.Count += int64(r.docs)
	d.Bytes += r.bytes
	f.ends = append(f.ends, uint32(d.Count))
	return nil
}

// addNames adds the names of the block's documents; one without an id is named by its place.
func (r *reading) addNames(source *corpus.Source, d *Documents, lines int64) error {
	from, unnamed := 0, r.unnamed
	var place []byte
	for doc, to := range r.ends {
		name := r.names[from:to]
		if from = to; len(unnamed) > 0 && unnamed[0] == doc {
			place = source.AppendID(place[:0], lines+int64(unnamed[1]))
			name, unnamed = place, unnamed[2:]
		}
		if err := d.names.Append(name); err != nil {
			return err
		}
		if err := d.ends.Append(binary.LittleEndian.AppendUint64(nil, uint64(d.names.Len()))); err != nil {
			return err
		}
	}
	return nil
}
