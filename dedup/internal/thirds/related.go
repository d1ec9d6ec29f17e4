package thirds

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/vfs"
)

// rowLength is how many related documents are noted of one: those that are asked, and the other one of the pair.
const rowLength = places.ThirdsMost + 1

// rowBytes is the size of a row in a file: the number of documents, these, and the CRC-32C of both.
const rowBytes = 4 * (1 + rowLength + 1)

// related are the documents that are most similar to each: as many as can be asked, most similar first and otherwise by
// number. Those of a document with one only are not noted: that is the other one of its pair. Rows beyond a share of the
// memory are in a file, where each document has a place, mostly a hole.
type related struct {
	space *scratch.Space
	most  int64 // bytes of held
	held  map[uint32][]uint32
	size  int64
	file  vfs.File // nil: all rows are held

	nearest *extsort.Sorted // pairs of each document and the most similar one
}

// heldRow is the memory of a row in addition to its documents; without a ceiling rows take up to heldMost.
const (
	heldRow  = 64
	heldMost = 1 << 30
)

// relatedOf returns the related documents by edges.
func relatedOf(ctx context.Context, g graph.Graph, edges *extsort.Sorted) (r *related, err error) {
	by, err := g.Space.Sorted(ctx, g.Sorting("related", 8), func(to *extsort.Appender) error {
		return edges.Visit(func(e extsort.Entry) error {
			p := graph.PairOf(e.Key)
			far := ^math.Float32bits(float32(math.Float64frombits(e.Value))) // ascending is by descending similarity
			return errors.Join(to.Add(graph.Key(p.A, far), uint64(p.B)), to.Add(graph.Key(p.B, far), uint64(p.A)))
		})
	})
	if err != nil {
		return nil, err
	}
	r = &related{space: g.Space, most: g.Space.Share(8), held: map[uint32][]uint32{}}
	if r.most == 0 {
		r.most = heldMost
	}
	r.nearest, err = g.Space.Sorted(ctx, g.Sorting("nearest", 8), func(to *extsort.Appender) error { return r.fill(by, to) })
	if err = errors.Join(err, g.Space.Release(by)); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// fill notes the rows of documents, given by document and descending similarity, and adds the nearest pairs.
func (r *related) fill(by *extsort.Sorted, nearest *extsort.Appender) error {
	var row []uint32
	last := uint32(0)
	err := by.Visit(func(e extsort.Entry) error {
		if doc := uint32(e.Key >> 32); doc != last {
			if err := r.put(last, row); err != nil {
				return err
			}
			last, row = doc, row[:0]
		}
		other := uint32(e.Value)
		if len(row) == 0 {
			if err := nearest.Add(graph.Key(min(last, other), max(last, other)), 0); err != nil {
				return err
			}
		}
		if len(row) < rowLength && !slices.Contains(row, other) { // of a directed measure there may be two edges
			row = append(row, other)
		}
		return nil
	})
	if err == nil {
		err = r.put(last, row)
	}
	return err
}

func (r *related) put(doc uint32, row []uint32) (err error) {
	if len(row) < 2 {
		return nil
	}
	if r.size += int64(heldRow + 4*len(row)); r.size <= r.most {
		r.held[doc] = slices.Clone(row)
		return nil
	}
	if r.file == nil {
		if r.file, err = r.space.Create(r.space.Unique("related", ".part")); err != nil {
			return err
		}
	}
	packed := binary.LittleEndian.AppendUint32(make([]byte, 0, rowBytes), uint32(len(row)))
	for _, other := range row {
		packed = binary.LittleEndian.AppendUint32(packed, other)
	}
	packed = packed[:rowBytes]
	binary.LittleEndian.PutUint32(packed[rowBytes-4:], durable.Checksum(doc, packed[:rowBytes-4]))
	r.space.Spilled(rowBytes)
	_, err = r.file.WriteAt(packed, int64(doc)*rowBytes)
	return fault.InWorkFolder(err)
}

// read returns a document's row in the file; nil: there is none.
func (r *related) read(doc uint32) (row []uint32, err error) {
	packed := make([]byte, rowBytes)
	if _, err := r.file.ReadAt(packed, int64(doc)*rowBytes); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, fault.InWorkFolder(err)
	}
	n := binary.LittleEndian.Uint32(packed)
	switch {
	case n == 0:
		return nil, nil
	case n > rowLength || binary.LittleEndian.Uint32(packed[rowBytes-4:]) != durable.Checksum(doc, packed[:rowBytes-4]):
		return nil, scratch.ErrDamaged
	}
	for i := range n {
		row = append(row, binary.LittleEndian.Uint32(packed[4*(1+i):]))
	}
	return row, nil
}

// of appends to row[:0] the documents that are asked about a pair, as similar to doc.
func (r *related) of(row []uint32, doc, other uint32) ([]uint32, error) {
	row = row[:0]
	held, ok := r.held[doc]
	if !ok && r.file != nil {
		var err error
		if held, err = r.read(doc); err != nil {
			return row, err
		}
	}
	for _, third := range held {
		if third != other && len(row) < places.ThirdsMost {
			row = append(row, third)
		}
	}
	return row, nil
}

// close gives back what rows take. The file goes with its folder.
func (r *related) close() error {
	r.held = nil
	err := r.space.ReleaseAll(r.nearest)
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	return err
}
