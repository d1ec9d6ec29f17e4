package index

import (
	"math"
	"time"
)

// slotsAtOnce is how many documents expire with one batch in addition to as many as it
// brings, so that a pause of the stream does not make the index pause.
const slotsAtOnce = 1 << 14

// marksPerAge is the number of marks within Window.Age: documents between two marks expire together. Decisions do
// not depend on it: see inTime.
const marksPerAge = 128

// inTime tells whether documents with these times are near enough in time to be duplicates.
func (x *Index) inTime(a, b int64) bool {
	age := int64(x.options.Window.Age)
	return age == 0 || a-b <= age && b-a <= age
}

// untimed returns the time of a document that has none.
func (x *Index) untimed() int64 {
	if now := x.options.Window.Now; now != nil {
		return now().UnixNano()
	}
	return max(x.clock.Load(), 0)
}

// stay is how long a document stays.
func (x *Index) stay() int64 {
	w := x.options.Window
	return int64(min(w.Age, math.MaxInt64/2)) + int64(min(w.Late, math.MaxInt64/2))
}

// tooLate tells whether a document of this time would expire at once.
func (x *Index) tooLate(at int64) bool {
	return x.options.Window.Age > 0 && x.clock.Load()-at > x.stay()
}

func (x *Index) markEvery() int64 {
	return max(int64(x.options.Window.Age)/marksPerAge, int64(time.Nanosecond))
}

// expire moves the start of the window. O(1) for each document that expires.
func (x *Index) expire() {
	if !x.expires() {
		return
	}
	first := x.growing.First
	most := x.shown.First + slotsAtOnce + uint64(len(x.pending))
	step := func() {
		if x.growing.living(first) {
			x.counts.live.Add(-1)
			x.counts.expired.Add(1)
		}
		first++
	}
	for docs := int64(x.options.Window.Docs); docs > 0 && x.counts.live.Load() > docs && first < most; {
		step()
	}
	for len(x.marks) > 0 && x.clock.Load()-x.marks[0].clock > x.stay() {
		for first < x.marks[0].slot && first < most {
			step()
		}
		if first < x.marks[0].slot {
			break
		}
		x.marks = x.marks[1:]
	}
	if first > x.growing.First {
		x.growing = x.growing.shortened(first)
	}
}
