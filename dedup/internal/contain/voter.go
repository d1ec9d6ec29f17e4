package contain

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/alike-dev/alike/dedup/internal/graph"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
)

// value returns the value of an entry: the document and, above it, how many of the possible votes
// are missing. Only sampled documents have votes, so they come first.
func (o *Options) value(doc uint32, votes int) uint64 {
	return o.Missing(votes)<<32 | uint64(doc)
}

// votes returns how many votes an entry has, 0 for a document that does not sample the key.
func (o *Options) votes(e extsort.Entry) uint64 { return o.Votes(e.Value >> 32) }

// voter finds out who votes for whom, for one goroutine: it lists the documents of each key, and notes for the
// documents that sample the key where the list is.
type voter struct {
	o     *Options
	lists *lists
	to    *extsort.Appender // of votes
	hot   *extsort.Appender // nil: they are known
	block []uint32          // of the lists: what is left of it
	at    uint32            // where that begins

	capped int64
	begun  bool            // the current key continues in the next part
	hubs   []extsort.Entry // its first documents
}

// take lists the documents of several keys, or of a piece of one key with too many documents for
// one call.
func (v *voter) take(part []extsort.Entry, more bool) error {
	if v.o.Exact {
		if more || v.begun {
			return v.spread(part, more)
		}
		return extsort.EachKey(part, func(run []extsort.Entry) error { return v.spread(run, false) })
	}
	if more || v.begun {
		v.begun = more
		return v.over(part, more)
	}
	return extsort.EachKey(part, func(run []extsort.Entry) error {
		sampled := 0
		for sampled < len(run) && v.o.votes(run[sampled]) > 0 {
			sampled++
		}
		if v.o.Over(sampled, len(run)) {
			return v.over(run, false)
		}
		if len(run) == 1 {
			return nil
		}
		return v.vote(run[:sampled], run)
	})
}

// over processes a piece of a key over the cap. Its hubs vote for all documents, the others for the hubs, and all of
// them are hot.
func (v *voter) over(piece []extsort.Entry, more bool) error {
	if len(v.hubs) == 0 && v.o.votes(piece[0]) == 0 { // no sample has the key: it is a false positive of the filter
		return nil
	}
	known := len(v.hubs)
	v.hubs = append(v.hubs, piece[:min(lsh.Hubs-known, len(piece))]...)
	others := piece[len(v.hubs)-known:]
	sampled := 0
	for sampled < len(others) && v.o.votes(others[sampled]) > 0 {
		sampled++
	}
	err := v.vote(v.hubs, piece)
	if err == nil && known < len(v.hubs) && known > 0 {
		err = v.vote(v.hubs[known:], v.hubs[:known])
	}
	if err == nil && sampled > 0 {
		err = v.vote(others[:sampled], v.hubs)
	}
	for i := 0; i < len(piece) && err == nil && v.hot != nil; i++ {
		value := uint64(uint32(piece[i].Value))
		if v.o.votes(piece[i]) == 0 {
			value |= graph.NotSampled
		}
		err = v.hot.Add(piece[i].Key, value)
	}
	if !more {
		v.capped++
		v.hubs = v.hubs[:0]
	}
	return err
}

// vote notes that some documents vote for others, of which they may be one.
func (v *voter) vote(voters, others []extsort.Entry) error {
	at, err := v.list(others)
	if err != nil || at == noList {
		return err
	}
	for _, e := range voters {
		if votes := v.o.votes(e); votes > 0 {
			if err := v.to.Add(uint64(uint32(e.Value)), votes<<32|uint64(at)); err != nil {
				return err
			}
		}
	}
	return nil
}

// list lists those of the documents that are in the share, after their number, and returns where.
func (v *voter) list(docs []extsort.Entry) (at uint32, err error) {
	if len(v.block) < 1+len(docs) {
		if v.at, v.block, err = v.lists.block(); err != nil {
			return 0, err
		}
	}
	n := uint32(0)
	for _, e := range docs {
		doc := uint32(e.Value)
		v.block[1+n] = doc / v.lists.shares
		n += one(doc%v.lists.shares == v.lists.share)
	}
	if n == 0 {
		return noList, nil
	}
	at = v.at
	v.block[0] = n
	v.block, v.at = v.block[1+n:], v.at+1+n
	return at, nil
}

func one(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// vote returns the pairs of which one document has enough of the other one's sample and the documents of keys over
// the cap, and counts these keys.
func (o *Options) vote(ctx context.Context, keys *extsort.Sorted) (pairs, hot *extsort.Sorted, capped int64, err error) {
	space := o.Graph.Space
	finding, err := extsort.New(o.pairSorting())
	if err != nil {
		return nil, nil, 0, err
	}
	noting, err := extsort.New(o.hotSorting())
	if err != nil {
		return nil, nil, 0, errors.Join(err, space.Release(finding))
	}
	to := finding.Appenders(space.Threads)
	shares := o.shares(keys.Len())
	for share := uint32(0); share < shares && err == nil; share++ {
		l := &lists{share: share, shares: shares}
		note := noting
		if share > 0 {
			note = nil
		}
		var votes *extsort.Sorted
		if votes, capped, err = o.list(ctx, keys, l, note); err == nil {
			err = errors.Join(o.count(ctx, votes, l, to), space.Release(votes))
		}
	}
	pairs, err = space.Ended(ctx, finding, extsort.Flush(to, err))
	if hot, err = space.Ended(ctx, noting, err); err != nil {
		return nil, nil, 0, errors.Join(err, space.ReleaseAll(pairs))
	}
	return pairs, hot, capped, nil
}

// list makes the lists of a share. It returns the votes: Key is a document, Value its votes for each of a list above
// the place of that.
func (o *Options) list(ctx context.Context, keys *extsort.Sorted, l *lists, hot *extsort.Sorter) (votes *extsort.Sorted, capped int64, err error) {
	space := o.Graph.Space
	voting, err := extsort.New(o.Graph.ByDoc("votes", 8))
	if err != nil {
		return nil, 0, err
	}
	voters := make([]voter, space.Threads)
	for i := range voters {
		voters[i] = voter{o: o, lists: l, to: voting.Appender()}
		if hot != nil {
			voters[i].hot = hot.Appender()
		}
	}
	err = keys.Each(ctx, len(voters), func(worker int, part []extsort.Entry, more bool) error {
		return voters[worker].take(part, more)
	})
	for i := range voters {
		err = errors.Join(err, voters[i].to.Flush())
		if hot != nil {
			err = errors.Join(err, voters[i].hot.Flush())
		}
		capped += voters[i].capped
	}
	votes, err = space.Ended(ctx, voting, err)
	return votes, capped, err
}

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
