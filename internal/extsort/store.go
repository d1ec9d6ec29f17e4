package extsort

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/fault"
)

// store keeps the runs of a sorter, and later of its result.
type store struct {
	dir          Dir
	name, scheme string
	sum          bool
	temporary    bool
	plan         plan
	runs         []*run
	obsolete     []*run // merged into others, but named by a Save
	last         int    // number of the newest run
	out          []Entry
}

func newStore(o Options) (*store, error) {
	if len(o.Scheme) > maxScheme {
		return nil, fmt.Errorf("sort %s: a scheme line of %d bytes, more than %d", o.Name, len(o.Scheme), maxScheme)
	}
	st := &store{dir: o.Dir, name: o.Name, scheme: o.Scheme, sum: o.Sum, temporary: o.Temporary, plan: newPlan(o)}
	for _, named := range o.Runs {
		r, err := openRun(o.Dir, named, o.Scheme, o.Sum)
		if err != nil {
			return nil, errors.Join(err, st.close(true))
		}
		st.runs = append(st.runs, r)
		digits := strings.TrimSuffix(strings.TrimPrefix(named.Name, o.Name+"-"), ".run")
		if n, err := strconv.Atoi(digits); err == nil {
			st.last = max(st.last, n)
		}
	}
	return st, nil
}

func (st *store) writeBuffer() []Entry {
	if st.out == nil {
		st.out = make([]Entry, 0, writeBlocks*(1+st.plan.chunk))
	}
	return st.out[:0]
}

// writeRun makes a run of the entries that fill appends.
func (st *store) writeRun(fill func(*runWriter) error) (*run, error) {
	if st.dir == nil {
		return nil, fmt.Errorf("sort %s: more entries than fit in memory, and no folder to put them", st.name)
	}
	st.last++
	w, err := newRunWriter(st, fmt.Sprintf("%s-%06d.run", st.name, st.last))
	if err != nil {
		return nil, err
	}
	err = fill(w)
	if err == nil {
		r, bytes, ferr := w.finish()
		if ferr == nil && st.temporary {
			r.synced = true // as far as it needs to be
			ferr = r.close()
		}
		if ferr == nil {
			st.dir.Spilled(bytes)
			return r, nil
		}
		err = ferr
	}
	return nil, errors.Join(err, w.abort(st.dir))
}

// writeTable adds a run of the table's entries, which workers sort while it is
// being written.
func (st *store) writeTable(ctx context.Context, t *table) error {
	r, err := st.writeRun(func(w *runWriter) error { return t.inOrder(ctx, w.append) })
	if err != nil {
		return err
	}
	st.runs = append(st.runs, r)
	return st.limitPending()
}

// inOrder calls visit with every part in ascending order, from this goroutine, while workers sort
// the next parts.
func (t *table) inOrder(ctx context.Context, visit func(part []Entry) error) error {
	ready := make(chan int, len(t.parts)) // with room for all, so workers never wait
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return t.each(ctx, t.plan.threads, func(_, p int, _ []Entry) error {
			ready <- p
			return nil
		})
	})
	err := func() error {
		done := make([]bool, len(t.parts))
		for p := range t.parts {
			for !done[p] {
				select {
				case q := <-ready:
					done[q] = true
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			if err := visit(t.entries[t.parts[p].start:t.parts[p].end]); err != nil {
				return err
			}
		}
		return nil
	}()
	cancel()
	if werr := group.Wait(); err == nil && !errors.Is(werr, context.Canceled) {
		err = werr
	}
	return err
}

// limitPending syncs the oldest runs when too many have open files and are not synced.
func (st *store) limitPending() error {
	waiting := 0
	for _, r := range slices.Backward(st.runs) {
		if r.pending == nil {
			continue
		}
		if waiting++; waiting > maxPending {
			if err := r.sync(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sync puts a run on stable storage and closes the file handle that wrote it.
func (r *run) sync() error {
	if r.synced {
		return nil
	}
	if err := r.pending.Sync(); err != nil {
		return fault.InWorkFolder(err)
	}
	file := r.pending
	r.pending, r.synced = nil, true
	if err := file.Close(); err != nil {
		return fault.InWorkFolder(err)
	}
	return nil
}

// save syncs all runs and names them.
func (st *store) save() ([]Run, error) {
	var group errgroup.Group
	group.SetLimit(8) // so that the disk can choose the order
	for _, r := range st.runs {
		group.Go(r.sync)
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	names := make([]Run, len(st.runs))
	for i, r := range st.runs {
		r.saved = true
		names[i] = Run{r.name, r.id}
	}
	return names, nil
}

func (st *store) remove(r *run) error {
	if err := st.dir.Remove(r.name); err != nil {
		return fmt.Errorf("remove %s: %w", r.name, err)
	}
	return nil
}

// drop takes a merged run out of use.
func (st *store) drop(r *run) error {
	if r.saved {
		st.obsolete = append(st.obsolete, r)
		return r.close()
	}
	return errors.Join(r.close(), st.remove(r))
}

// open opens a run's file for reading, if it is not open.
func (st *store) open(r *run) error {
	if r.file != nil {
		return nil
	}
	file, err := st.dir.Open(r.name)
	if err != nil {
		return fmt.Errorf("open %s: %w", r.name, err)
	}
	r.file = file
	return nil
}

// close closes the run's files.
func (r *run) close() error {
	var errs []error
	if r.file != nil {
		errs = append(errs, r.file.Close())
	}
	if r.pending != nil {
		errs = append(errs, r.pending.Close())
	}
	r.file, r.pending = nil, nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close %s: %w", r.name, err)
	}
	return nil
}

// close closes all runs and removes them; with keepSaved it keeps those that a checkpoint may name.
func (st *store) close(keepSaved bool) error {
	var errs []error
	for _, r := range slices.Concat(st.runs, st.obsolete) {
		errs = append(errs, r.close())
		if !(keepSaved && r.saved) {
			errs = append(errs, st.remove(r))
		}
	}
	st.runs, st.obsolete = nil, nil
	return errors.Join(errs...)
}
