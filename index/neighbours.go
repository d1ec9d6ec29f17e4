package index

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// Near is a document that shares something with a query.
type Near struct {
	Match              // Similarity is that of Jaccard
	AInB, BInA float64 // how much of the query is in the document, and of the document in the query
}

// Contained is the larger of the two containments, which is at least the similarity.
func (n *Near) Contained() float64 { return max(n.AInB, n.BInA) }

// Neighbours returns the documents that are nearest to a text: the first o.Top of all documents that share a feature with
// it, those of which one contains most of the other first, then the more similar ones. Values are exact, and no
// document is missed. Of o, Threshold, Recall and Exact are not used.
//
// With Options.Containment 1 only documents with common features are read. Else all are: O(total length of all texts).
// Where features are in more documents than a bucket holds, documents of few features could have no others: then the
// sizes of all documents are read once, for the searcher's whole life.
func (s *Searcher) Neighbours(query []byte, o SearchOptions) ([]Near, error) {
	x, v := s.x, s.x.view.Load()
	if _, features := x.options.Recipe.Features(); !features || x.options.Keep == KeepNothing {
		return nil, setting.Errorf("the index has signatures only, which do not tell what one text has of another: make one that keeps texts, or features, without %s", setting.Distance)
	}
	if _, err := x.valueAsked(nil); err != nil {
		return nil, err
	}
	made := s.maker.Make(query)
	if made.Features == 0 {
		return nil, nil
	}
	q := s.query(query, made)
	mine := slices.Clone(q.features())
	bounds, err := s.bounds(v, mine)
	if err != nil {
		return nil, err
	}
	found, err := s.best(v, mine, bounds, o)
	if err != nil {
		return nil, err
	}
	matches := make([]Match, len(found))
	for i := range found {
		matches[i] = found[i].Match
	}
	if matches, err = s.described(v, query, matches, o); err != nil {
		return nil, err
	}
	near := found[:0]
	for _, m := range matches { // one that has gone meanwhile is left out
		i := slices.IndexFunc(found, func(n Near) bool { return n.Slot == m.Slot })
		near = append(near, Near{m, found[i].AInB, found[i].BInA})
	}
	return near, nil
}

// bound is the most that a document can have in common with a query. One that has as large a containment has just this
// similarity, so that bounds have the order of nearestFirst.
type bound struct {
	slot    uint64
	most    float64 // the larger containment
	similar float64
}

// compareBounds puts the bound first that more documents may reach; of equal ones that of the earlier document.
func compareBounds(a, b bound) int {
	return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(b.similar, a.similar), cmp.Compare(a.slot, b.slot))
}

// before tells whether a document of this bound could stand before one that was found.
func (b *bound) before(n *Near) bool {
	return cmp.Or(cmp.Compare(n.Contained(), b.most), cmp.Compare(n.Similarity, b.similar), cmp.Compare(b.slot, n.Slot)) < 0
}

// bounds yields the documents that may share a feature with the set, and some that have gone; those that may share most
// first.
func (s *Searcher) bounds(v *view, mine []uint64) (iter.Seq[bound], error) {
	f := s.finder
	if s.x.options.Containment != 1 {
		return func(yield func(bound) bool) {
			for slot := v.First; slot < v.Next && yield(bound{slot, 1, 1}); slot++ {
			}
		}, nil
	}
	f.keys = appendScaled(f.keys[:0], f.x.scaled, mine, 0)
	full, err := f.collect(v, f.keys)
	if err != nil {
		return nil, err
	}
	votes := map[uint64]uint64{}
	for _, slot := range f.slots {
		votes[slot]++
	}
	if err := s.shareWithCopies(v, votes); err != nil {
		return nil, err
	}
	if full == 0 && len(votes) <= fewCandidates {
		var all []bound
		for slot := range votes {
			all = append(all, bound{slot, 1, 1})
		}
		sorting.Func(all, func(a, b bound) int {
			return cmp.Or(cmp.Compare(votes[b.slot], votes[a.slot]), cmp.Compare(a.slot, b.slot))
		})
		return slices.Values(all), nil
	}
	return s.bySize(v, uint64(len(mine)), full, votes)
}

