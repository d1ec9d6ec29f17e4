package contain

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
)

// Votes are counted by the document that gives them: of 47 million votes between documents of a gigabyte no more
// than 1.9 million have to be sorted, each for a whole list.
//
//	for every document:
//	    for every list that it votes for, every document in it: add the votes to its count
//	    for every document with a count: if it is enough, the two are a pair; clear the count
//
// The counts and lists are of all documents or, if these take too much memory, of a share of them at a time.

// lists are the documents of keys, as far as they are in the share: their numbers divided by shares, of those
// whose remainder is share.
type lists struct {
	share, shares uint32

	mu     sync.Mutex
	blocks [][]uint32
}

// A list begins with its length, and lies in one block. A place is that of the block above that in the block.
const (
	blockBits = 17 // a block has room for a whole part of entries, see extsort.PartMax
	blocksMax = 1 << (32 - blockBits)
	noList    = math.MaxUint32
	listsMost = 1 << 30 // numbers in all lists of a share, on average
)

var errLists = errors.New("too many documents have features of the same samples: raise the threshold")

// block returns a new block and the place where it begins.
func (l *lists) block() (at uint32, block []uint32, err error) {
	block = make([]uint32, 1<<blockBits)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.blocks) == blocksMax {
		return 0, nil, errLists
	}
	l.blocks = append(l.blocks, block)
	return uint32(len(l.blocks)-1) << blockBits, block, nil
}

func (l *lists) of(at uint32) []uint32 {
	rest := l.blocks[at>>blockBits][at&(1<<blockBits-1):]
	return rest[1 : 1+rest[0]]
}

// shares returns into how many shares the documents are divided, if there are so many entries to list. It is odd, so
// that documents in turn are in different shares.
func (o *Options) shares(entries int64) uint32 {
	limit := o.listed
	if limit == 0 {
		limit = listsMost
		if room := o.Graph.Space.Share(8); room > 0 {
			limit = max(min(limit, room/4), 1<<blockBits)
		}
	}
	numbers := entries + entries/2 + int64(o.Graph.Docs)*int64(o.Graph.Space.Threads)/4 // with lengths and counts
	return uint32(min(numbers/limit, 1<<16)) | 1
}

// counter counts the votes of one document after the other, for one goroutine.
type counter struct {
	o      *Options
	lists  *lists
	to     *extsort.Appender
	counts []uint8  // by document of the share, 0 between documents
	met    []uint32 // documents with a count
}

// count adds the pairs with enough votes.
func (o *Options) count(ctx context.Context, votes *extsort.Sorted, l *lists, to []*extsort.Appender) error {
	counters := make([]counter, len(to))
	for i := range counters {
		counters[i] = counter{o: o, lists: l, to: to[i], counts: make([]uint8, o.Graph.Docs/int(l.shares)+1)}
	}
	return votes.Each(ctx, len(to), func(worker int, part []extsort.Entry, _ bool) error {
		return extsort.EachKey(part, counters[worker].of)
	})
}

// of adds the pairs for which a document has enough votes.
func (c *counter) of(votes []extsort.Entry) error {
	for _, e := range votes {
		more := uint8(e.Value >> 32)
		for _, other := range c.lists.of(uint32(e.Value)) {
			n := c.counts[other]
			if n == 0 {
				c.met = append(c.met, other)
			}
			c.counts[other] = max(n, n+more) // both are lsh.MaxSample, 128, at most until it is enough; then it need not grow
		}
	}
	doc, agree := uint32(votes[0].Key), uint8(c.o.Sample.Agree)
	for _, met := range c.met {
		n := c.counts[met]
		c.counts[met] = 0
		other := met*c.lists.shares + c.lists.share
		if n < agree || other == doc || !c.o.Sides.Meet(min(doc, other), max(doc, other)) {
			continue
		}
		if err := c.to.Add(graph.Key(min(doc, other), max(doc, other)), uint64(agree)); err != nil {
			return err
		}
	}
	c.met = c.met[:0]
	return nil
}
