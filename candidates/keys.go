package candidates

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/extsort"
)

// Items are records as sets of items: their words and values. Its methods must be safe for
// concurrent use.
type Items interface {
	// Len returns the number of records.
	Len() int
	// Append appends the items of record i to dst, in any order; repeats do not count.
	Append(dst []uint32, i int) []uint32
}

// Streamed are Items whose records are not all in memory and can only be read from front to back.
// Keys does not call their Append.
type Streamed interface {
	Items
	// Each calls visit once for every record, with its items in ascending order; records come in
	// any order, from the given number of goroutines. Each goroutine makes its own visit and end by
	// newVisit, and calls end after its last record.
	Each(ctx context.Context, threads int, newVisit NewVisit) error
}

// NewVisit returns the function that one goroutine calls for each record, and the function that it
// calls at its end.
type NewVisit = func() (visit func(i int, items []uint32) error, end func() error)

// KeysConfig are the settings of Keys.
type KeysConfig struct {
	// Items is the number of items in both tables: their numbers are below it.
	Items int
	// Expected is the number of records that may be expected to share a key by chance; 0:
	// DefaultExpected. A larger number finds more pairs, and more of them by chance.
	Expected float64
	// Frequencies are the numbers of records of the left and the right table that have each item
	// (see the function Frequencies); nil: Keys counts them.
	Frequencies [2][]uint32
	// Others are further keys of the records, besides those made of items; nil: there are none. Two records that share one
	// are a pair, as with other keys.
	Others [2]OtherKeys
	// Unfiltered sorts the keys of all records of two tables, not only the keys that pass a Bloom
	// filter of the other table's. The pairs are the same.
	Unfiltered bool

	Threads int                        // 0: 1
	Memory  int64                      // bytes for sorting and filters; 0: no limit
	Dir     extsort.Dir                // folder for data that exceed Memory; nil: there is none, and Memory must be 0
	Keep    func(prefix string) string // as in Config
}

// OtherKeys returns a function that appends the further keys of record i of a table to dst. Each goroutine has a function
// of its own.
type OtherKeys = func() func(dst []Key, i int) []Key

// Key is a key of a record and the information in it, in units of 1/1024 nat.
type Key struct {
	Hash uint64
	Info uint32
}

// DefaultExpected is the default of KeysConfig.Expected.
const DefaultExpected = 0.5

// Limits of the work per record. Records that belong together share several keys, and none of these
// limits is likely to make Keys miss such a pair.
const (
	mostItems = 12 // keys are made of that many rarest items of a record
	mostJoint = 3  // items in a key
	mostKeys  = 64 // keys of a record
	// leastShare bounds the items of keys: an item must have at least 1/leastShare of the
	// information that a key needs. So items of many records are in no key.
	leastShare = 3.5
	// lone: an item that at most so many records have is a key by itself, whatever Expected says.
	lone = 8
	// groupMost is the largest group from which all pairs are taken.
	groupMost = 48
	// window is the number of next neighbours with which a record of a larger group is paired.
	window = 10
)

// infoUnit is the information of an item that one in e records has.
const infoUnit = 1 << 10

// keyer makes the keys of records.
type keyer struct {
	KeysConfig
	left, right Items
	info        []uint16    // of each item, in infoUnits; 0: the item is in no key
	need        uint32      // the least information of a key
	rarest      [2][]uint32 // of each left and right record the item with the most information; 0: no item has any
}

// makeRarest allocates the rarest item of each record and subtracts it from the memory that is
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

// each does the same as Streamed.Each, for any Items.
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

// Frequencies returns the number of records that have each of n items.
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

// frequencies returns the frequencies of the left or the right table.
func (k *keyer) frequencies(ctx context.Context, side int, of Items) ([]uint32, error) {
	if known := k.KeysConfig.Frequencies[side]; known != nil {
		return known, nil
	}
	return Frequencies(ctx, k.Threads, k.Items, of)
}

// weigh sets the information of items and the least information of a key. For two tables it uses
// the geometric means of their sizes and frequencies.
func (k *keyer) weigh(ctx context.Context) error {
	df, err := k.frequencies(ctx, 0, k.left)
	if err != nil {
		return err
	}
	n := float64(k.left.Len())
	size := func(x int) float64 { return float64(df[x]) }
	least := 2.0 // an item of one record makes no pair
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

// sideBit returns the bit that marks entries of the right table.
func sideBit(side int) uint64 { return uint64(side) * bands.RightBit }

// add adds the keys of one side that pass filter; nil passes all.
func (k *keyer) add(ctx context.Context, keys *extsort.Sorter, side int, filter func(hashes []uint64, has []bool)) error {
	return k.eachKey(ctx, side, func() (func(*keyBatch) error, func() error) {
		out := keys.Appender()
		return func(b *keyBatch) error {
			has := b.room()
			if filter != nil {
				filter(b.hashes, has)
			}
			for i, hash := range b.hashes {
				if filter != nil && !has[i] {
					continue
				}
				if err := out.Add(hash, sideBit(side)|b.entries[i]); err != nil {
					return err
				}
			}
			return nil
		}, out.Flush
	})
}

// note calls note with all keys of one side, in batches.
func (k *keyer) note(ctx context.Context, side int, note func(hashes []uint64)) error {
	return k.eachKey(ctx, side, func() (func(*keyBatch) error, func() error) {
		return func(b *keyBatch) error { note(b.hashes); return nil }, noEnd
	})
}

// usualKeys is the approximate number of keys of a record.
const usualKeys = 32

// addRepeated adds all keys that several records of the only table have, and a few others.
func (k *keyer) addRepeated(ctx context.Context, keys *extsort.Sorter) error {
	places := uint64(4*usualKeys) * uint64(k.left.Len())
	if k.Memory > 0 {
		places = min(places, 2*uint64(k.Memory)) // half of the memory: the keys have the other half
	}
	f := bitset.NewRepeats(max(places, 1))
	if err := k.note(ctx, 0, f.AddAll); err != nil {
		return err
	}
	return k.add(ctx, keys, 0, f.HasAll)
}

// addShared adds all keys that both tables have, and a few others: of the larger table the keys
// that pass a Bloom filter of the smaller table's, and of the smaller table the keys that pass a
// Bloom filter of those.
func (k *keyer) addShared(ctx context.Context, keys *extsort.Sorter) error {
	if k.Unfiltered {
		return errors.Join(k.add(ctx, keys, 0, nil), k.add(ctx, keys, 1, nil))
	}
	small, large := 0, 1
	if k.left.Len() > k.right.Len() {
		small, large = 1, 0
	}
	room := usualKeys * k.side(small).Len()
	ofSmall, ofLarge := bloom.New(room), bloom.New(room)
	if err := k.note(ctx, small, ofSmall.AddAllShared); err != nil {
		return err
	}
	if err := k.add(ctx, keys, large, func(hashes []uint64, has []bool) {
		ofSmall.HasAll(hashes, has)
		for i, hash := range hashes {
			if has[i] {
				ofLarge.AddShared(hash)
			}
		}
	}); err != nil {
		return err
	}
	return k.add(ctx, keys, small, ofLarge.HasAll)
}

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