// shareWithCopies gives documents that equal another one its votes: they have no keys of features, see keysOf.
func (s *Searcher) shareWithCopies(v *view, votes map[uint64]uint64) error {
	if s.x.window.expires() {
		return nil // then each has keys of its own
	}
	slots := slices.Collect(maps.Keys(votes))
	for _, slot := range slots {
		alive, err := v.facts(slot, &s.finder.held)
		if err != nil {
			return err
		}
		if !alive {
			continue
		}
		digest := s.finder.held.digest
		copies, err := s.finder.copies(v, digestKey(digest), digest)
		if err != nil {
			return err
		}
		for _, other := range copies {
			votes[other] = max(votes[other], votes[slot])
		}
	}
	return nil
}

// fewCandidates is how many documents are read whatever they can have in common with the query.
const fewCandidates = 256

// bySize yields bounds that follow from sizes: a document may have, besides the features that it is known to share, all of
// those with full buckets. Documents that are known to share none have one bound for each size, so that only the first of
// them are looked at, however many there are.
func (s *Searcher) bySize(v *view, mine, full uint64, votes map[uint64]uint64) (iter.Seq[bound], error) {
	if err := s.sizes.read(s.finder, v); err != nil {
		return nil, err
	}
	limit := func(slot, size, known uint64) bound {
		shared := min(known+full, size, mine)
		return bound{slot, float64(shared) / float64(max(1, min(size, mine))), measure.Jaccard.Similarity(shared, mine, size)}
	}
	var known []bound
	for slot, n := range votes {
		known = append(known, limit(slot, s.sizes.of(slot), n))
	}
	sorting.Func(known, compareBounds)
	var unknown []bound // the first document of each size
	if full > 0 {
		for size, slots := range s.sizes.slots() {
			unknown = append(unknown, limit(slots[0], uint64(size), 0))
		}
	}
	sorting.Func(unknown, compareBounds)
	return func(yield func(bound) bool) {
		for _, first := range unknown {
			for _, first.slot = range s.sizes.slots()[uint32(s.sizes.of(first.slot))] {
				for len(known) > 0 && compareBounds(known[0], first) < 0 {
					if !yield(known[0]) {
						return
					}
					known = known[1:]
				}
				if votes[first.slot] == 0 && !yield(first) {
					return
				}
			}
		}
		for _, b := range known {
			if !yield(b) {
				return
			}
		}
	}, nil
}

// best returns the nearest documents by their sets, reading one after the other until no other can be nearer.
func (s *Searcher) best(v *view, mine []uint64, bounds iter.Seq[bound], o SearchOptions) (found []Near, err error) {
	read := s.finder.read(v)
	for b := range bounds {
		if o.Top > 0 && len(found) == o.Top && !b.before(&found[o.Top-1]) {
			break // as the bounds that follow are no larger
		}
		if !v.mayHave(b.slot) {
			continue
		}
		wanted, err := accepted(o.Accepts, b.slot, read)
		if err != nil {
			return nil, err
		}
		if !wanted {
			continue
		}
		r, err := read(b.slot)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		other := s.finder.setOf(r)
		inter := uint64(simjoin.Intersection(mine, other))
		if inter == 0 {
			continue
		}
		a, b2 := uint64(len(mine)), uint64(len(other))
		n := Near{Match{Slot: b.slot, Similarity: measure.Jaccard.Similarity(inter, a, b2)}, measure.Containment.Similarity(inter, a, b2), measure.Containment.Similarity(inter, b2, a)}
		at, _ := slices.BinarySearchFunc(found, n, nearestFirst)
		if found = slices.Insert(found, at, n); o.Top > 0 && len(found) > o.Top {
			found = found[:o.Top]
		}
	}
	return found, nil
}

func nearestFirst(a, b Near) int {
	return cmp.Or(cmp.Compare(b.Contained(), a.Contained()), cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Slot, b.Slot))
}
