// Package memory divides the memory of a join.
package memory

import (
	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/vfs"
)

// A Memory divides a ceiling of memory. The tables and the data about their values are held in memory. The rest is for
// sorting keys and candidates, which spill to disk.
type Memory struct {
	*scratch.Space
	ceiling int64
	Held    int64 // bytes of the tables and the data about their values
	Keys    int64 // part of Held that is needed only to make keys
}

// New returns the memory below a ceiling of resident bytes, 0 if there is none, with files in a folder.
func New(folder string, ceiling int64, threads int) *Memory {
	o := scratch.Options{FS: vfs.OS, Parent: folder, Threads: threads}
	if ceiling > 0 {
		o.Memory = max((ceiling-scratch.Outside(threads))/collectorShare*(collectorShare-1), 1)
	}
	return &Memory{scratch.New(o), ceiling, 0, 0}
}

// collectorShare: 1/collectorShare of the memory is for the garbage collector. It needs no more, because most
// held data are large arrays without pointers that stay.
const collectorShare = 8

// leastSorting is the least number of bytes that must remain for sorting.
const leastSorting = 16 << 20

// Hold sets the number of held bytes. The error is that of Check.
func (m *Memory) Hold(bytes int64, which string) error {
	m.Held = bytes
	return m.Check(bytes, which)
}

// Check returns an error if holding this number of bytes leaves less than leastSorting. which says in words what
// takes the memory.
func (m *Memory) Check(bytes int64, which string) error {
	if data := m.Share(1); data == 0 || data-bytes >= leastSorting {
		return nil
	}
	return setting.Errorf("%s %s is too little: %s %s; give %s or more", setting.Memory, humanize.IBytes(uint64(m.ceiling)),
		which, mebibytes(bytes), mebibytes((bytes+leastSorting)/(collectorShare-1)*collectorShare+scratch.Outside(m.Threads)))
}

// mebibytes rounds up, so that the amount in a message is enough.
func mebibytes(bytes int64) string { return humanize.Comma((bytes+1<<20-1)>>20) + " MiB" }

// Sorting returns the number of bytes for sorting; 0: any number.
func (m *Memory) Sorting() int64 {
	if m.Share(1) == 0 {
		return 0
	}
	return max(m.Share(1)-m.Held, leastSorting)
}
