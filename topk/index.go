package topk

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// Index is an inverted index over a collection. It is immutable and safe for concurrent
// searches, each with a Searcher of its own.
//
// Features are ordered by the number of vectors that hold them, rarest first. The tail of
// a vector at one of its features is that feature with all that follow it in this order,
// and its share is what part of the vector's size that is: of cosine |tail| / |vector|, of
// Jaccard the ratio of the sums. Two vectors meet first at their rarest common feature, and
// all that they have in common is in both tails there. So
//
//	cosine ≤ share · share'              (Cauchy-Schwarz)
//	1/share + 1/share' ≤ (a + b)/i       (i, in common, is at most either tail's sum)
//
// A feature's list holds the vectors by falling share. A search goes through its features,
// rarest first, and in each list only as far as the shares allow for what it has found so
// far: lists of frequent features, whose shares are small, are hardly touched. With a least
// similarity the entries that no query can need are not in the lists at all, which is the
// prefix filter.
//
// Memory: 5 bytes a feature of the vectors, 8 for each feature number, 8 a vector. The
// vectors are kept, not copied.
type Index struct {
	rule
	vectors *simjoin.Vectors
	sizes   []uint64 // of each vector
	rank    []uint32 // of each feature, absent where no vector holds it
	starts  []uint32 // of each rank's list
	ids     []uint32 // the lists: vectors by falling share, then number
	shares  []uint8  // of their tails, in shareUnits, rounded up
}

const (
	absent     = math.MaxUint32
	shareUnits = math.MaxUint8
	// below makes a float that was computed in a few steps certainly less than what it
	// stands for.
	below = 1 - 1e-9
)

// NewIndex builds the index of vectors, which must not change while it is in use. There
// may be up to 2³²−1 features in all. O(features).
func NewIndex(vectors *simjoin.Vectors, o Options) (*Index, error) {
	r, err := o.rule()
	if err != nil {
		return nil, err
	}
	if vectors.Features() >= math.MaxUint32 {
		return nil, errors.New("topk: more than 2^32-2 features: index the collection in parts")
	}
	x := &Index{rule: r, vectors: vectors, sizes: make([]uint64, vectors.Len())}
	x.order()
	x.post()
	return x, nil
}

// Len returns the number of vectors.
func (x *Index) Len() int { return x.vectors.Len() }

// order ranks the features by the number of vectors that hold them, then by number.
func (x *Index) order() {
	largest := -1
	for i := range x.vectors.Len() {
		if f := x.vectors.At(i).Features; len(f) > 0 {
			largest = max(largest, int(f[len(f)-1]))
		}
	}
	x.rank = make([]uint32, largest+1)
	count, most := x.rank, uint32(0)
	for i := range x.vectors.Len() {
		for _, f := range x.vectors.At(i).Features {
			count[f]++
			most = max(most, count[f])
		}
	}
	next := make([]uint32, int(most)+1) // by count: the next rank
	for _, c := range count {
		next[c]++
	}
	next[0] = 0
	sum := uint32(0)
	for c, n := range next {
		next[c] = sum
		sum += n
	}
	x.starts = make([]uint32, int(sum)+1)
	for f, c := range count {
		if c == 0 {
			x.rank[f] = absent
			continue
		}
		x.rank[f] = next[c]
		next[c]++
	}
}

// entry is a feature of a vector while its tails are computed.
type entry struct{ rank, weight uint32 }

// tails appends the features that the index knows, by rank.
func (x *Index) tails(dst []entry, v simjoin.Vector) []entry {
	for i, f := range v.Features {
		if int(f) < len(x.rank) && x.rank[f] != absent {
			dst = append(dst, entry{x.rank[f], v.Weights[i]})
		}
	}
	slices.SortFunc(dst, func(a, b entry) int { return cmp.Compare(a.rank, b.rank) })
	return dst
}

// size is what a weight adds to the size of a vector.
func (r *rule) size(weight uint32) uint64 {
	if r.measure == measure.Cosine {
		return uint64(weight) * uint64(weight)
	}
	return uint64(weight)
}

// share returns the share of a tail.
func (r *rule) share(tail, size uint64) float64 {
	s := float64(tail) / float64(size)
	if r.measure == measure.Cosine {
		return math.Sqrt(s)
	}
	return s
}

// post fills the lists. Entries are put in order of the shares first and of ranks then,
// both times by counting, which keeps the order of before where those are equal.
func (x *Index) post() {
	var byShare [shareUnits + 2]uint32
	x.eachPosting(func(_, rank uint32, share uint8) {
		byShare[shareUnits-share+1]++
		x.starts[rank+1]++
	})
	for i := range shareUnits + 1 {
		byShare[i+1] += byShare[i]
	}
	for r := range len(x.starts) - 1 {
		x.starts[r+1] += x.starts[r]
	}
	type posting struct {
		rank, id uint32
	}
	total := byShare[shareUnits+1]
	postings := make([]posting, total)
	ends := byShare
	x.eachPosting(func(id, rank uint32, share uint8) {
		postings[ends[shareUnits-share]] = posting{rank, id}
		ends[shareUnits-share]++
	})
	x.ids, x.shares = make([]uint32, total), make([]uint8, total)
	next := slices.Clone(x.starts)
	for c := range shareUnits + 1 {
		for _, p := range postings[byShare[c]:byShare[c+1]] {
			x.ids[next[p.rank]], x.shares[next[p.rank]] = p.id, uint8(shareUnits-c)
			next[p.rank]++
		}
	}
}

// eachPosting emits all that belongs into the lists, and notes the vectors' sizes.
func (x *Index) eachPosting(emit func(id, rank uint32, share uint8)) {
	var entries []entry
	leastShare := x.classOf(x.needed(1, x.leastNear))
	for i := range x.vectors.Len() {
		entries = x.tails(entries[:0], x.vectors.At(i))
		tail := uint64(0)
		for _, e := range entries {
			tail += x.size(e.weight)
		}
		size := tail // all features are known
		x.sizes[i] = size
		for _, e := range entries {
			share := uint8(math.Ceil(x.share(tail, size) * shareUnits))
			if int(share) < leastShare {
				break
			}
			emit(uint32(i), e.rank, share)
			tail -= x.size(e.weight)
		}
	}
}

// needed returns the share that the tail of a vector must have to reach a similarity with
// a query whose tail has the given one, and more than 1 if none is enough. For Jaccard the
// similarity is i/(a+b).
func (r *rule) needed(share, similarity float64) float64 {
	switch {
	case similarity == 0:
		return 0
	case r.measure == measure.Cosine:
		return similarity / share
	case share <= similarity:
		return 2
	}
	return 1 / (1/similarity - 1/share)
}

// classOf returns the least share, in shareUnits, that a list has for one of at least
// share.
func (r *rule) classOf(share float64) int { return int(math.Ceil(min(share, 2) * shareUnits * below)) }
