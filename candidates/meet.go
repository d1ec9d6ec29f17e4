package candidates

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/extsort"
)

// meet adds the pairs of all groups of records that share a key.
func (k *keyer) meet(ctx context.Context, keys *extsort.Sorted, pairs *extsort.Sorter) error {
	meetings := make([]*meeting, k.Threads)
	for i := range meetings {
		meetings[i] = &meeting{keyer: k, out: pairs.Appender()}
	}
	err := keys.Each(ctx, k.Threads, func(worker int, part []extsort.Entry, _ bool) error {
		for start, end := 0, 0; start < len(part); start = end {
			for end = start + 1; end < len(part) && part[end].Key == part[start].Key; end++ {
			}
			if end-start > 1 {
				if err := meetings[worker].group(part[start:end]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, m := range meetings {
		err = errors.Join(err, m.out.Flush())
	}
	return err
}

// meeting makes the pairs of groups on one goroutine.
type meeting struct {
	*keyer
	out *extsort.Appender
	cut []extsort.Entry
}

// pair adds a pair of entries, unless there are two tables and both entries are of one.
func (m *meeting) pair(x, y uint64) error {
	if m.right != nil {
		if (x^y)&bands.RightBit == 0 {
			return nil
		}
		if x&bands.RightBit != 0 {
			x, y = y, x
		}
	}
	return m.out.Add(x&recordMask<<pairShift|y&recordMask, x&^bands.RightBit>>recordBits)
}

// group adds the pairs of the records that share a key.
func (m *meeting) group(part []extsort.Entry) error {
	if len(part) <= groupMost {
		for i, x := range part {
			for _, y := range part[i+1:] {
				if err := m.pair(x.Value, y.Value); err != nil {
					return err
				}
			}
		}
		return nil
	}
	m.cut = m.cut[:0]
	for _, e := range part {
		m.cut = append(m.cut, extsort.Entry{Key: m.rarestOf(e.Value), Value: e.Value})
	}
	slices.SortFunc(m.cut, func(x, y extsort.Entry) int {
		return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(x.Value&recordMask, y.Value&recordMask), cmp.Compare(x.Value, y.Value))
	})
	for i, x := range m.cut {
		for j := i + 1; j < len(m.cut) && j <= i+window && m.cut[j].Key == x.Key; j++ {
			if err := m.pair(x.Value, m.cut[j].Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// rarestOf returns the rarest item of a record that other records have too.
func (m *meeting) rarestOf(entry uint64) uint64 {
	side := 0
	if entry&bands.RightBit != 0 {
		side = 1
	}
	return uint64(m.rarest[side][entry&recordMask])
}
