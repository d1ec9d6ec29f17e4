package index

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// queue holds batches on their way to Pebble, in order. Pebble waits for the disk when it begins another log,
// and when a log has half a megabyte that is not written yet. With the queue another goroutine waits, and the
// writer goes on. Readers find the records of batches that Pebble does not have yet in the queue.
type queue struct {
	engine  *engine
	mu      sync.RWMutex
	moved   sync.Cond // a batch was applied, or none ever will be again
	batches []queued
	bytes   int   // of the batches
	added   int64 // number of batches so far
	applied int64
	recent  int // bytes applied since Pebble was last known to keep up; used only by the writer

	synced  atomic.Int64 // number of batches
	syncing sync.Mutex
}

func newQueue(e *engine) *queue {
	q := &queue{engine: e}
	q.moved.L = &q.mu
	e.stopped = func() {
		q.mu.Lock() // a goroutine that has just seen no error is waiting by now
		defer q.mu.Unlock()
		q.moved.Broadcast()
	}
	return q
}

type queued struct {
	batch   *pebble.Batch
	from    uint64   // slot of the first record
	records [][]byte // values of the records from there on, in the memory of the batch; nil: none
}

// commit writes a batch and closes it.
func (q *queue) commit(b *pebble.Batch) error {
	number, err := q.enqueue(b)
	if err == nil {
		err = q.wait(number)
	}
	q.slow()
	return err
}

// enqueue adds a batch to the queue and returns its number. It waits while the queue is full.
func (q *queue) enqueue(b *pebble.Batch) (number int64, err error) {
	entry := queued{batch: b}
	if entry.from, entry.records, err = recordsOf(b); err != nil {
		return 0, err
	}
	q.recent += b.Len()
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > 0 && q.bytes+b.Len() > q.mostQueued() && q.engine.err() == nil {
		q.moved.Wait()
	}
	if err := q.engine.err(); err != nil {
		return 0, err // the batch stays open, like those in the queue
	}
	q.batches = append(q.batches, entry)
	q.bytes += b.Len()
	q.added++
	if len(q.batches) == 1 {
		go q.applyQueued()
	}
	return q.added, nil
}

// mostQueued is how many bytes the queue may hold.
func (q *queue) mostQueued() int { return int(q.engine.options.MemTableSize / 2) }

// recordsOf returns the values of the records in a batch. Their slots ascend.
func recordsOf(b *pebble.Batch) (from uint64, records [][]byte, err error) {
	for r := b.Reader(); ; {
		kind, key, value, ok, err := r.Next()
		if err != nil || !ok {
			return from, records, err
		}
		if kind != pebble.InternalKeyKindSet || key[0] != keyRecord {
			continue
		}
		slot, err := parseSlotKey(key)
		if err != nil {
			return 0, nil, err
		}
		if records == nil {
			from = slot
		}
		for from+uint64(len(records)) < slot {
			records = append(records, nil)
		}
		records = append(records, value)
	}
}

// applyQueued gives the batches to Pebble until there is none left, or a write fails. In the latter case it
// may never return: see guarded.
func (q *queue) applyQueued() {
	for {
		q.mu.RLock()
		b := q.batches[0].batch
		q.mu.RUnlock()
		size := b.Len()
		if err := b.Commit(pebble.NoSync); err != nil {
			q.engine.fail(err)
			return
		}
		q.mu.Lock()
		q.batches[0] = queued{}
		q.batches = q.batches[1:]
		q.bytes -= size
		q.applied++
		more := len(q.batches) > 0
		q.moved.Broadcast()
		q.mu.Unlock()
		if err := b.Close(); err != nil {
			q.engine.fail(err)
			return
		}
		if !more {
			return
		}
	}
}

// wait returns when Pebble has the batch of this number.
func (q *queue) wait(number int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.applied < number && q.engine.err() == nil {
		q.moved.Wait()
	}
	if q.applied < number {
		return q.engine.err()
	}
	return nil
}

// drain returns when Pebble has all batches, and tells how many there have been.
func (q *queue) drain() (number int64, err error) {
	number = q.last()
	return number, q.wait(number)
}

// last returns the number of the last batch.
func (q *queue) last() int64 {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return q.added
}

func (q *queue) appendRecord(dst []byte, slot uint64) (value []byte, ok bool) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	for _, b := range q.batches {
		if at := slot - b.from; slot >= b.from && at < uint64(len(b.records)) {
			return append(dst, b.records[at]...), true
		}
	}
	return dst, false
}

// slow delays the writer a little while the queue is more than half full, or Pebble has many tables in memory to
// write. When the queue is full, the writer would wait long, and at memTablesAtOnce Pebble would stop all writes.
func (q *queue) slow() {
	filled := q.filled()
	if q.recent >= 1<<20 { // the metrics cost some microseconds
		m, err := q.engine.metrics()
		if err != nil {
			return // the next write returns the error
		}
		size := float64(m.MemTable.Size) / float64(memTablesAtOnce*q.engine.options.MemTableSize)
		if size <= 0.5 {
			q.recent = 0
		}
		filled = max(filled, size)
	}
	if filled > 0.5 {
		time.Sleep(min(time.Duration((filled-0.5)*float64(2*longestWait)), longestWait))
	}
}

// longestWait is the longest wait of a batch when batches come faster than the disk can write them.
const longestWait = 5 * time.Millisecond

// filled returns how full the queue is, from 0 to 1.
func (q *queue) filled() float64 {
	q.mu.RLock()
	defer q.mu.RUnlock()
	return float64(q.bytes) / float64(q.mostQueued())
}

// sync makes everything that was applied durable. A call during another sync waits for it, and often finds that
// this was enough.
func (q *queue) sync() error {
	want := q.last()
	q.syncing.Lock()
	defer q.syncing.Unlock()
	if q.synced.Load() >= want {
		return nil
	}
	upTo, err := q.drain()
	if err != nil {
		return err
	}
	if err := q.engine.do(func() error { return q.engine.db.LogData(nil, pebble.Sync) }); err != nil {
		return err
	}
	q.synced.Store(upTo)
	return nil
}
