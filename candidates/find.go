package candidates

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/alike-dev/alike/measure"
)

// Find returns the candidate pairs of left and right, or within left if right is nil. The caller
// closes them. Both stores must be finished and share one numbering of features. The numbering
// should be dense: memory is taken for every feature number of the indexed side. A side has at most
// 2³¹ records.
func Find(ctx context.Context, c Config, left, right *Store) (*Pairs, Summary, error) {
	var s Summary
	if err := c.Validate(); err != nil {
		return nil, s, err
	}
	c.Threads = max(c.Threads, 1)
	if c.Measure != measure.Cosine {
		c.Measure = measure.WeightedJaccard
	}
	f := &finder{config: c, left: left, right: right, summary: &s}
	if s.Method = c.Method; s.Method == Auto {
		method, err := f.choose()
		if err != nil {
			return nil, s, err
		}
		s.Method = method
	}
	pairs, err := f.sorter("pairs", s.Method == Bands, 4, pairBits(left.Len()))
	if err != nil {
		return nil, s, err
	}
	if s.Method == Bands {
		err = f.bands(ctx, pairs)
	} else {
		indexed, searched, searchedIsLeft := f.sides()
		err = f.topk(ctx, indexed, searched, searchedIsLeft, pairs)
		if err == nil && c.Both && s.Method == TopK && right != nil {
			err = f.topk(ctx, searched, indexed, !searchedIsLeft, pairs)
		}
	}
	if err != nil {
		return nil, s, errors.Join(err, pairs.Close())
	}
	sorted, err := pairs.Sort(ctx)
	if err != nil {
		return nil, s, errors.Join(err, pairs.Close())
	}
	return &Pairs{sorted: sorted, bands: s.Method == Bands}, s, nil
}

// Keys finds the pairs of records that share a key. A key is a smallest set of up to three items
// that few records are expected to have together; one item that few records have is enough. Keys
// misses pairs that share no such items, except pairs of records with exactly equal items. It costs
// O(records) for any number of records, because keys must be rarer the more records there are. A
// pair's Score is the sum of the information of its shared keys, in units of 1/1024 nat; Mutual is
// never set. right is nil for one table.
//
// If more records share a key than expected, the items of the key depend on each other or the
// records are copies of one record. Such groups are divided by the rarest item of each record, and
// within a part each record is paired only with its next neighbours.
//
// The keys are those of A. Borthwick, S. Ash, B. Pang, S. Qureshi, T. Jones, "Scalable blocking for
// very large databases" (DMKD 2020), by expectation in place of counting.
func Keys(ctx context.Context, c KeysConfig, left, right Items) (_ *Pairs, err error) {
	if c.Threads < 0 || c.Memory < 0 || c.Memory > 0 && c.Dir == nil {
		return nil, fmt.Errorf("candidates: %d threads, %d bytes of memory: want none below 0, and a folder with a limit of memory", c.Threads, c.Memory)
	}
	k := &keyer{KeysConfig: c, left: left, right: right}
	k.Threads, k.Expected = max(1, c.Threads), cmp.Or(c.Expected, DefaultExpected)
	if err := k.weigh(ctx); err != nil {
		return nil, err
	}
	k.makeRarest()
	f := &finder{config: Config{Threads: k.Threads, Memory: k.Memory, Dir: c.Dir, Keep: c.Keep}}
	keys, err := f.sorter("keys", false, 2, 0)
	if err != nil {
		return nil, err
	}
	if right == nil {
		err = k.addRepeated(ctx, keys)
	} else {
		err = k.addShared(ctx, keys)
	}
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	sorted, err := keys.Sort(ctx)
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	pairs, err := f.sorter("pairs", true, 4, pairBits(left.Len()))
	if err != nil {
		return nil, errors.Join(err, sorted.Close())
	}
	if err := errors.Join(k.meet(ctx, sorted, pairs), sorted.Close()); err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	found, err := pairs.Sort(ctx)
	if err != nil {
		return nil, errors.Join(err, pairs.Close())
	}
	return &Pairs{sorted: found}, nil
}
