package candidates

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/topk"
)

// topk finds the pairs of TopK and Exact. An index of all vectors that does not fit in
// memory is made in parts, one after the other, and everything is searched for in each. The
// best of all parts are then the best of the parts' best, which are sorted.
func (f *finder) topk(ctx context.Context, indexed, searched *Store, searchedIsLeft bool, pairs *extsort.Sorter) (err error) {
	parts := f.parts(indexed)
	f.summary.Parts = max(f.summary.Parts, len(parts))
	f.summary.Searched += int64(searched.Len())
	run := &search{
		finder: f, indexed: indexed, searched: searched, searchedIsLeft: searchedIsLeft,
		options: f.config.search(f.summary.Method), met: make([]bool, searched.Len()),
	}
	defer run.countDropped()
	if len(parts) <= 1 || run.options.K == 0 {
		for _, p := range parts {
			if err := run.part(ctx, p, pairs); err != nil {
				return err
			}
		}
		return nil
	}
	best, err := f.sorter("best", false, 4, pairBits(searched.Len()))
	if err != nil {
		return err
	}
	run.ranked, run.floors = true, make([]uint32, searched.Len())
	for _, p := range parts {
		if err := run.part(ctx, p, best); err != nil {
			return errors.Join(err, best.Close())
		}
	}
	sorted, err := best.Sort(ctx)
	if err != nil {
		return errors.Join(err, best.Close())
	}
	return errors.Join(run.merge(sorted, pairs), sorted.Close())
}

// countDropped counts the records of two tables for which no list was looked at.
func (r *search) countDropped() {
	for _, met := range r.met {
		if !met && r.right != nil {
			r.summary.Dropped++
		}
	}
}

// part is a range of chunks.
type part struct{ first, end int }

// parts cuts the indexed side into as few ranges as its index fits in half of the memory. What
// the numbers of features take is in every part: where that is most of the half, parts take
// a quarter beside it, as many small ones would cost a pass over all records each.
func (f *finder) parts(s *Store) (parts []part) {
	most := max(f.config.Memory/2, topk.IndexBytes(0, 0, s.numbers)+f.config.Memory/4)
	features := int64(0)
	first, vectors := 0, 0
	for i := range s.chunks {
		n := s.length - i*chunkVectors
		n = min(n, chunkVectors)
		// Chunks in the file have about as many features as their length says.
		more := s.features * int64(n) / int64(s.length)
		if c := s.chunks[i]; c.vectors != nil {
			more = int64(c.vectors.Features())
		} else {
			more = max(more, c.size/8)
		}
		need := topk.IndexBytes(vectors+n, features+more, s.numbers) + 9*(features+more)
		if f.config.Memory > 0 && i > first && need > most {
			parts = append(parts, part{first, i})
			first, vectors, features = i, 0, 0
		}
		vectors += n
		features += more
	}
	if first < len(s.chunks) {
		parts = append(parts, part{first, len(s.chunks)})
	}
	return parts
}

// search is one run of searches.
type search struct {
	*finder
	indexed, searched *Store
	searchedIsLeft    bool

	options topk.Options
	ranked  bool     // what is added is to be merged
	met     []bool   // by record searched for: it had to be compared with what a list holds
	floors  []uint32 // for each record searched for: the top half of the least score that may count
}

// part searches a part of the index for everything.
func (r *search) part(ctx context.Context, p part, out *extsort.Sorter) error {
	searched := r.searched
	vectors, err := r.indexed.join(p.first, p.end)
	if err != nil {
		return err
	}
	index, err := topk.NewIndex(vectors, r.options)
	if err != nil {
		return err
	}
	var next atomic.Int64
	var entries, compared atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(r.config.Threads, len(searched.chunks)) {
		w := &worker{search: r, searcher: index.NewSearcher(), first: p.first * chunkVectors, length: index.Len(), out: out.Appender()}
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(searched.chunks)); i = next.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := w.chunk(searched, int(i)); err != nil {
					return err
				}
			}
			entries.Add(int64(w.searcher.Work().Entries))
			compared.Add(int64(w.searcher.Work().Compared))
			return w.out.Flush()
		})
	}
	err = group.Wait()
	r.summary.Entries += entries.Load()
	r.summary.Compared += compared.Load()
	return err
}

// worker searches a part of the index on one goroutine.
type worker struct {
	*search
	searcher *topk.Searcher
	first    int // record of the index
	length   int // records of the index
	out      *extsort.Appender
	block    block
	matches  []topk.Match
}

// chunk searches for the vectors of a chunk.
func (w *worker) chunk(searched *Store, i int) error {
	vectors, err := searched.read(i, &w.block)
	if err != nil {
		return err
	}
	for k := range vectors.Len() {
		if err := w.one(uint32(i*chunkVectors+k), vectors.At(k)); err != nil {
			return err
		}
	}
	return nil
}

// one searches for record number q.
func (w *worker) one(q uint32, v simjoin.Vector) error {
	if w.ranked {
		w.searcher.AtLeast = uint64(w.floors[q]) << scoreShift
	}
	if own := int(q) - w.first; w.right == nil && own >= 0 && own < w.length {
		w.matches = w.searcher.Others(w.matches[:0], own)
	} else {
		before := w.searcher.Work().Entries
		w.matches = w.searcher.Search(w.matches[:0], v)
		w.met[q] = w.met[q] || w.searcher.Work().Entries > before
	}
	for _, m := range w.matches {
		id := m.Index + uint32(w.first)
		key, value := w.key(q, id, w.searchedIsLeft), m.Score
		if w.ranked {
			key, value = w.rank(q, id, m.Score)
		}
		if err := w.out.Add(key, value); err != nil {
			return err
		}
	}
	if k := w.options.K; w.ranked && len(w.matches) == k {
		w.floors[q] = max(w.floors[q], uint32(w.matches[k-1].Score>>scoreShift))
	}
	return nil
}

// Ranked entries are in order of the record searched for, of falling scores, of which there
// are 63 bits, and of the record found, of which there are 31:
//
//	key    32 bits record, 32 bits of ScoreOne − score, the upper ones
//	value  31 bits of it, the lower ones, and 31 bits record found
const (
	scoreShift = 31 // the lower bits of a score
	foundBits  = 31
)

func (r *search) rank(q, found uint32, score uint64) (key, value uint64) {
	score = measure.ScoreOne - score
	return uint64(q)<<32 | score>>scoreShift, (score&(1<<scoreShift-1))<<foundBits | uint64(found)
}

// merge adds the pairs of the K best of each record.
func (r *search) merge(best *extsort.Sorted, pairs *extsort.Sorter) error {
	out := pairs.Appender()
	reader := best.Reader()
	last, taken := uint32(0), 0
	for e, ok := reader.Next(); ok; e, ok = reader.Next() {
		q := uint32(e.Key >> 32)
		if q != last {
			last, taken = q, 0
		}
		if taken++; taken > r.options.K {
			continue
		}
		score := measure.ScoreOne - (e.Key&math.MaxUint32<<scoreShift | e.Value>>foundBits)
		if err := out.Add(r.key(q, uint32(e.Value&(1<<foundBits-1)), r.searchedIsLeft), score); err != nil {
			return errors.Join(err, reader.Close())
		}
	}
	if err := reader.Close(); err != nil {
		return err
	}
	return out.Flush()
}
