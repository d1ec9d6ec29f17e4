package topk

import (
	"math"

	"github.com/alike-dev/alike/measure"
)

// A search through lists with a sieve is cheap where few vectors share much with the query. Where most vectors share
// several features with it, as long texts share grams, the sieve lets nearly all of them pass. Then it is cheaper to add
// up what each vector has in common with the query, list by list:
//
//	for each feature of the query, rarest first, as long as a vector without those before may be among the best:
//	    for each vector in its list:  sum of the vector += what both have of the feature
//	take the vectors whose sum, with all that is left of the query, may be enough
//	if they are few:  compare them
//	else:             add up the other lists, and look at the sums
//
//  1. The lists that are left are the longest ones. Who is among the best is guessed from the queries before; if the guess
//     was too high, the other lists are added up.
//  2. Of 2,000 texts of 400 grams a search that way takes a fifth of the time (BenchmarkSums); of
//     300,000 persons it takes 20 times as long (BenchmarkAccumulate).
//  3. Which way is cheaper is not known beforehand. So a search begins with the sieve, and ends with sums once it has cost
//     as much as they do: twice the better way at most. The next searches begin with sums, since queries of one collection
//     resemble each other; now and then one begins with the sieve again.

// Costs in steps: a step is about a nanosecond.
const (
	costAdded   = 1.5 // a list entry that is added to a sum
	costSum     = 3   // a sum that is looked at
	costBlock   = 2   // a feature of the tail, for a block of the sieve
	costPassed  = 1.5 // a feature of the tail, for a vector that passes
	costOverlap = 1   // an entry of a vector that is compared
	costEntry   = 4   // a vector that is tested or compared, beside
)

// denseInRow is how many searches begin with sums after one that ended so.
const denseInRow = 15

// addsUp tells whether sums may be used: the lists must be whole, and a feature must have the same weight in all vectors,
// since lists have no weights.
func (x *Index) addsUp() bool { return !x.hasLeast && x.even && x.k > 0 }

// budget sets what a search by lists may cost until sums are cheaper.
func (s *Searcher) budget() {
	s.spent, s.mayCost = 0, math.Inf(1)
	if s.x.addsUp() {
		s.mayCost = s.sumsShare * s.costFrom(0)
	}
}

// costFrom returns the cost to add up all lists from a feature of the query on, and to look at the sums.
func (s *Searcher) costFrom(i int) float64 {
	entries := 0
	for _, e := range s.query.entries[i:] {
		entries += int(s.x.starts[e.rank+1] - s.x.starts[e.rank])
	}
	return costAdded*float64(entries) + costSum*float64(s.x.Len())
}

// sums finds the best matches by sums. It forgets what was found before.
func (s *Searcher) sums() {
	if s.sum == nil {
		s.sum = make([]uint64, s.x.Len())
	}
	all := s.costFrom(0)
	s.found.reset(&s.x.rule, s.query.size, s.AtLeast)
	s.found.guess = s.guess
	rest := 0
	for ; rest < len(s.query.entries) && s.class(rest) <= shareUnits; rest++ {
		s.add(rest)
	}
	left := s.costFrom(rest)
	cost := all - left
	if rest == len(s.query.entries) || !s.compareFew(rest, left, &cost) {
		s.found.reset(&s.x.rule, s.query.size, s.AtLeast)
		for i := rest; i < len(s.query.entries); i++ {
			s.add(i)
		}
		s.lookAt()
		cost += left
	}
	clear(s.sum)
	s.sumsShare += (min(1, cost/all) - s.sumsShare) / 4
	s.guess += (s.found.least()*0.8 - s.guess) / 4
}

// add adds what vectors have of a feature of the query to their sums.
func (s *Searcher) add(i int) {
	x, e := s.x, s.query.entries[i]
	more := uint64(min(e.weight, x.largest[e.rank]))
	if x.measure == measure.Cosine {
		more = uint64(e.weight) * uint64(x.largest[e.rank])
	}
	ids, sum := x.ids[x.starts[e.rank]:x.starts[e.rank+1]], s.sum
	s.work.Entries += len(ids)
	for _, id := range ids {
		sum[id] += more
	}
	if s.own != absent {
		sum[s.own] = 0
	}
}

// compareFew compares the vectors whose sums, up to the feature rest, are so large that they may be among the best. It
// adds to cost, and returns false if these vectors are too many, or the best are not certain; left is the cost of the sums
// from rest on.
func (s *Searcher) compareFew(rest int, left float64, cost *float64) bool {
	x, more, compared := s.x, s.query.rest[rest], 0.0
	few := s.pending[:0]
	base, slope := s.needed()
	extents := x.extents[:len(s.sum)]
	for id, sum := range s.sum {
		if float64(sum+more) < base+slope*extents[id] || sum == 0 {
			continue
		}
		few = append(few, pending{id: uint32(id)})
		if compared += costEntry + costOverlap*float64(len(x.at(id))); compared > left {
			break
		}
	}
	s.pending = few[:0]
	if *cost += costSum * float64(len(s.sum)); compared > left {
		return false
	}
	for _, p := range few {
		if base, slope := s.needed(); float64(s.sum[p.id]+more) >= base+slope*extents[p.id] {
			s.work.Compared++
			s.found.offer(Match{Index: p.id, Overlap: s.query.overlap(x.at(int(p.id)), x.measure), Size: x.sizes[p.id]})
		}
	}
	*cost += compared
	return s.found.least() >= s.found.guess
}

// lookAt offers all vectors by their sums.
func (s *Searcher) lookAt() {
	base, slope := s.needed()
	extents := s.x.extents[:len(s.sum)]
	for id, overlap := range s.sum {
		if float64(overlap) >= base+slope*extents[id] && overlap > 0 {
			s.work.Compared++
			s.found.offer(Match{Index: uint32(id), Overlap: overlap, Size: s.x.sizes[id]})
			base, slope = s.needed()
		}
	}
}
