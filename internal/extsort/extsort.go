// Package extsort sorts 16-byte entries, of which there may be more than fit in memory: band keys,
// candidate pairs, votes, edges. The stages of the batch engine pass data to each other through it.
//
// A [Sorter] takes entries from several goroutines, each with an [Appender]. As long as they fit in
// half of [Options.Memory] nothing touches the disk: they are split by their top bits into parts
// that fit in cache, and each part is sorted by the worker that visits it, just before the visit.
// Entries that do not fit are written in sorted runs (run.go, docs/how/formats.md) and merged. Either
// way the same entries come out in the same order:
//
//	sorter, err := extsort.New(extsort.Options{Dir: dir, Name: "bands", Memory: 1 << 30, Threads: 8})
//	appender := sorter.Appender()         // one a goroutine
//	err = appender.Add(key, value)        // …
//	err = appender.Flush()
//	sorted, err := sorter.Sort(ctx)
//	err = sorted.Each(ctx, 8, visit)      // in parallel, all entries of a key together
//	reader := sorted.Reader()             // or one after the other, in order
//	err = sorted.Close()
//
// Do not use it for less than some thousand entries: package slices is simpler and as fast. The
// format of runs is versioned; a run of another version is refused, never guessed at.
package extsort

import (
	"errors"
	"io"
	"math"
	"math/bits"

	"github.com/alike-dev/alike/vfs"
)

// Entry is the unit of sorting: entries are ordered by Key, then Value.
type Entry struct{ Key, Value uint64 }

// PartMax is the longest part, in entries, that [Sorted.Each] hands to visit. It
// does not depend on options, so that what callers do with keys of more entries
// does not depend on memory.
const PartMax = 1 << 16

// Dir is the folder of the runs. Its methods are called from several goroutines.
type Dir interface {
	// Create makes a file for writing, or truncates an existing one. The folder is not needed
	// before the first call.
	Create(name string) (vfs.File, error)
	// Open opens a file for reading. A merge reads up to 512 of them alternately, and several
	// sorters may merge at once: a Dir that limits open files opens them when they are read.
	Open(name string) (RunFile, error)
	Remove(name string) error
	// Spilled receives the length of every finished run.
	Spilled(bytes int64)
}

// RunFile is a run that is open for reading. All methods but Close are called from several
// goroutines.
type RunFile interface {
	io.ReaderAt
	io.Closer
	Size() (int64, error)
}

// Run names a finished run, for a checkpoint.
type Run struct {
	Name string
	ID   uint64 // as in the file: no other run is mistaken for it
}

// Errors for runs that are refused; the text around them names the run and says what to do.
var (
	ErrCorrupt = errors.New("corrupt run")
	ErrVersion = errors.New("run of another format version")
	ErrScheme  = errors.New("run of another scheme")
)

// Options say how to sort. The zero value sorts in memory, without limit, on one thread.
type Options struct {
	// Dir receives runs when memory is used up, and in Save. It may be nil when neither can happen.
	Dir Dir
	// Name is the prefix of the runs' names: NAME-000001.run.
	Name string
	// Scheme is written into every run, at most 64 KiB; opening a run of another
	// scheme is ErrScheme.
	Scheme string
	// Memory is how many bytes the sorter may use for entries and the scratch of sorting, writing
	// and merging together. 0: no limit; less than 4 MiB is taken as 4 MiB. Not counted are the
	// runs' fences (at most 1/2048 of what is spilled), chunks of 64 KiB of more than Memory/256
	// KiB appenders, and readers beyond the first Threads that are open at once.
	Memory int64
	// Threads is the number of workers that sort, 0: 1. It is reduced to one for every 4 MiB of
	// Memory.
	Threads int
	// KeyBits is the number of low bits of a key that are used, 0: 64. Keys from 1<<KeyBits on are
	// sorted correctly, but slowly.
	KeyBits int
	// Sum merges entries of equal keys into one whose value is the sum of theirs (modulo 2^64).
	Sum bool
	// Runs are finished runs of an earlier process, to be sorted along with new entries.
	Runs []Run
	// Temporary says that no run needs to outlive the process: none is synced, or kept open until
	// it is.
	Temporary bool

	sizes sizes // 0 outside tests
}

// sizes are the constants of the layout, in entries; tests sort with small ones.
type sizes struct {
	chunk   int // of an appender's chunk and of a block of a run
	combine int // combineFrom
	part    int // aimed-at length of a part that is sorted at once: 16 B each, so that it stays in a 1 MiB second-level cache
	partMax int // PartMax
}

const (
	entryBytes   = 16
	maxChunk     = 1 << 12
	minChunk     = 1 << 10 // of small sorters, so that they can merge more runs
	partSize     = 1 << 14
	writeBlocks  = 4    // blocks that are written at once
	maxReadAhead = 16   // blocks of a run that are read at once, at most
	freeBlocks   = 2048 // blocks for each merging worker when there is no limit
	maxFan       = 512  // runs that are merged at once, at most
	maxPending   = 16   // runs whose files stay open until Save syncs them
)

// combineFrom is how many entries, at least, a sorter with Sum holds before it merges those of
// equal keys although memory is left, so that repeats do not pile up.
const combineFrom = 4 << 20

// plan divides Options.Memory; lengths are in entries.
type plan struct {
	sizes
	threads int
	keyBits uint
	limit   int // chunks to hold before spilling
	arena   int // entries of the array that sorting fills, which is also the buffers of merging
}

func newPlan(o Options) plan {
	p := plan{sizes: o.sizes, threads: max(1, o.Threads), keyBits: uint(o.KeyBits), limit: math.MaxInt}
	if o.KeyBits <= 0 || o.KeyBits > 64 {
		p.keyBits = 64
	}
	layout := p.sizes != (sizes{})
	if !layout {
		p.sizes = sizes{chunk: maxChunk, combine: combineFrom, part: partSize, partMax: PartMax}
	}
	if o.Memory <= 0 {
		p.arena = p.threads * (p.partMax + p.part + freeBlocks*(1+p.chunk))
		return p
	}
	least := 4 * p.partMax
	memory := max(int(o.Memory/entryBytes), least)
	p.threads = min(p.threads, memory/least)
	if !layout {
		p.chunk = max(minChunk, min(memory/p.threads>>9, maxChunk))
		p.chunk = 1 << (bits.Len(uint(p.chunk)) - 1)
	}
	memory -= p.threads*(scratchLen(p.part)+p.part/4) + writeBlocks*(1+p.chunk) // a worker's counts take part/4 entries
	p.limit = memory / 2 / p.chunk
	p.arena = p.limit * p.chunk
	return p
}

// scratchLen is the length of a worker's scratch. Parts of uniform keys are roughly at most part
// long; longer ones are sorted in place.
func scratchLen(part int) int { return part + part/4 }
