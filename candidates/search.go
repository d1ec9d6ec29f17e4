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

// topk finds the pairs of TopK and Exact. If an index of all vectors does not fit in memory, it is
// made in parts, one after the other, and every query searches each part. The results of all parts
// are sorted, and the best of each query are kept.
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

// countDropped counts the records of two tables for which no list was read.
func (r *search) countDropped() {
	for _, met := range r.met {
		if !met && r.right != nil {
			r.summary.Dropped++
		}
	}
}

// part is a range of chunks.
type part struct{ first, end int }

// parts cuts the indexed side into as few ranges as possible whose index fits in half of the
// memory. Every part pays for the feature numbers. If these take most of that half, a part gets a
// quarter of the memory in addition: otherwise there would be many small parts, and each costs a
// pass over all records.
func (f *finder) parts(s *Store) (parts []part) {
	most := max(f.config.Memory/2, topk.IndexBytes(0, 0, s.numbers)+f.config.Memory/4)
	features := int64(0)
	first, vectors := 0, 0
	for i := range s.chunks {
		n := s.length - i*chunkVectors
		n = min(n, chunkVectors)
		// The number of features of a chunk in the file is estimated from its size.
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

type search struct {
	*finder
	indexed, searched *Store
	searchedIsLeft    bool

	options topk.Options
	ranked  bool     // results of several parts are to be merged
	met     []bool   // by query: a list entry was read for it
	floors  []uint32 // by query: the upper half of the least score that is still wanted
}

// part searches one part of the index with all queries.
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

// worker searches one part of the index on one goroutine.
type worker struct {
	*search
	searcher *topk.Searcher
	first    int // number of the index's first record in the store
	length   int // number of records of the index
	out      *extsort.Appender
	block    block
	matches  []topk.Match
}

// chunk searches with the vectors of a chunk as queries.
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

// one searches with record q as the query.
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

// Ranked entries sort by query, then falling score (63 bits), then the record found (31 bits):
//
//	key    32 bits query, upper 32 bits of ScoreOne − score
//	value  lower 31 bits of it, 31 bits record found
const (
	scoreShift = 31 // number of lower bits of a score
	foundBits  = 31
)

func (r *search) rank(q, found uint32, score uint64) (key, value uint64) {
	score = measure.ScoreOne - score
	return uint64(q)<<32 | score>>scoreShift, (score&(1<<scoreShift-1))<<foundBits | uint64(found)
}

// merge adds the pairs of the K best matches of each query.
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
