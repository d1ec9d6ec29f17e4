package extsort

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/sorting"
)

// Sorted is entries in order: in memory or, when they did not fit, in runs that every reading
// merges again. Its methods may be called from several goroutines, except for Save and
// Close.
type Sorted struct {
	store   *store
	table   *table // nil: in runs
	kernels *kernels
	length  int64
	lanes   lanes
}

// lanes are the buffers of mergers, one for each worker.
type lanes struct {
	mu   sync.Mutex
	size int // entries
	free [][]Entry
}

func (l *lanes) take() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		lane := l.free[n-1]
		l.free = l.free[:n-1]
		return lane
	}
	return make([]Entry, l.size)
}

func (l *lanes) give(lane []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, lane)
}

// Open opens what Save left: o.Runs.
func Open(ctx context.Context, o Options) (*Sorted, error) {
	st, err := newStore(o)
	if err != nil {
		return nil, err
	}
	s := &Sorted{store: st}
	if err := s.prepare(ctx, &table{plan: st.plan}); err != nil {
		return nil, errors.Join(err, st.close(true))
	}
	return s, nil
}

// prepare merges runs until the remaining ones can be merged while they are read, and divides the
// memory of t, which is empty.
func (s *Sorted) prepare(ctx context.Context, t *table) error {
	st := s.store
	s.kernels = &t.kernels
	unit := st.plan.chunk
	for _, r := range st.runs {
		unit = max(unit, r.unit)
	}
	fixed := st.plan.partMax + st.plan.part
	laneOf := func(lanes, blocks int) int { return min(st.plan.arena/lanes, fixed+blocks*(1+unit)) }
	fan := func(lanes int) int {
		return max(2, min((st.plan.arena/lanes-fixed)/(1+unit), maxFan))
	}
	if len(st.runs) > fan(st.plan.threads) {
		s.setLanes(t, 1, max(laneOf(1, fan(1)*maxReadAhead), fixed+2*(1+unit)))
		if err := s.mergeDown(ctx, fan(st.plan.threads), fan(1)); err != nil {
			return err
		}
	}
	k := len(st.runs)
	s.setLanes(t, st.plan.threads, max(laneOf(st.plan.threads, k*maxReadAhead), fixed+k*(1+unit)))
	for _, r := range st.runs {
		s.length += r.entries
		if err := st.open(r); err != nil {
			return err
		}
	}
	return nil
}

// setLanes cuts the table's memory into n lanes.
func (s *Sorted) setLanes(t *table, n, size int) {
	s.lanes.size, s.lanes.free = size, nil
	memory := t.entries[:cap(t.entries)]
	if len(memory) < n*size {
		memory, t.entries = nil, nil // freed before its successor is made
		memory = make([]Entry, n*size)
		t.entries = memory
	}
	for i := range n {
		s.lanes.free = append(s.lanes.free, memory[i*size:(i+1)*size:(i+1)*size])
	}
}

// mergeDown merges the shortest runs, at most fan at once, until no more than want
// are left.
func (s *Sorted) mergeDown(ctx context.Context, want, fan int) error {
	st := s.store
	for len(st.runs) > want {
		sorting.Stable(st.runs, func(a, b *run) int { return cmp.Compare(a.entries, b.entries) })
		some := st.runs[:min(fan, len(st.runs)-want+1)]
		merged, err := st.writeRun(func(w *runWriter) error { return s.mergeInto(ctx, w, some) })
		if err != nil {
			return err
		}
		some = slices.Clone(some)
		st.runs = append(st.runs[len(some):len(st.runs):len(st.runs)], merged)
		for i, r := range some {
			if err := st.drop(r); err != nil {
				st.obsolete = append(st.obsolete, some[i+1:]...)
				return err
			}
		}
	}
	return st.limitPending()
}

