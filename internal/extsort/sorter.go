package extsort

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

var errSorted = errors.New("extsort: entries added after Sort; Reset comes first")

// Sorter collects entries. Its methods are called from one goroutine, while no appender is in use.
type Sorter struct {
	store *store
	table *table

	mu       sync.Mutex
	full     [][]Entry // full chunks of entries
	tail     []Entry   // the chunk that Flush fills
	free     [][]Entry // chunks for the appenders
	made     int       // number of chunks: full, free and with appenders
	entries  int       // in full and tail
	combined int       // number of entries from which on to combine
	err      error     // sticky
	result   *Sorted
}

// New makes a sorter. It opens and checks o.Runs.
func New(o Options) (*Sorter, error) {
	st, err := newStore(o)
	if err != nil {
		return nil, err
	}
	return &Sorter{store: st, table: &table{plan: st.plan, sum: o.Sum}, combined: st.plan.combine}, nil
}

// Appender returns a new appender. It stays valid through every Reset, and holds a chunk of 64 KiB;
// make one a goroutine, not one a document.
func (s *Sorter) Appender() *Appender { return &Appender{s: s} }

// exchange takes a full chunk, or none, and returns an empty one.
func (s *Sorter) exchange(chunk []Entry) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return chunk, err
	}
	if len(chunk) > 0 {
		s.full = append(s.full, chunk)
		s.entries += len(chunk)
	}
	return s.emptyChunk()
}

// collect copies an appender's entries to the tail.
func (s *Sorter) collect(chunk []Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	for len(chunk) > 0 {
		if len(s.tail) == cap(s.tail) {
			if s.tail != nil {
				s.full = append(s.full, s.tail)
				s.tail = nil
			}
			empty, err := s.emptyChunk()
			if err != nil {
				return err
			}
			if s.tail != nil { // makeRoom has left a tail that is not full
				s.free = append(s.free, empty)
				continue
			}
			s.tail = empty[:0]
		}
		n := min(len(chunk), cap(s.tail)-len(s.tail))
		s.tail = append(s.tail, chunk[:n]...)
		s.entries += n
		chunk = chunk[n:]
	}
	return nil
}

func (s *Sorter) usable() error {
	if s.err == nil && s.result != nil {
		return errSorted
	}
	return s.err
}

// emptyChunk returns a chunk, making room first when there is none.
func (s *Sorter) emptyChunk() ([]Entry, error) {
	if s.store.sum && s.entries >= s.combined {
		if err := s.combineAll(context.Background()); err != nil {
			return nil, s.fail(err)
		}
	}
	if len(s.free) == 0 && s.made >= s.store.plan.limit && len(s.full) > 0 {
		if err := s.makeRoom(context.Background()); err != nil {
			return nil, s.fail(err)
		}
	}
	if n := len(s.free); n > 0 {
		chunk := s.free[n-1]
		s.free = s.free[:n-1]
		return chunk, nil
	}
	s.made++
	return make([]Entry, s.store.plan.chunk), nil
}

func (s *Sorter) fail(err error) error {
	s.err = err
	return err
}

// takeAll moves all entries into the table and frees the chunks.
func (s *Sorter) takeAll(ctx context.Context) error {
	if len(s.tail) > 0 {
		s.full = append(s.full, s.tail)
		s.tail = nil
	}
	if err := s.table.load(ctx, s.full, s.entries); err != nil {
		return err
	}
	for _, chunk := range s.full {
		s.free = append(s.free, chunk[:cap(chunk)])
	}
	clear(s.full)
	s.full = s.full[:0]
	s.entries = 0
	return nil
}

// makeRoom frees the chunks: by combining where that at least halves the entries, otherwise by
// writing a run.
func (s *Sorter) makeRoom(ctx context.Context) error {
	held := s.entries
	if err := s.takeAll(ctx); err != nil {
		return err
	}
	if s.store.sum {
		n, err := s.table.sortAll(ctx)
		if err != nil {
			return err
		}
		if n <= held/2 {
			s.putBack(n)
			return nil
		}
	}
	return s.store.writeTable(ctx, s.table)
}

// combineAll merges entries of equal keys while memory is left.
func (s *Sorter) combineAll(ctx context.Context) error {
	held := s.entries
	if err := s.takeAll(ctx); err != nil {
		return err
	}
	n, err := s.table.sortAll(ctx)
	if err != nil {
		return err
	}
	s.putBack(n)
	s.combined = max(s.store.plan.combine, 2*n)
	if n > held-held/8 { // it hardly helped: wait longer
		s.combined *= 2
	}
	return nil
}

