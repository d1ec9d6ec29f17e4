package contain

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/alike-dev/alike/dedup/internal/reread"
	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/largepages"
	"github.com/alike-dev/alike/recipe"
)

// Where no pair may be missed, the rarest features of a document stand for it in place of a sample. A document of n
// features, at least `least` of which are in what contains it, may lack d = n − least of them. u of them are in no other
// document, so what contains it lacks those: it has all but d − u of the rest.
//
//	u > d:  nothing contains the document, and it is not looked for
//	else:   of its d − u + agree rarest other features at least agree are in what contains it
//
// (R. J. Bayardo, Y. Ma, R. Srikant, WWW 2007, of one side only: what contains a document may be of any size.) How
// many documents have a feature is counted first, about, but u is never too high. So all sets are made three times. With
// a rarity taken from a sample in place of counts, lists were 13 times as long (docs/decisions, 029).

// exactAgree is agree. Of 50,000 texts that share phrases, 4 left 61,030 pairs to verify, 2 left 107,709, 8 71,473.
const exactAgree = 4

// rarest chooses features that documents are looked for by, for one goroutine.
type rarest struct {
	o      *Options
	counts *counts
	hashes []uint64
	keys   []uint64
	held   []uint8 // how many documents have each key
}

// choose returns the keys that the document with these features is looked for by, and the votes of each; none if
// nothing contains it. They are valid until the next call.
func (r *rarest) choose(features []uint64, within recipe.Within) (keys []uint64, votes int) {
	r.hashes = recipe.AppendSampleHashes(r.hashes[:0], features, r.o.Seed)
	alone := r.look(within)
	n := len(r.hashes) // features may be repeated: n may be too high, and so may be the limit
	if n == 0 || alone > n-r.o.least(n) {
		return nil, 0
	}
	if wanted := n - r.o.least(n) - alone + exactAgree; wanted < n-alone {
		if keys := distinct.Sort(r.take(wanted)); len(keys) == wanted {
			return keys, 1
		}
	}
	r.hashes = distinct.Sort(r.hashes)
	alone, n = r.look(within), len(r.hashes)
	least := r.o.least(n)
	if alone > n-least {
		return nil, 0
	}
	return r.take(min(n-least-alone+exactAgree, n-alone)), r.o.Sample.Votes(least)
}

// least is the fewest features that a document of size features shares with what contains it.
func (o *Options) least(size int) int {
	return int(o.Threshold.MinOverlap(uint64(size), uint64(size)))
}

// look fills in keys and held, and returns how many keys no other document has.
func (r *rarest) look(within recipe.Within) (alone int) {
	r.keys = append(r.keys[:0], r.hashes...)
	if within != 0 {
		for i, hash := range r.keys {
			r.keys[i] = within.Key(hash)
		}
	}
	r.held = slices.Grow(r.held[:0], len(r.keys))[:len(r.keys)]
	for i, key := range r.keys {
		n := r.counts.of(key)
		r.held[i] = n
		alone += int(one(n == 1))
	}
	return alone
}

// take moves the most rarest keys that another document has to the front.
func (r *rarest) take(most int) []uint64 {
	var of [countsMost + 1]int
	for _, n := range r.held {
		of[n]++
	}
	last, before := uint8(2), 0 // most are held by fewer than last, or by last
	for ; before+of[last] < most; last++ {
		before += of[last]
	}
	n, ofLast := 0, most-before
	for i, held := range r.held {
		if held < 2 || held > last || held == last && ofLast == 0 {
			continue
		}
		ofLast -= int(one(held == last))
		r.keys[n] = r.keys[i]
		n++
	}
	return r.keys[:n]
}

// rareKeys is keys for exact candidates: documents that are looked for have votes, and each has a second entry without.
func (o *Options) rareKeys(ctx context.Context) (*extsort.Sorted, error) {
	if err := o.Records.PrepareSets(ctx, o.Docs); err != nil {
		return nil, err
	}
	counts := newCounts(o.Records.Table.Features, o.Graph.Space.Share(4))
	if err := o.countAll(ctx, counts); err != nil {
		return nil, err
	}
	sorter, err := extsort.New(o.Graph.Space.Sorting("contained", 2, 64))
	if err != nil {
		return nil, err
	}
	to := sorter.Appenders(o.Graph.Space.Threads)
	filter := bloom.New(o.filterKeys())
	if err = o.chooseAll(ctx, counts, filter, to); err == nil {
		err = o.findAll(ctx, filter, to)
	}
	return o.Graph.Space.Ended(ctx, sorter, extsort.Flush(to, err))
}

// filterKeys is for how many keys the filter has room, at two bytes each; of more, some that nobody looks for pass as well.
func (o *Options) filterKeys() int {
	keys := o.Records.Table.Features / 4
	if room := o.Graph.Space.Share(8); room > 0 {
		keys = min(keys, room/2)
	}
	return int(min(keys, filterMost))
}

