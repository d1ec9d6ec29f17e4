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

	"github.com/alike-dev/alike/internal/bands"
	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/hashing"
)

// Items are records as sets of items: their words, and their values. Its methods are called
// from several goroutines.
type Items interface {
	// Len returns how many records there are.
	Len() int
	// Append appends the items of record i, in any order; repeats do not count.
	Append(dst []uint32, i int) []uint32
}

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

	Threads int         // 0: 1
	Memory  int64       // bytes for sorting and filters; 0: no limit
	Dir     extsort.Dir // where goes what exceeds Memory; nil: nowhere, and Memory must be 0
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
	f := &finder{config: Config{Threads: k.Threads, Memory: c.Memory, Dir: c.Dir}}
	keys, err := f.sorter("keys", false, 2)
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
	pairs, err := f.sorter("pairs", true, 4)
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
	info        []uint16 // of each item, in infoUnits; 0: no key has it
	need        uint32   // information of a key
}

// each calls visit for the items of every record, ascending and each once. Each goroutine has
// a visit of its own, and calls end when it has no more records.
func (k *keyer) each(ctx context.Context, of Items, newVisit func() (visit func(i int, items []uint32) error, end func() error)) error {
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

// A key that a record has, and the information in it.
type key struct {
	hash uint64
	info uint32
}

// wholeSeed tells the key of a whole record from those of its items.
const wholeSeed = 0x7f4a7c15

// keysOf appends the keys of a record, of which items, ascending, is scratch. The first is the
// record as a whole: the items of one that has many copies are too frequent for any other.
func (k *keyer) keysOf(dst []key, items []uint32) []key {
	if len(items) > 0 {
		whole := uint64(wholeSeed)
		for _, x := range items {
			whole = hashing.Mix(whole ^ uint64(x))
		}
		dst = append(dst, key{whole, k.need})
	}
	items = slices.DeleteFunc(items, func(x uint32) bool { return k.info[x] == 0 })
	slices.SortFunc(items, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(k.info[y], k.info[x]), cmp.Compare(x, y))
	})
	return k.extend(dst, items[:min(len(items), mostItems)], key{}, 1)
}

// extend appends the smallest sets of items, sorted by falling information, that together with
// those of begun are enough for a key.
func (k *keyer) extend(dst []key, items []uint32, begun key, joint int) []key {
	for i, x := range items {
		if len(dst) == mostKeys {
			return dst
		}
		set := key{hashing.Mix(begun.hash + uint64(x) + 1), begun.info + uint32(k.info[x])}
		switch {
		case set.info >= k.need:
			dst = append(dst, set)
		case joint == mostJoint || set.info+uint32(mostJoint-joint)*uint32(k.info[x]) < k.need:
			return dst // what follows tells less
		default:
			dst = k.extend(dst, items[i+1:], set, joint+1)
		}
	}
	return dst
}

// eachKey calls visit for every key of every record, from several goroutines.
func (k *keyer) eachKey(ctx context.Context, of Items, newVisit func() (visit func(i int, key key) error, end func() error)) error {
	return k.each(ctx, of, func() (func(int, []uint32) error, func() error) {
		visit, end := newVisit()
		var keys []key
		return func(i int, items []uint32) error {
			keys = k.keysOf(keys[:0], items)
			for _, key := range keys {
				if err := visit(i, key); err != nil {
					return err
				}
			}
			return nil
		}, end
	})
}

// Entries of keys have the hash, and the record with what the key tells above it.
const (
	recordBits = 32
	recordMask = 1<<recordBits - 1
)

// add adds the keys that wanted wants.
func (k *keyer) add(ctx context.Context, keys *extsort.Sorter, of Items, side uint64, wanted func(hash uint64) bool) error {
	return k.eachKey(ctx, of, func() (func(int, key) error, func() error) {
		out := keys.Appender()
		return func(i int, key key) error {
			if !wanted(key.hash) {
				return nil
			}
			return out.Add(key.hash, side|uint64(min(key.info, 1<<30))<<recordBits|uint64(i))
		}, out.Flush
	})
}

// usualKeys is about how many keys a record has.
const usualKeys = 32

// addRepeated adds the keys of the only table that several records have, and a few more: a
// filter with two bits for each, once and twice, leaves out most of the others.
func (k *keyer) addRepeated(ctx context.Context, keys *extsort.Sorter) error {
	slots := uint64(4*usualKeys) * uint64(k.left.Len())
	if k.Memory > 0 {
		slots = min(slots, 2*uint64(k.Memory)) // half of it: the keys have the other half
	}
	filter := make([]uint64, slots/32+1)
	place := func(hash uint64) (word *uint64, once uint64) {
		return &filter[hash%uint64(len(filter))], 1 << (hash >> 58 &^ 1)
	}
	if err := k.eachKey(ctx, k.left, func() (func(int, key) error, func() error) {
		return func(_ int, key key) error {
			word, once := place(key.hash)
			if old := atomic.LoadUint64(word); old&(once<<1) == 0 && atomic.OrUint64(word, once)&once != 0 {
				atomic.OrUint64(word, once<<1)
			}
			return nil
		}, noEnd
	}); err != nil {
		return err
	}
	return k.add(ctx, keys, k.left, 0, func(hash uint64) bool {
		word, once := place(hash)
		return *word&(once<<1) != 0
	})
}

// addShared adds the keys that records of both tables have, and a few more: those of the larger
// table that a Bloom filter of the smaller one's may have, and the other way round.
func (k *keyer) addShared(ctx context.Context, keys *extsort.Sorter) error {
	small, large, largeSide := k.left, k.right, uint64(bands.RightBit)
	if small.Len() > large.Len() {
		small, large, largeSide = large, small, 0
	}
	room := usualKeys * small.Len()
	ofSmall, ofLarge := bloom.New(room), bloom.New(room)
	if err := k.eachKey(ctx, small, func() (func(int, key) error, func() error) {
		return func(_ int, key key) error { ofSmall.AddShared(key.hash); return nil }, noEnd
	}); err != nil {
		return err
	}
	if err := k.add(ctx, keys, large, largeSide, func(hash uint64) bool {
		has := ofSmall.Has(hash)
		if has {
			ofLarge.AddShared(hash)
		}
		return has
	}); err != nil {
		return err
	}
	return k.add(ctx, keys, small, bands.RightBit^largeSide, ofLarge.Has)
}

// meet adds the pairs of all groups that share a key.
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

// meeting makes pairs of groups on one goroutine.
type meeting struct {
	*keyer
	out   *extsort.Appender
	items []uint32
	cut   []extsort.Entry
}

// pair adds a pair of entries, unless both are of one of two tables.
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
		m.cut = append(m.cut, extsort.Entry{Key: m.rarest(e.Value), Value: e.Value})
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

// rarest returns the rarest item of a record that others have too.
func (m *meeting) rarest(entry uint64) uint64 {
	of := m.left
	if entry&bands.RightBit != 0 {
		of = m.right
	}
	m.items = of.Append(m.items[:0], int(entry&recordMask))
	item, best := uint64(0), uint16(0)
	for _, x := range m.items {
		if i := m.info[x]; i > best || i == best && uint64(x) < item {
			item, best = uint64(x), i
		}
	}
	return item
}
