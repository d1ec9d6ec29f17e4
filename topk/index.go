package topk

import (
	"errors"
	"math"
	"slices"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
)

// Index is an inverted index over a collection. It is immutable and safe for concurrent
// searches, each with a Searcher of its own.
//
// Features are ordered by the number of vectors that have them, rarest first. The tail of a vector
// at one of its features is this feature and all later ones of the vector in this order. The share
// of a tail is its part of the vector's size: for cosine |tail| / |vector|, for Jaccard the ratio
// of the sums. At the rarest common feature of two vectors, everything that they have in common is
// in both tails. So
//
//	cosine ≤ share · share'              (Cauchy-Schwarz)
//	1/share + 1/share' ≤ (a + b)/i       (i, in common, is at most either tail's sum)
//
// A feature's list holds the vectors by falling share. A search goes through the query's features,
// rarest first, and in each list only as far as the shares allow given the matches found so far: it
// hardly reads the lists of frequent features, whose shares are small. With a least similarity the
// lists leave out entries that no query can need; this is the prefix filter.
//
// Long lists have a sieve, which leaves few vectors to be compared.
//
// Memory: 8 bytes a feature of the vectors, 5 for each that is in a list, and 16 (32 if vectors
// have more than 24 features) for each in a list of 16 vectors and more, up to four times as much
// below 64; 16 for each feature number and 20 a vector, 8 more for each searcher where it adds up. Building takes 8 bytes a feature more.
type Index struct {
	rule
	ends    []uint32 // of each vector's entries
	entries []entry  // of the vectors, by rank in each
	sizes   []uint64 // of each vector
	// extents are, of each vector, what the overlap that it needs is proportional to: the root of the size for cosine, the
	// size for Jaccard.
	extents []float64

	rank    []uint32 // of each feature, absent where no vector holds it
	largest []uint32 // of each rank: the largest weight
	even    bool     // a feature has one weight in all vectors
	starts  []uint32 // of each rank's list
	ids     []uint32 // the lists: vectors by falling share, then number
	shares  []uint8  // of their tails, in shareUnits, rounded up
	sieve
}

// entry is a feature of a vector.
type entry struct{ rank, weight uint32 }

const (
	absent     = math.MaxUint32
	shareUnits = math.MaxUint8
	// below makes a float from a few operations certainly less than the exact value.
	below = 1 - 1e-9
)

// NewIndex builds the index of vectors, and keeps no reference to them. There may be up to 2³²−2
// features in all. O(features).
func NewIndex(vectors *simjoin.Vectors, o Options) (*Index, error) {
	r, err := o.rule()
	if err != nil {
		return nil, err
	}
	if vectors.Features() >= math.MaxUint32 {
		return nil, errors.New("topk: more than 2^32-2 features: index the collection in parts")
	}
	x := &Index{rule: r}
	x.order(vectors)
	x.store(vectors)
	x.post()
	return x, nil
}

// IndexBytes estimates the peak memory of NewIndex, without the vectors themselves, for features in
// all numbered below dictionary. It is an upper estimate for vectors of about ten features; if a
// least similarity leaves half of the features out of the lists, NewIndex takes about half of it.
func IndexBytes(vectors int, features int64, dictionary int) int64 {
	const perVector, perFeature, perNumber, fixed = 40, 56, 4, 1 << 20
	return fixed + perVector*int64(vectors) + perFeature*features + perNumber*int64(dictionary)
}

// Len returns the number of vectors.
func (x *Index) Len() int { return len(x.ends) }

// at returns the entries of vector i.
func (x *Index) at(i int) []entry {
	start := uint32(0)
	if i > 0 {
		start = x.ends[i-1]
	}
	return x.entries[start:x.ends[i]]
}

