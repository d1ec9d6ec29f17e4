package linkage

import (
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/setting"
)

// memory shares Config.Memory out. The tables are held, with what is known of their values.
// What is left sorts keys and candidates, which go to disk beyond it.
type memory struct {
	*scratch.Space
	ceiling int64
	held    int64 // bytes of the tables and what is known of their values
	keys    int64 // of these, what keys know of items and nothing needs after them
}

func newMemory(c *Config) *memory {
	o := scratch.Options{FS: vfs.Default, Parent: c.Work, Threads: c.Threads}
	if c.Memory > 0 {
		o.Memory = max((c.Memory-scratch.Outside(c.Threads))/collectorShare*(collectorShare-1), 1)
	}
	return &memory{scratch.New(o), c.Memory, 0, 0}
}

// collectorShare: one part of so many is the garbage collector's. Most of what is held
// are large arrays that stay, without pointers, of which it takes no more.
const collectorShare = 8

// leastSorting is what must be left to sort with.
const leastSorting = 16 << 20

// hold says how much is held now, see check.
func (m *memory) hold(bytes int64, which string) error {
	m.held = bytes
	return m.check(bytes, which)
}

// check returns an error if holding so much leaves less than leastSorting; which names in words
// what is held.
func (m *memory) check(bytes int64, which string) error {
	if data := m.Share(1); data == 0 || data-bytes >= leastSorting {
		return nil
	}
	return setting.Errorf("%s %s is too little: %s %s; give %s or more", setting.Memory, humanize.IBytes(uint64(m.ceiling)),
		which, mebibytes(bytes), mebibytes((bytes+leastSorting)/(collectorShare-1)*collectorShare+scratch.Outside(m.Threads)))
}

// mebibytes rounds up: what it names must do.
func mebibytes(bytes int64) string { return humanize.Comma((bytes+1<<20-1)>>20) + " MiB" }

// sorting returns what is left to sort with, 0 for any amount.
func (m *memory) sorting() int64 {
	if m.Share(1) == 0 {
		return 0
	}
	return max(m.Share(1)-m.held, leastSorting)
}
