package index

import (
	"math"
	"sync/atomic"
	"time"
)

// Window bounds the collection. The zero Window keeps all documents.
type Window struct {
	// Docs, if set, is the largest number of documents: the last ones are kept.
	Docs int
	// Age, if set, is how far apart in time similar documents may be, and therefore how long documents are
	// kept. Times are those of the events: Document.Time.
	Age time.Duration
	// Late is how much older than the newest document so far a document may be and still be
	// treated as if it had come in time. One that is older than Age+Late is compared with the
	// collection, but not kept.
	Late time.Duration
	// Refresh moves a document to the end of the window when its duplicate comes, with the time
	// of the duplicate.
	Refresh bool
	// Now, if set, bounds the clock: a document from the future does not make others expire.
	Now func() time.Time
}

// marksPerAge is the number of marks within Window.Age: documents between two marks expire together. Decisions do
// not depend on it: see inTime.
const marksPerAge = 128

// A window tells by the clock which documents are in time. Any goroutine may ask it; only the writer advances the
// clock.
type window struct {
	Window
	clock atomic.Int64 // the newest time, in nanoseconds; math.MinInt64: none yet
}

// expires tells whether documents leave the collection by themselves.
func (w *window) expires() bool { return w.Docs > 0 || w.Age > 0 }

// inTime tells whether documents with these times are near enough in time to be duplicates.
func (w *window) inTime(a, b int64) bool {
	age := int64(w.Age)
	return age == 0 || a-b <= age && b-a <= age
}

// untimed returns the time of a document that has none.
func (w *window) untimed() int64 {
	if w.Now != nil {
		return w.Now().UnixNano()
	}
	return max(w.clock.Load(), 0)
}

// tick advances the clock to the time of a document.
func (w *window) tick(to int64) {
	if w.Now != nil {
		to = min(to, w.Now().Add(w.Late).UnixNano())
	}
	if to > w.clock.Load() {
		w.clock.Store(to)
	}
}

// stay is how long a document stays.
func (w *window) stay() int64 {
	return int64(min(w.Age, math.MaxInt64/2)) + int64(min(w.Late, math.MaxInt64/2))
}

// tooLate tells whether a document of this time would expire at once.
func (w *window) tooLate(at int64) bool { return w.Age > 0 && w.clock.Load()-at > w.stay() }

// mark says that all documents before a slot have the time clock or an earlier one.
type mark struct {
	slot  uint64
	clock int64
}

// due tells whether the documents from the last mark on are to get a mark of their own at this time.
func (w *window) due(marks []mark, at int64) bool {
	every := max(int64(w.Age)/marksPerAge, int64(time.Nanosecond))
	return len(marks) == 0 || at-marks[len(marks)-1].clock >= every
}