// putBack fills chunks with the table's n entries.
func (s *Sorter) putBack(n int) {
	s.entries = n
	var chunk []Entry
	for p := range s.table.parts {
		part := &s.table.parts[p]
		rest := s.table.entries[part.start:part.end]
		for len(rest) > 0 {
			if len(chunk) == cap(chunk) {
				if chunk != nil {
					s.full = append(s.full, chunk)
				}
				last := len(s.free) - 1 // there were chunks for more entries
				chunk = s.free[last][:0]
				s.free = s.free[:last]
			}
			n := min(len(rest), cap(chunk)-len(chunk))
			chunk = append(chunk, rest[:n]...)
			rest = rest[n:]
		}
	}
	s.tail = chunk
}

// Save puts everything flushed so far into runs and syncs them, for a checkpoint, and names all
// runs. The caller syncs the folder before it writes the checkpoint. From then on these runs are
// kept, even when a merge makes them superfluous, until Close.
func (s *Sorter) Save(ctx context.Context) (runs []Run, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	if err := s.spill(ctx); err != nil {
		return nil, s.fail(err)
	}
	runs, err = s.store.save()
	if err != nil {
		return nil, s.fail(err)
	}
	return runs, nil
}

// spill writes what is in memory as a run.
func (s *Sorter) spill(ctx context.Context) error {
	if s.entries == 0 {
		return nil
	}
	if err := s.takeAll(ctx); err != nil {
		return err
	}
	return s.store.writeTable(ctx, s.table)
}

// Sort ends adding, and returns the flushed entries in order. In memory it costs one pass over the
// entries, the rest comes with reading; runs are merged here only if there are too many to merge
// while they are read.
func (s *Sorter) Sort(ctx context.Context) (*Sorted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	sorted := &Sorted{store: s.store}
	if len(s.store.runs) == 0 {
		sorted.table, sorted.length = s.table, int64(s.entries)
		if err := s.takeAll(ctx); err != nil {
			return nil, s.fail(err)
		}
	} else {
		if err := s.spill(ctx); err != nil {
			return nil, s.fail(err)
		}
		if err := sorted.prepare(ctx, s.table); err != nil {
			return nil, s.fail(err)
		}
	}
	s.result = sorted
	return sorted, nil
}

// Reset empties the sorter for reuse. It keeps its memory and its appenders, which must have been
// flushed, and closes the result of Sort.
func (s *Sorter) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.result != nil {
		err = s.result.Close()
	} else {
		err = s.store.close(false)
	}
	if len(s.tail) > 0 {
		s.full = append(s.full, s.tail)
		s.tail = nil
	}
	for _, chunk := range s.full {
		s.free = append(s.free, chunk[:cap(chunk)])
	}
	clear(s.full)
	s.full = s.full[:0]
	s.entries, s.combined, s.result, s.err = 0, s.store.plan.combine, nil, nil
	if err != nil {
		return fmt.Errorf("empty a sorter: %w", err)
	}
	return nil
}

// Close ends a sorter whose entries are no longer needed, and removes its runs. After Sort the runs
// belong to the result of Sort, and stay.
func (s *Sorter) Close() error { return s.end(false) }

// Detach is Close, but keeps the runs that the last Save named (or that were in Options.Runs) for
// another process to continue with.
func (s *Sorter) Detach() error { return s.end(true) }

func (s *Sorter) end(keepSaved bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.New("extsort: sorter used after Close")
	s.full, s.free, s.tail, s.table, s.entries = nil, nil, nil, nil, 0
	if s.result != nil {
		return nil
	}
	return s.store.close(keepSaved)
}

// Appender adds entries to a sorter, from one goroutine.
type Appender struct {
	chunk []Entry // full when n is its length
	n     int
	s     *Sorter
}

// Add adds an entry. It copies 16 B, and hands over a chunk of entries to the sorter when the chunk
// is full. If memory is used up then, it sorts and writes a run, or waits for another appender that
// does. After an error the sorter can only be closed. Filling a sorter again after Reset allocates
// nothing.
func (a *Appender) Add(key, value uint64) error {
	if a.n == len(a.chunk) {
		return a.addSlow(key, value)
	}
	a.chunk[a.n] = Entry{key, value}
	a.n++
	return nil
}

func (a *Appender) addSlow(key, value uint64) error {
	chunk, err := a.s.exchange(a.chunk[:a.n])
	a.chunk, a.n = chunk, 0
	if err != nil {
		return err
	}
	a.chunk[0] = Entry{key, value}
	a.n = 1
	return nil
}

// Flush hands over what was added so far. It is needed before Save and Sort; more entries may be
// added after it.
func (a *Appender) Flush() error {
	n := a.n
	a.n = 0
	return a.s.collect(a.chunk[:n])
}
