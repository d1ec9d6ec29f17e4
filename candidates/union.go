package candidates

import (
	"context"
	"errors"
)

// Union returns the pairs that are in either of two results of the same records, and closes both. c says in how much memory
// and which folder pairs are sorted; left is the number of left records. A pair of both is Mutual, and its Score means
// nothing. O(pairs).
func Union(ctx context.Context, c Config, left int, x, y *Pairs) (_ *Pairs, err error) {
	defer func() { err = errors.Join(err, x.Close(), y.Close()) }()
	f := &finder{config: c}
	sorter, err := f.sorter("union", false, 4, pairBits(left))
	if err != nil {
		return nil, err
	}
	out := sorter.Appender()
	add := func(of *Pairs) error {
		for p, err := range of.All() {
			if err == nil {
				err = out.Add(uint64(p.A)<<pairShift|uint64(p.B), 0)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(add(x), add(y), out.Flush()); err != nil {
		return nil, errors.Join(err, sorter.Close())
	}
	sorted, err := sorter.Sort(ctx)
	if err != nil {
		return nil, errors.Join(err, sorter.Close())
	}
	return &Pairs{sorted: sorted}, nil
}
