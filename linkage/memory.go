package linkage

import (
	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// memory divides Config.Memory. The tables and the data about their values are held in memory. The rest is for
// sorting keys and candidates, which spill to disk.
type memory struct {
	*scratch.Space
	ceiling int64
	held    int64 // bytes of the tables and the data about their values
	keys    int64 // part of held that is needed only to make keys
}

func newMemory(c *Config) *memory {
	o := scratch.Options{FS: vfs.OS, Parent: c.Work, Threads: c.Threads}
	if c.Memory > 0 {
		o.Memory = max((c.Memory-scratch.Outside(c.Threads))/collectorShare*(collectorShare-1), 1)
	}
	return &memory{scratch.New(o), c.Memory, 0, 0}
}

// collectorShare: 1/collectorShare of the memory is for the garbage collector. It needs no more, because most
// held data are large arrays without pointers that stay.
const collectorShare = 8

// leastSorting is the least number of bytes that must remain for sorting.
const leastSorting = 16 << 20

// hold sets the number of held bytes. The error is that of check.
func (m *memory) hold(bytes int64, which string) error {
	m.held = bytes
	return m.check(bytes, which)
}

// check returns an error if holding this number of bytes leaves less than leastSorting. which says in words what
// takes the memory.
func (m *memory) check(bytes int64, which string) error {
	if data := m.Share(1); data == 0 || data-bytes >= leastSorting {
		return nil
	}
	return setting.Errorf("%s %s is too little: %s %s; give %s or more", setting.Memory, humanize.IBytes(uint64(m.ceiling)),
		which, mebibytes(bytes), mebibytes((bytes+leastSorting)/(collectorShare-1)*collectorShare+scratch.Outside(m.Threads)))
}

// mebibytes rounds up, so that the amount in a message is enough.
func mebibytes(bytes int64) string { return humanize.Comma((bytes+1<<20-1)>>20) + " MiB" }

// sorting returns the number of bytes for sorting; 0: any number.
func (m *memory) sorting() int64 {
	if m.Share(1) == 0 {
		return 0
	}
	return max(m.Share(1)-m.held, leastSorting)
}
