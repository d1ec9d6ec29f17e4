package ordered

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/alike-dev/alike/internal/durable"
)

// keep begins a snapshot when it is time for one.
func (r *Replica) keep(bytes int64) error {
	r.since += bytes
	due := r.since >= max(r.c.SnapshotBytes, r.size.Load()/2) || time.Since(r.saved) > snapshotEvery
	if !due || r.saving.Load() {
		return nil
	}
	header, err := r.state.appendHeader(nil)
	if err != nil {
		return err
	}
	write, err := r.c.Machine.Save()
	if err != nil {
		return &standsStill{err}
	}
	r.since, r.saved = 0, time.Now()
	r.saving.Store(true)
	number := r.state.Applied
	// Entries up to this one are in the snapshots that all members have told of, and have done what they do.
	before := min(r.state.oldest()+1, r.c.Machine.Needs(number))
	r.saves.Go(func() {
		defer r.saving.Store(false)
		if err := r.save(number, before, header, write); err != nil && r.ctx.Err() == nil {
			r.c.Report.Error("a snapshot has failed", "entry", number, "error", err)
		}
	})
	return nil
}

// snapshotEvery is how old the newest snapshot gets, if there are entries behind it.
const snapshotEvery = time.Hour

// save writes a snapshot, and trims the log.
func (r *Replica) save(number, before uint64, header []byte, write func(to io.Writer) error) error {
	size, err := r.snapshots.write(r.ctx, number, header, write)
	if err != nil {
		return fmt.Errorf("it was not written: %w", err)
	}
	if r.c.Bucket != nil {
		if err := r.snapshots.upload(number, size); err != nil {
			return fmt.Errorf("it is not in the bucket: %w", err)
		}
	}
	r.size.Store(size)
	r.snapshots.newest.Store(number)
	r.unsaid.Store(true)
	if before <= 1 {
		return nil
	}
	if err := r.c.Log.Trim(r.ctx, before); err != nil {
		return fmt.Errorf("the log was not trimmed: %w", err)
	}
	return nil
}

// load loads the newest snapshot that the log goes on from, or begins with nothing if the log has everything.
func (r *Replica) load() error {
	bucket, err := r.snapshots.inBucket()
	if err != nil {
		return err
	}
	local, err := r.snapshots.folder.all()
	if err != nil {
		return err // to begin without them may be to begin with nothing
	}
	newest := slices.Max(slices.Concat(local, bucket, []uint64{0}))
	if err := r.c.Log.Open(r.ctx, newest+1); err != nil {
		return err
	}
	first, last, err := r.c.Log.Bounds(r.ctx)
	if err != nil {
		return err
	}
	fits := func(number uint64) bool { return number+1 >= first && number <= last }
	isThere := func(uint64) error { return nil }
	for _, from := range []struct {
		all   []uint64
		bring func(number uint64) error
	}{{local, isThere}, {bucket, r.snapshots.download}} {
		if done, err := r.loadAny(from.all, fits, from.bring); done || err != nil {
			return err
		}
	}
	number, err := r.snapshots.fetch(fits)
	if err == nil {
		return asStanding(r.loadLocal(number))
	}
	switch {
	case first > 1:
		return fmt.Errorf("the log begins at entry %d, and no replica or bucket has a snapshot from which it goes on: %w; others: %w", first, ErrTrimmed, err)
	case newest > last:
		return fmt.Errorf("the log ends at entry %d, and a snapshot has %d: see docs/operations.md, Restore: %w", last, newest, ErrShort)
	}
	if err := r.c.Machine.Load(nil); err != nil {
		return err
	}
	r.began(newState())
	return nil
}

// asStanding is an error of loading: without another version of the program there is no use in trying again.
func asStanding(err error) error {
	if errors.Is(err, ErrVersion) {
		return &standsStill{err}
	}
	return err
}

// loadAny loads the first snapshot that fits and is whole. bring puts it into the folder.
func (r *Replica) loadAny(all []uint64, fits func(number uint64) bool, bring func(number uint64) error) (done bool, err error) {
	for _, number := range all {
		if !fits(number) {
			continue
		}
		err := bring(number)
		if err == nil {
			err = r.loadLocal(number)
		}
		if err == nil || errors.Is(err, ErrVersion) {
			return true, asStanding(err)
		}
		r.damaged.report(r.c.Report, "a snapshot was not loaded", fmt.Errorf("entry %d: %w", number, err))
	}
	return false, nil
}

// loadLocal loads a snapshot of the folder.
func (r *Replica) loadLocal(number uint64) error {
	file, err := durable.OpenOwn(r.c.FS, r.snapshots.folder.path(number))
	if err != nil {
		return err
	}
	defer file.Close()
	from := bufio.NewReaderSize(file, 1<<20)
	s, err := readHeader(from)
	if err == nil && s.Applied != number {
		err = errNoSnapshot
	}
	if err == nil {
		err = r.c.Machine.Load(from)
	}
	if err != nil {
		return err
	}
	r.snapshots.newest.Store(number)
	r.unsaid.Store(true)
	r.began(s)
	return nil
}

func (r *Replica) began(s state) {
	r.state = s
	r.chains.begin(&s)
	r.past.Store(&past{s.Applied, s.Chain})
	r.applied.Store(s.Applied)
	r.knows.Store(int64(s.knows()))
	r.since = 0
}

// standsStill is an error of the machine.
type standsStill struct{ error }

func (s *standsStill) Unwrap() error { return s.error }
