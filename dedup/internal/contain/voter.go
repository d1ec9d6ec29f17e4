package contain

import (
	"context"
	"errors"
	"math"

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

// voter adds votes for the pairs of each key's documents, for one goroutine.
type voter struct {
	o      *Options
	to     *extsort.Appender
	hot    *extsort.Appender
	capped int64

	begun bool            // the current key continues in the next part
	hubs  []extsort.Entry // its first documents
}

// take votes for the pairs of several keys, or of a piece of one key with too many documents for
// one call.
func (v *voter) take(part []extsort.Entry, more bool) error {
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
		for i, e := range run[:sampled] {
			for _, other := range run[i+1:] {
				if err := v.vote(e, other); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// over processes a piece of a key over the cap. It votes for the pairs of its hubs with all
// documents, and records all of them as hot.
func (v *voter) over(piece []extsort.Entry, more bool) error {
	if len(v.hubs) == 0 && v.o.votes(piece[0]) == 0 { // no sample has the key: it is a false positive of the filter
		return nil
	}
	for _, e := range piece {
		for _, hub := range v.hubs {
			if err := v.vote(hub, e); err != nil {
				return err
			}
		}
		if len(v.hubs) < lsh.Hubs {
			v.hubs = append(v.hubs, e)
		}
		if err := v.hot.Add(e.Key, uint64(uint32(e.Value))); err != nil {
			return err
		}
	}
	if !more {
		v.capped++
		v.hubs = v.hubs[:0]
	}
	return nil
}

// vote adds the votes for a pair, if the documents may be compared: those of the first document's
// sample in the lower half, those of the second's in the upper half.
func (v *voter) vote(a, b extsort.Entry) error {
	if uint32(a.Value) > uint32(b.Value) {
		a, b = b, a
	}
	x, y := uint32(a.Value), uint32(b.Value)
	votes := v.o.votes(a) | v.o.votes(b)<<32
	if votes == 0 || !v.o.Sides.Meet(x, y) {
		return nil
	}
	return v.to.Add(graph.Key(x, y), votes)
}

// vote returns the votes for pairs (see voter.vote) and the documents of keys over the cap, and
// counts these keys.
func (o *Options) vote(ctx context.Context, keys *extsort.Sorted) (votes, hot *extsort.Sorted, capped int64, err error) {
	space, sum := o.Graph.Space, o.pairSorting()
	sum.Sum = true
	voting, err := extsort.New(sum)
	if err != nil {
		return nil, nil, 0, err
	}
	noting, err := extsort.New(o.hotSorting())
	if err != nil {
		return nil, nil, 0, errors.Join(err, space.Release(voting))
	}
	voters := make([]voter, space.Threads)
	for i := range voters {
		voters[i] = voter{o: o, to: voting.Appender(), hot: noting.Appender()}
	}
	err = keys.Each(ctx, len(voters), func(worker int, part []extsort.Entry, more bool) error {
		return voters[worker].take(part, more)
	})
	for i := range voters {
		err = errors.Join(err, voters[i].to.Flush(), voters[i].hot.Flush())
		capped += voters[i].capped
	}
	votes, err = space.Ended(ctx, voting, err)
	if hot, err = space.Ended(ctx, noting, err); err != nil {
		return nil, nil, 0, errors.Join(err, space.ReleaseAll(votes))
	}
	return votes, hot, capped, nil
}

// enough returns the pairs of which one document has enough of the other one's sample.
func (o *Options) enough(ctx context.Context, votes *extsort.Sorted) (*extsort.Sorted, error) {
	space := o.Graph.Space
	sorter, err := extsort.New(o.pairSorting())
	if err != nil {
		return nil, err
	}
	agree, to := uint64(o.Sample.Agree), sorter.Appenders(space.Threads)
	err = votes.Each(ctx, len(to), func(worker int, part []extsort.Entry, _ bool) error {
		for _, e := range part {
			if max(e.Value&math.MaxUint32, e.Value>>32) < agree {
				continue
			}
			if err := to[worker].Add(e.Key, agree); err != nil {
				return err
			}
		}
		return nil
	})
	return space.Ended(ctx, sorter, extsort.Flush(to, err))
}
