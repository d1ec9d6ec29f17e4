package parquetfile

import "github.com/parquet-go/parquet-go/format"

// level is how tightly the pages of a column that lose rows are packed by zstd or snappy. The fastest level
// takes about half the time of the default one and less, and makes prose 8 percent larger by zstd and 20 by
// snappy: about what writers make that take no more time, such as pyarrow. So the first page decides for
// all: they are packed at the fastest level unless that makes this page larger than it is in the file.
type level struct {
	claimed bool          // of the producer
	decided chan struct{} // closed when fast is set
	fast    bool
}

// slack is by what share of a page the fastest level may exceed it.
const slack = 1.0 / 64

func newLevel() level { return level{decided: make(chan struct{})} }

// claim reports whether the caller's page is the first one, which decides.
func (l *level) claim() bool {
	first := !l.claimed
	l.claimed = true
	return first
}

// decide sets the level by a page that f has decoded.
func (l *level) decide(f *filter, h *pageHead, c codec) (err error) {
	levels := h.repLen + h.defLen // of v2, which are not packed
	if c.leveled() && (h.kind == format.DataPage || h.packed) && h.uncompressed > levels {
		c.fast = true
		if f.packed, err = c.encode(f.packed, f.page.raw); err != nil {
			return err
		}
		l.fast = float64(len(f.packed)) <= float64(h.compressed-levels)*(1+slack)
	}
	close(l.decided)
	return nil
}
