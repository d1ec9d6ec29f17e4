package index

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/internal/setting"
)

// ErrMemory says that an index with its keys in memory needs more than OpenOptions.Memory.
var ErrMemory = errors.New("index: too large for memory")

const (
	cacheShare   = 16 // one in so many bytes of the ceiling is for the cache, with keys in memory
	leastCache   = 16 << 20
	tailKeyBytes = 64        // for a key that is not settled: the table, its growth and the documents' facts
	program      = 24 << 20  // with Pebble
	besideShare  = 4         // one in so many bytes of the ceiling is for the index at least, whatever is beside it
	mostBeside   = 104 << 20 // for Pebble's tables in memory and documents on their way, or as many bytes as are held
)

// A ceiling is the memory that an index and the process around it may take.
type ceiling struct {
	memory, beside int64 // as in OpenOptions
	keys           Keys
}

// fits is an error if memory has no room for held bytes of documents in addition to beside bytes of other
// data. The error names the ceiling for expected bytes.
func (c ceiling) fits(documents uint64, held, expected, beside int64) error {
	if c.memory == 0 || c.keys == KeysOnDisk || leastFor(held, beside) <= c.memory {
		return nil
	}
	return setting.Errorf("%w: of its %s documents it holds %s there: give it %s %s or more, or make it with %s %s",
		ErrMemory, humanize.Comma(int64(documents)), humanize.IBytes(uint64(expected)), setting.Memory, roundUp(leastFor(expected, beside)), setting.Keys, KeysOnDisk)
}

// leastFor returns the least OpenOptions.Memory for an index that holds so many bytes in memory, if the rest of the
// process needs beside bytes. That rest gets by with less if it must: so a share of any ceiling is for documents.
func leastFor(held, beside int64) int64 {
	if beside == 0 {
		return ceilingFor(held)
	}
	return min(ceilingFor(held)+beside, growth(held)*besideShare)
}

// ceilingFor returns the least OpenOptions.Memory for an index that holds so many bytes in memory, in a process that
// does nothing else.
func ceilingFor(held int64) int64 {
	needed := growth(held) + program
	return max(needed+leastCache, needed/(cacheShare-1)*cacheShare)
}

// growth returns what documents take of which so many bytes are held. It adds a tenth, which is needed while shards of
// the table grow.
func growth(held int64) int64 { return held + held/10 + min(held, mostBeside) }

// roundUp writes a number of bytes as whole MiB, rounded up.
func roundUp(bytes int64) string { return fmt.Sprintf("%dMiB", (bytes+1<<20-1)>>20) }