const filterMost = 1 << 26

// countAll counts the documents that have each feature.
func (o *Options) countAll(ctx context.Context, counts *counts) error {
	counters := make([]rarest, o.Graph.Space.Threads)
	return o.each(ctx, o.Docs, func(worker int, doc uint32, sets *reread.Sets) error {
		features, err := sets.Features(doc)
		if err != nil {
			return err
		}
		c, within := &counters[worker], sets.Within(doc)
		c.hashes = recipe.AppendSampleHashes(c.hashes[:0], features, o.Seed)
		for i, hash := range c.hashes {
			c.hashes[i] = within.Key(hash)
		}
		counts.add(c.hashes)
		return nil
	})
}

// chooseAll adds the keys that documents are looked for by.
func (o *Options) chooseAll(ctx context.Context, counts *counts, filter *bloom.Filter, to []*extsort.Appender) error {
	choosers := make([]rarest, len(to))
	for i := range choosers {
		choosers[i] = rarest{o: o, counts: counts}
	}
	return o.each(ctx, o.Docs, func(worker int, doc uint32, sets *reread.Sets) error {
		if !o.inside(doc) {
			return nil
		}
		features, err := sets.Features(doc)
		if err != nil {
			return err
		}
		keys, votes := choosers[worker].choose(features, sets.Within(doc))
		filter.AddAllShared(keys)
		for _, key := range keys {
			if err := to[worker].Add(key, o.value(doc, votes)); err != nil {
				return err
			}
		}
		return nil
	})
}

// findAll adds, for all documents, their keys that others are looked for by.
func (o *Options) findAll(ctx context.Context, filter *bloom.Filter, to []*extsort.Appender) error {
	lookers := make([]*engine.Looker, len(to))
	for i := range lookers {
		lookers[i] = o.NewLooker()
	}
	return o.each(ctx, o.Docs, func(worker int, doc uint32, sets *reread.Sets) error {
		features, err := sets.Features(doc)
		if err != nil {
			return err
		}
		within := sets.Within(doc)
		hashes, _, _ := lookers[worker].Look(features, within, false, filter.HasAll)
		for _, hash := range hashes {
			if err := to[worker].Add(within.Key(hash), o.value(doc, 0)); err != nil {
				return err
			}
		}
		o.Progress.Advance(1, 0)
		return nil
	})
}

// spread is take for one key of an exact search, or a piece of one: the documents that have votes come first, and
// vote for all others.
func (v *voter) spread(piece []extsort.Entry, more bool) error {
	voters := 0
	for voters < len(piece) && v.o.votes(piece[voters]) > 0 {
		voters++
	}
	v.hubs = append(v.hubs, piece[:voters]...)
	others := piece[voters:]
	if len(v.hubs) > 0 && (len(others) > 1 || len(others) == 1 && (v.begun || more)) { // one alone is the voter itself
		if err := v.vote(v.hubs, others); err != nil {
			return err
		}
	}
	if v.begun = more; !more {
		v.hubs = v.hubs[:0]
	}
	return nil
}

// counts tells about how many documents have a key, up to countsMost, in a byte for every feature of the collection. Keys
// that share a byte are counted together, so a count may be too high, but never too low. It is the same in whatever
// order keys are added, and safe for use by several goroutines.
type counts struct{ words []uint64 }

const (
	countsMost  = 255
	countsLeast = 1 << 16 // bytes
)

// newCounts has room for some features, in at most so many bytes; 0: any number.
func newCounts(features, most int64) *counts {
	if most > 0 {
		features = min(features, most)
	}
	words := make([]uint64, max(features, countsLeast)/8)
	largepages.Ask(words)
	return &counts{words}
}

func (c *counts) place(key uint64) (word uint64, shift uint64) {
	word, _ = bits.Mul64(key, uint64(len(c.words)))
	return word, key & 7 << 3
}

// countBlock is how many keys are counted at once.
const countBlock = 64

// add counts keys. They are looked at before they are counted: without a fence in between, the processor waits for
// several words of memory at once.
func (c *counts) add(keys []uint64) {
	var full [countBlock]bool
	for len(keys) > 0 {
		block := keys[:min(countBlock, len(keys))]
		keys = keys[len(block):]
		for i, key := range block {
			full[i] = c.of(key) == countsMost
		}
		for i, key := range block {
			if !full[i] {
				c.addOne(key)
			}
		}
	}
}

func (c *counts) addOne(key uint64) {
	word, shift := c.place(key)
	at := &c.words[word]
	for {
		old := atomic.LoadUint64(at)
		if old>>shift&countsMost == countsMost || atomic.CompareAndSwapUint64(at, old, old+1<<shift) {
			return
		}
	}
}

func (c *counts) of(key uint64) uint8 {
	word, shift := c.place(key)
	return uint8(atomic.LoadUint64(&c.words[word]) >> shift)
}
