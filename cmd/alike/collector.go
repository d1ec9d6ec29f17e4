package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How far the heap may grow between collections: by a quarter of the memory that a collection has to
// scan, but at least by a sixteenth of the heap and by collectorRoom. Large arrays without pointers,
// which are most of the heap of a dedup run, are not scanned: a run over 2 million titles takes the same
// time with 50 MB less than at 25 percent. A heap of a few MiB, however, would be collected every
// millisecond: 34 times in a run of 0.14 s over 2000 files, which costs the second core a tenth of its
// work.
const (
	collectorRoom  = 16 << 20
	collectorShare = 16 // of the heap
	collectorScan  = 4  // of the memory with pointers
	// The first collection is at 4 MiB times percent over 100 (see package runtime).
	firstPercent = collectorRoom / (4 << 20) * 100
)

// paceCollector sets how far the heap may grow, now and after each collection, unless the environment
// sets it.
func paceCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(firstPercent)
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	percent := firstPercent
	var arm func()
	repace := func(struct{}) {
		metrics.Read(heap)
		if p := percentFor(heap[0].Value.Uint64(), heap[1].Value.Uint64()); p != percent {
			percent = p
			debug.SetGCPercent(p)
		}
		arm()
	}
	// Every collection removes an object without references, and runs its cleanup.
	arm = func() { runtime.AddCleanup(new([1 << 6]byte), repace, struct{}{}) }
	arm()
}

// percentFor returns the growth for live bytes of heap, of which scanned bytes are scanned.
func percentFor(live, scanned uint64) int {
	live = max(live, 1)
	room := max(collectorRoom, live/collectorShare, scanned/collectorScan)
	return int(min((room*100+live-1)/live, firstPercent))
}
