package main

import (
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"
)

// budgetOf returns a memory budget in bytes: as asked for, or half of the memory of the control
// group or the machine.
func budgetOf(asked string) (int64, error) {
	if asked != "" {
		return parseSize("memory", asked)
	}
	for _, limit := range []func() (uint64, error){memlimit.FromCgroup, memlimit.FromSystem} {
		if size, err := limit(); err == nil && size > 0 {
			return int64(size / 2), nil
		}
	}
	return 0, nil // unknown: no ceiling
}

// limitHeap makes the garbage collector work harder near a memory budget of the process; 0: there
// is none.
func limitHeap(memory int64) {
	if memory > 0 {
		debug.SetMemoryLimit(max(memory-outsideHeap, memory*3/4))
	}
}

// parseSize reads a number of bytes as people write it.
func parseSize(flag, s string) (int64, error) {
	size, err := humanize.ParseBytes(s)
	if err != nil || size == 0 || size > math.MaxInt64 {
		return 0, usagef("--%s is %q: take a size, such as 64MiB or 4GiB", flag, s)
	}
	return int64(size), nil
}

func checkThreads(threads int) error {
	if threads < 0 || threads > mostThreads {
		return usagef("--threads is %d: take 1 or more, up to %d, or leave it out for all processors", threads, mostThreads)
	}
	return nil
}

// outsideHeap is resident memory outside the heap: mostly code. RssFile of a join of ten million
// records was 40 MiB.
const outsideHeap = 40 << 20
