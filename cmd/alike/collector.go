package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How far the heap may grow between collections: by a quarter of what a collection has to look
// through, but by a sixteenth of the heap and by collectorRoom at least. Large arrays without pointers,
// which is what a run of dedup holds, are not looked through: a run over 2 million titles takes the same
// time with 50 MB less than at 25 percent. A heap of a few MiB, though, would be collected every
// millisecond: 34 times in a run of 0.14 s over 2000 files, which keeps the second core from a tenth of
// its work.
const (
	collectorRoom  = 16 << 20
	collectorShare = 16 // of the heap
	collectorScan  = 4  // of what has pointers
	// The first collection is at 4 MiB times percent over 100 (see package runtime).
	firstPercent = collectorRoom / (4 << 20) * 100
)

// paceCollector sets how far the heap may grow, now and after each collection,
// unless the environment says it.
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
	// An object without references is gone at every collection.
	arm = func() { runtime.AddCleanup(new([1 << 6]byte), repace, struct{}{}) }
	arm()
}

// percentFor returns the growth for so many bytes of live heap, of which some are looked through.
func percentFor(live, scanned uint64) int {
	live = max(live, 1)
	room := max(collectorRoom, live/collectorShare, scanned/collectorScan)
	return int(min((room*100+live-1)/live, firstPercent))
}
