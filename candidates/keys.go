package candidates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/extsort"
)

// Items are records as sets of items: their words, and their values. Its methods are called
// from several goroutines.
type Items interface {
	// Len returns how many records there are.
	Len() int
	// Append appends the items of record i, in any order; repeats do not count.
	Append(dst []uint32, i int) []uint32
}

// Streamed are Items of more records than are held, which can only be read from front to back. Keys
// does not call their Append.
type Streamed interface {
	Items
	// Each calls visit for the items of every record, ascending and each once, in any order of the
	// records, from so many goroutines. Each has a visit of its own, and calls end when it has no
	// more records.
	Each(ctx context.Context, threads int, newVisit NewVisit) error
}

// NewVisit returns what one goroutine does with the items of records, and at its end.
type NewVisit = func() (visit func(i int, items []uint32) error, end func() error)

// KeysConfig says which keys Keys makes.
type KeysConfig struct {
	// Items is how many there are in both tables: their numbers are below it.
	Items int
	// Expected is how many records may be expected to share a key by chance, 0:
	// DefaultExpected. The more the more pairs are found, and the more of them by chance.
	Expected float64
	// Frequencies are how many records of the left and the right table have each item, see
	// Frequencies; nil: not known yet.
	Frequencies [2][]uint32

	Threads int                        // 0: 1
	Memory  int64                      // bytes for sorting and filters; 0: no limit
	Dir     extsort.Dir                // where goes what exceeds Memory; nil: nowhere, and Memory must be 0
	Keep    func(prefix string) string // as in Config
}

// DefaultExpected is the default of KeysConfig.Expected.
const DefaultExpected = 0.5

// Bounds of what a record costs. None of them makes a pair that shares several keys, as
// records that belong together do, likely to be missed.
const (
	mostItems = 12 // of a record that keys are made of: the rarest ones
	mostJoint = 3  // items of a key
	mostKeys  = 64 // of a record
	// leastShare is what part of a key an item must tell at least: 1/leastShare. What is in
	// many records joins no key.
	leastShare = 3.5
	// lone is the size of a group that shares one item, whatever chance would have.
	lone = 8
	// groupMost is the size up to which all pairs of a group are taken.
	groupMost = 48
	// window is how many neighbours a record of a larger group meets.
	window = 10
)

// infoUnit is the information of an item that one in e records has.
const infoUnit = 1 << 10

// Keys finds the pairs of records that share a key: an item that few records have, or up to
// three items that few records are expected to have together (their smallest such sets). It
// misses what has no such items in common, but for records whose items are all the same, and
// costs O(records), whatever their number: the more records there are, the rarer a key must
// be. A pair's Score is the information of its keys, summed, in units of 1/1024 nat; none is
// Mutual. right is nil for one table.
//
// Groups of more records than expected share a key whose items depend on each other, or are
// many copies of one record. They are cut by the rarest item of each record, and within that
// each meets its next neighbours only.
//
// The keys are those of A. Borthwick, S. Ash, B. Pang, S. Qureshi, T. Jones, "Scalable
// blocking for very large databases" (DMKD 2020), by expectation in place of counting.
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

// keyer makes the keys of records.
type keyer struct {
	KeysConfig
	left, right Items
	info        []uint16    // of each item, in infoUnits; 0: no key has it
	need        uint32      // information of a key
	rarest      [2][]uint32 // of each left and right record the item that tells most; 0: none tells anything
}

// makeRarest makes room for the rarest item of each record, which comes off the memory that is
// left.
func (k *keyer) makeRarest() {
	n := k.left.Len()
	k.rarest[0] = make([]uint32, n)
	if k.right != nil {
		n += k.right.Len()
		k.rarest[1] = make([]uint32, k.right.Len())
	}
	if k.Memory > 0 {
		k.Memory = max(1, k.Memory-4*int64(n))
	}
}

// each does what Streamed.Each does.
func (k *keyer) each(ctx context.Context, of Items, newVisit NewVisit) error {
	if s, ok := of.(Streamed); ok {
		return s.Each(ctx, k.Threads, newVisit)
	}
	const grain = 1 << 12
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range k.Threads {
		g.Go(func() error {
			visit, end := newVisit()
			var items []uint32
			for {
				from := int(next.Add(grain)) - grain
				if from >= of.Len() {
					return end()
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				for i := from; i < min(from+grain, of.Len()); i++ {
					items = of.Append(items[:0], i)
					slices.Sort(items)
					items = slices.Compact(items)
					if err := visit(i, items); err != nil {
						return err
					}
				}
			}
		})
	}
	return g.Wait()
}

func noEnd() error { return nil }

// Frequencies returns how many records have each of n items.
func Frequencies(ctx context.Context, threads, n int, of Items) ([]uint32, error) {
	k := &keyer{KeysConfig: KeysConfig{Threads: max(1, threads)}}
	df := make([]uint32, n)
	return df, k.each(ctx, of, func() (func(int, []uint32) error, func() error) {
		return func(_ int, items []uint32) error {
			for _, x := range items {
				atomic.AddUint32(&df[x], 1)
			}
			return nil
		}, noEnd
	})
}

// frequencies returns those of the left or the right table.
func (k *keyer) frequencies(ctx context.Context, side int, of Items) ([]uint32, error) {
	if known := k.KeysConfig.Frequencies[side]; known != nil {
		return known, nil
	}
	return Frequencies(ctx, k.Threads, k.Items, of)
}

// weigh sets the information of items and what a key needs. Of two tables it is that of one
// whose size is the geometric mean of theirs.
func (k *keyer) weigh(ctx context.Context) error {
	df, err := k.frequencies(ctx, 0, k.left)
	if err != nil {
		return err
	}
	n := float64(k.left.Len())
	size := func(x int) float64 { return float64(df[x]) }
	least := 2.0 // one record alone has no pair
	if k.right != nil {
		other, err := k.frequencies(ctx, 1, k.right)
		if err != nil {
			return err
		}
		n, least = math.Sqrt(n*float64(k.right.Len())), 1
		size = func(x int) float64 { return math.Sqrt(float64(df[x]) * float64(other[x])) }
	}
	k.need = uint32(math.Round(max(1, math.Log(n/k.Expected)*infoUnit)))
	k.info = make([]uint16, k.Items)
	for x := range k.info {
		s := size(x)
		if s < least {
			continue
		}
		info := uint32(math.Round(math.Log(n/s) * infoUnit))
		if s <= lone {
			info = max(info, k.need)
		}
		if float64(info)*leastShare >= float64(k.need) {
			k.info[x] = uint16(min(math.MaxUint16, max(info, 1)))
		}
	}
	return nil
}
