package reread

import (
	"context"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/alike-dev/alike/internal/bitset"
)

// The records wanted of plain objects are fetched by requests for runs of them:
//
//	object   ├──w──w─────w┬─────────────────────w─w──┬──────w─┤    w: wanted
//	request      ╰───────╯                      ╰─╯         ╰╯
//
// A gap that is smaller than gapBytes is fetched too: it takes less time than the answer to one
// more request. A run ends when it has runBytes, so that other runs are fetched at the same time.
const (
	gapBytes    = 256 << 10
	runBytes    = 2 << 20
	runsAtOnce  = 64
	rangesBytes = 8 << 20 // under way for each worker, as many as a worker's open object holds
)

// recordRun is the range of one request.
type recordRun struct {
	file       int
	start, end int64 // in the object
	docs       []placedRecord
}

// placedRecord is a wanted document and where its record lies.
type placedRecord struct {
	doc    uint32
	length uint32
	offset int64
}

// add adds a document to the run, and reports whether it belongs there.
func (r *recordRun) add(file int, at placedRecord) bool {
	end := at.offset + int64(at.length)
	if len(r.docs) > 0 && (file != r.file || at.offset-r.end > gapBytes || end-r.start > runBytes) {
		return false
	}
	if len(r.docs) == 0 {
		r.file, r.start = file, at.offset
	}
	r.docs = append(r.docs, at)
	r.end = end
	return true
}

// fetchRanges fetches the wanted records of plain objects.
func (s *Store) fetchRanges(ctx context.Context, wanted bitset.Set[uint32]) error {
	room := int64(s.Space.Threads) * rangesBytes
	if share := s.Space.Share(8); share > 0 {
		room = min(room, max(share, runBytes))
	}
	free := semaphore.NewWeighted(room)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(runsAtOnce)
	err := s.eachRange(wanted, func(run recordRun) error {
		size := min(run.end-run.start, room) // a record may be larger
		if err := free.Acquire(within, size); err != nil {
			return err
		}
		group.Go(func() error {
			defer free.Release(size)
			return s.fetchRun(within, run)
		})
		return nil
	})
	if failed := group.Wait(); failed != nil {
		return failed // err only follows from it
	}
	return err
}

// eachRange cuts the wanted documents of plain objects into runs.
func (s *Store) eachRange(wanted bitset.Set[uint32], fetch func(recordRun) error) error {
	t := s.Table
	c := t.Scanner()
	var run recordRun
	for i := range t.Blocks {
		b := &t.Blocks[i]
		if !s.Table.Sources[b.File].ByRange() {
			continue
		}
		for doc := b.FirstDoc; doc < b.FirstDoc+b.Docs; doc++ {
			if !wanted.Has(doc) {
				continue
			}
			d := c.Doc(doc)
			if c.Err != nil {
				return c.Err
			}
			at := placedRecord{doc, d.Length, d.Offset()}
			if run.add(int(b.File), at) {
				continue
			}
			if err := fetch(run); err != nil {
				return err
			}
			run = recordRun{}
			run.add(int(b.File), at)
		}
	}
	if len(run.docs) == 0 {
		return nil
	}
	return fetch(run)
}

// fetchRun fetches a run and keeps its records.
func (s *Store) fetchRun(ctx context.Context, run recordRun) error {
	buf := make([]byte, run.end-run.start)
	if err := s.Table.Sources[run.file].ReadRange(ctx, buf, run.start); err != nil {
		return err
	}
	for _, at := range run.docs {
		start := at.offset - run.start
		if err := s.Put(at.doc, buf[start:start+int64(at.length)]); err != nil {
			return err
		}
	}
	return nil
}