func (s *Sorted) mergeInto(ctx context.Context, w *runWriter, runs []*run) error {
	for _, r := range runs {
		if err := s.store.open(r); err != nil {
			return err
		}
	}
	return s.eachIn(ctx, runs, keyRange{last: true}, func(part []Entry, _ bool) error { return w.append(part) })
}

// Len returns the number of entries. With Sum it is an upper bound: entries of equal keys that are
// not merged yet count separately.
func (s *Sorted) Len() int64 { return s.length }

func (s *Sorted) Spilled() bool { return s.table == nil && len(s.store.runs) > 0 }

// Each calls visit for every part: sorted entries of whole keys. One worker, 0 ≤ worker < threads,
// gets its parts in ascending order; there is no order between workers. A key of more than PartMax
// entries comes in several parts of its own, in order, from one worker; more is true for all of
// them but the last. A part is valid during the call and must not be written to. threads is reduced
// to Options.Threads.
//
// Cost: in memory 17 ns an entry and thread the first time and then a pass over memory; in runs,
// reading and sorting in cache of all entries each time.
func (s *Sorted) Each(ctx context.Context, threads int, visit func(worker int, part []Entry, more bool) error) error {
	threads = max(1, min(threads, s.store.plan.threads))
	if s.table != nil {
		return s.table.each(ctx, threads, func(worker, _ int, part []Entry) error {
			c := cutter{rest: part, max: s.store.plan.partMax}
			for {
				piece, more, ok := c.take(false)
				if !ok {
					return nil
				}
				if err := visit(worker, piece, more); err != nil {
					return err
				}
			}
		})
	}
	ranges := s.ranges(threads)
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range min(threads, len(ranges)) {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(ranges) {
					return nil
				}
				err := s.eachIn(ctx, s.store.runs, ranges[i], func(part []Entry, more bool) error {
					return visit(worker, part, more)
				})
				if err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// ranges divides the keys, by the runs' fences, into ranges of about equally many entries.
func (s *Sorted) ranges(threads int) []keyRange {
	var fences []uint64
	blocks := 0
	for _, r := range s.store.runs {
		blocks += len(r.fences)
	}
	step := blocks>>16 + 1
	for _, r := range s.store.runs {
		for i := 0; i < len(r.fences); i += step {
			fences = append(fences, r.fences[i])
		}
	}
	slices.Sort(fences)
	n := 1
	if threads > 1 { // a range reads a block or two too many of every run
		n = max(1, min(8*threads, blocks/(8*max(1, len(s.store.runs)))))
	}
	var ranges []keyRange
	lo := uint64(0)
	for i := 1; i < n; i++ {
		if hi := fences[len(fences)*i/n]; hi > lo {
			ranges = append(ranges, keyRange{lo: lo, hi: hi})
			lo = hi
		}
	}
	return append(ranges, keyRange{lo: lo, last: true})
}

// eachIn calls visit with every part of a range of the runs.
func (s *Sorted) eachIn(ctx context.Context, runs []*run, keys keyRange, visit func(part []Entry, more bool) error) error {
	lane := s.lanes.take()
	defer s.lanes.give(lane)
	m, err := s.newMerger(runs, keys, lane)
	if err != nil {
		return err
	}
	defer s.kernels.give(m.kernel)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		part, more, err := m.next()
		if err != nil || len(part) == 0 {
			return err
		}
		if err := visit(part, more); err != nil {
			return err
		}
	}
}

// newMerger merges a range of the runs in the memory of a lane.
func (s *Sorted) newMerger(runs []*run, keys keyRange, lane []Entry) (*merger, error) {
	p := s.store.plan
	m := &merger{sum: s.store.sum, batch: p.part, buf: lane[: 0 : p.partMax+p.part], cutter: cutter{max: p.partMax}}
	buffers := lane[p.partMax+p.part:]
	share := len(buffers) / max(1, len(runs))
	for _, r := range runs {
		size := min(share/(1+r.unit), maxReadAhead) * (1 + r.unit)
		c, ok, err := newCursor(r, keys, buffers[:size])
		if err != nil {
			return nil, err
		}
		if ok {
			m.cursors = append(m.cursors, c)
			buffers = buffers[size:]
		}
	}
	m.kernel = s.kernels.take(p.part)
	return m, nil
}

// Save puts everything into synced runs and names them, for Open in another process. The caller
// syncs the folder before it writes the checkpoint.
func (s *Sorted) Save(ctx context.Context) (runs []Run, err error) {
	if s.table != nil && len(s.table.entries) > 0 && len(s.store.runs) == 0 {
		if err := s.store.writeTable(ctx, s.table); err != nil {
			return nil, err
		}
	}
	return s.store.save()
}

// Close frees the memory, unless a sorter keeps it for Reset, and removes the runs.
func (s *Sorted) Close() error { return s.end(false) }

// Detach is Close, but keeps the runs that the last Save named (or that were in Options.Runs) for
// another process to open.
func (s *Sorted) Detach() error { return s.end(true) }

func (s *Sorted) end(keepSaved bool) error {
	s.table, s.lanes.free, s.length = nil, nil, 0
	return s.store.close(keepSaved)
}

// Reader returns a reader of all entries. In memory it sorts all parts first.
func (s *Sorted) Reader() *Reader { return s.ReaderFrom(0) }

// ReaderFrom returns a reader of the entries with keys ≥ key.
func (s *Sorted) ReaderFrom(key uint64) *Reader {
	r := &Reader{s: s, from: key}
	if s.table != nil {
		_, _ = s.table.sortAll(context.Background()) // fails only by its context
		r.next = int(min(key>>s.table.shift, uint64(max(0, len(s.table.parts)-1))))
	}
	return r
}

// Reader reads entries in order. It belongs to one goroutine.
type Reader struct {
	part []Entry // entries that were read
	at   int     // index of the next of them
	s    *Sorted
	from uint64
	next int     // in memory: the next part
	m    *merger // in runs, from the first entry on
	lane []Entry
	err  error
}

// Next returns the next entry; false at the end, and after an error.
func (r *Reader) Next() (e Entry, ok bool) {
	if r.at == len(r.part) && !r.fill() {
		return e, false
	}
	e = r.part[r.at]
	r.at++
	return e, true
}

// Peek returns the entry that Next will return.
func (r *Reader) Peek() (e Entry, ok bool) {
	if r.at == len(r.part) && !r.fill() {
		return e, false
	}
	return r.part[r.at], true
}

// fill reads entries when none are left; it is false at the end.
func (r *Reader) fill() bool {
	r.part, r.at = nil, 0
	if r.s == nil || r.err != nil {
		return false
	}
	if r.s.table != nil {
		return r.fillFromTable()
	}
	if r.m == nil {
		r.lane = r.s.lanes.take()
		if r.m, r.err = r.s.newMerger(r.s.store.runs, keyRange{lo: r.from, last: true}, r.lane); r.err != nil {
			return false
		}
	}
	r.part, _, r.err = r.m.next()
	return len(r.part) > 0
}

func (r *Reader) fillFromTable() bool {
	for t := r.s.table; len(r.part) == 0; r.next++ {
		if r.next >= len(t.parts) {
			return false
		}
		part := t.entries[t.parts[r.next].start:t.parts[r.next].end]
		r.part = part[searchKey(part, r.from):]
	}
	return true
}

// Err returns the error that ended reading, or nil.
func (r *Reader) Err() error { return r.err }

// Close gives back the reader's buffers and returns Err. Nothing can be read after it.
func (r *Reader) Close() error {
	if r.lane != nil {
		r.s.lanes.give(r.lane)
	}
	if r.m != nil {
		r.s.kernels.give(r.m.kernel)
	}
	r.part, r.at, r.s, r.m, r.lane = nil, 0, nil, nil, nil
	return r.err
}
