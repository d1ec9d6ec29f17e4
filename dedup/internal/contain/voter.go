package contain

import (
	"context"
	"errors"

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