// order ranks the features by the number of vectors that hold them, then by number.
func (x *Index) order(vectors *simjoin.Vectors) {
	largest := -1
	for i := range vectors.Len() {
		if f := vectors.At(i).Features; len(f) > 0 {
			largest = max(largest, int(f[len(f)-1]))
		}
	}
	x.rank = make([]uint32, largest+1)
	count, most := x.rank, uint32(0)
	for i := range vectors.Len() {
		for _, f := range vectors.At(i).Features {
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

// store copies the vectors' features by rank, with their sizes and the features' largest weights.
func (x *Index) store(vectors *simjoin.Vectors) {
	x.entries = make([]entry, 0, vectors.Features())
	x.ends, x.sizes, x.extents = make([]uint32, vectors.Len()), make([]uint64, vectors.Len()), make([]float64, vectors.Len())
	x.largest = make([]uint32, len(x.starts)-1)
	x.even = true
	var keys []uint64
	for i := range vectors.Len() {
		v := vectors.At(i)
		x.sizes[i] = v.Size(x.measure)
		if x.extents[i] = float64(x.sizes[i]); x.measure == measure.Cosine {
			x.extents[i] = math.Sqrt(x.extents[i])
		}
		x.entries, keys = x.known(x.entries, keys[:0], v)
		x.ends[i] = uint32(len(x.entries))
		for _, e := range x.at(i) {
			x.even = x.even && (x.largest[e.rank] == 0 || x.largest[e.rank] == e.weight)
			x.largest[e.rank] = max(x.largest[e.rank], e.weight)
		}
	}
}

// known appends the features of a vector that the index has, by rank. keys is scratch.
func (x *Index) known(dst []entry, keys []uint64, v simjoin.Vector) ([]entry, []uint64) {
	for i, f := range v.Features {
		if int(f) < len(x.rank) && x.rank[f] != absent {
			keys = append(keys, uint64(x.rank[f])<<32|uint64(v.Weights[i]))
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		dst = append(dst, entry{uint32(k >> 32), uint32(k)})
	}
	return dst, keys
}

// size returns the part of a weight in the size of a vector.
func (r *rule) size(weight uint32) uint64 {
	if r.measure == measure.Cosine {
		return uint64(weight) * uint64(weight)
	}
	return uint64(weight)
}

func (r *rule) share(tail, size uint64) float64 {
	s := float64(tail) / float64(size)
	if r.measure == measure.Cosine {
		return math.Sqrt(s)
	}
	return s
}

// post fills the lists. It sorts the entries by share, then by rank, both by counting. This sort is
// stable, so entries of a list stay ordered by share.
func (x *Index) post() {
	var byShare [shareUnits + 2]uint32
	var shares []uint8
	least := x.classOf(x.needed(1, x.leastNear))
	for i := range x.Len() {
		shares = x.tails(shares[:0], i, least)
		for k, share := range shares {
			byShare[shareUnits-share+1]++
			x.starts[x.at(i)[k].rank+1]++
		}
	}
	for i := range shareUnits + 1 {
		byShare[i+1] += byShare[i]
	}
	for r := range len(x.starts) - 1 {
		x.starts[r+1] += x.starts[r]
	}
	type posting struct{ rank, id uint32 }
	total := byShare[shareUnits+1]
	postings := make([]posting, total)
	ends := byShare
	for i := range x.Len() {
		shares = x.tails(shares[:0], i, least)
		for k, share := range shares {
			at := &ends[shareUnits-share]
			postings[*at] = posting{x.at(i)[k].rank, uint32(i)}
			*at++
		}
	}
	x.ids, x.shares = make([]uint32, total), make([]uint8, total)
	next := slices.Clone(x.starts)
	for c := range shareUnits + 1 {
		for k := byShare[c]; k < byShare[c+1]; k++ {
			p := &postings[k]
			at := next[p.rank]
			x.ids[at], x.shares[at] = p.id, uint8(shareUnits-c)
			next[p.rank]++
			p.id = at // the sieve needs it
		}
	}
	x.sieve.prepare(x)
	var places []uint32
	ends = byShare
	for i := range x.Len() {
		shares = x.tails(shares[:0], i, least)
		places = places[:0]
		for _, share := range shares {
			at := &ends[shareUnits-share]
			places = append(places, postings[*at].id)
			*at++
		}
		x.sieve.put(x, i, places)
	}
	x.sieve.bounds(x)
	x.sieve.transpose()
}

// tails appends the shares of the tails of vector i, which fall, as long as they are at least the
// least share of the lists.
func (x *Index) tails(dst []uint8, i, least int) []uint8 {
	size := x.sizes[i]
	tail := size // all features are known
	for _, e := range x.at(i) {
		share := uint8(math.Ceil(x.share(tail, size) * shareUnits))
		if int(share) < least {
			break
		}
		dst = append(dst, share)
		tail -= x.size(e.weight)
	}
	return dst
}

// needed returns the share that the tail of a vector needs to reach a similarity with a query whose
// tail has the given share, and more than 1 if no share is enough. For Jaccard the similarity is
// i/(a+b).
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

// classOf returns the least share in shareUnits, as lists have it, of tails with at least share.
func (r *rule) classOf(share float64) int { return int(math.Ceil(min(share, 2) * shareUnits * below)) }
