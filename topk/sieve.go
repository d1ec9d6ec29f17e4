package topk

import (
	"math"
	"slices"
)

// sieve tells, for 64 vectors of a list at once, which of them may have enough in common
// with a query. Most vectors of a list share little more with the query than the list's
// feature, and reading each of them costs a cache miss or two.
//
// A vector's tail behind the list's feature has a signature of 64·words bits, one for each
// feature (by hash, so that several share a bit). The signatures of 64 vectors make a
// block, which is stored by bits: word b says which of the 64 have bit b.
//
//	for each feature of the query's tail, the most it may have in common with a vector:
//	    add that to the counters of those vectors that have its bit
//	a vector passes if its counter reaches the need
//
// The counters are bit slices: word s of the sum has bit s of all 64 counters, and adding
// is five steps of a ripple-carry adder in words, for 64 vectors together.
//
//  1. The lists hold 2600 vectors for a person of 12 words among a million. If 10 are wanted,
//     281 pass, and 120 after each of these is tested with its own size instead of the least
//     size of its block. Comparing one vector costs several cache misses.
//  2. Vectors and sizes are cache misses. A loop of its own touches those of a batch first, see
//     Searcher.compare; this takes a fifth off (BenchmarkOthers).
//  3. A tail has no features before the list's own: if two vectors share such a feature, its
//     list has already found them.
//  4. A score for every vector, to which all lists of the query add, takes 20 times as
//     long (BenchmarkAccumulate).
//  5. Two attempts brought no measurable gain: an order of queries in which neighbours share
//     lists; a byte for the size next to each entry of a list.
type sieve struct {
	words  int      // 64 bits each of a signature
	first  []uint32 // of each rank: its first block, absent if its list has none
	blocks []uint64 // words·64 words each
	least  []uint64 // of each block: the least size of its vectors
	behind []bound  // of each block: the bound of all vectors of its list from this block on
}

// bound is the least size and the least number of some vectors.
type bound struct {
	size uint64
	id   uint32
}

const (
	blockLength = 64
	// leastSieved is the length from which a list has blocks.
	leastSieved = 16
	mostWords   = 4
)

func (s *sieve) prepare(x *Index) {
	s.words = 2
	if len(x.entries) > 24*x.Len() {
		s.words = mostWords
	}
	s.first = make([]uint32, len(x.starts)-1)
	count := uint32(0)
	for r := range s.first {
		s.first[r] = absent
		if n := x.starts[r+1] - x.starts[r]; n >= leastSieved {
			s.first[r] = count
			count += (n + blockLength - 1) / blockLength
		}
	}
	s.blocks = make([]uint64, int(count)*s.words*blockLength)
	s.least, s.behind = make([]uint64, count), make([]bound, count)
	for i := range s.least {
		s.least[i] = math.MaxUint64
	}
}

// bit returns the bit of a feature by its rank.
func (s *sieve) bit(rank uint32) uint16 {
	return uint16(uint64(rank*0x9e3779b1) * uint64(s.words*64) >> 32)
}

// put stores the signatures of the first entries of vector i, given their places in the lists;
// transpose turns them later.
func (s *sieve) put(x *Index, i int, places []uint32) {
	var signature [mostWords]uint64
	entries, size := x.at(i), x.sizes[i]
	for k := len(entries) - 1; k >= 0; k-- {
		rank := entries[k].rank
		if k < len(places) && s.first[rank] != absent {
			place := places[k] - x.starts[rank]
			block := int(s.first[rank] + place/blockLength)
			s.least[block] = min(s.least[block], size)
			copy(s.blocks[(block*blockLength+int(place%blockLength))*s.words:][:s.words], signature[:])
		}
		b := s.bit(rank)
		signature[b>>6&(mostWords-1)] |= 1 << (b & 63)
	}
}

// bounds sets the bound of the vectors from each block on.
func (s *sieve) bounds(x *Index) {
	for r, first := range s.first {
		if first == absent {
			continue
		}
		ids := x.ids[x.starts[r]:x.starts[r+1]]
		b := bound{math.MaxUint64, absent}
		for k := (len(ids) - 1) / blockLength; k >= 0; k-- {
			b.size = min(b.size, s.least[int(first)+k])
			b.id = min(b.id, slices.Min(ids[k*blockLength:min((k+1)*blockLength, len(ids))]))
			s.behind[int(first)+k] = b
		}
	}
}

// transpose turns all blocks from vectors to bits.
func (s *sieve) transpose() {
	size := s.words * blockLength
	var square [blockLength]uint64
	old := make([]uint64, size)
	for block := s.blocks; len(block) > 0; block = block[size:] {
		copy(old, block)
		for w := range s.words {
			for i := range square {
				square[i] = old[i*s.words+w]
			}
			transpose(&square)
			copy(block[w*blockLength:], square[:])
		}
	}
}

// transpose turns a matrix of bits: bit j of word i changes places with bit i of word j.
// Blocks of 32×32, 16×16, …, 1×1 are exchanged across the diagonal.
func transpose(m *[64]uint64) {
	mask := uint64(0x00000000ffffffff)
	for width := 32; width > 0; width >>= 1 {
		for i := 0; i < 64; i = (i + width + 1) &^ width {
			t := (m[i]>>width ^ m[i+width]) & mask
			m[i] ^= t << width
			m[i+width] ^= t
		}
		mask ^= mask << (width >> 1)
	}
}

// counterBits is the width of the counters: a need is 1<<counterBits.
const counterBits = 5

// pass returns a bit for each vector of a block that may have the needed amount in common
// with features that have these bits and add this much at most.
func (s *sieve) pass(block int, most []float64, bit []uint16, need float64) (passed uint64) {
	if need <= 0 {
		return math.MaxUint64
	}
	words := s.blocks[block*s.words*blockLength:][:s.words*blockLength]
	scale := (1 << counterBits) / need
	var s0, s1, s2, s3, s4 uint64
	bit = bit[:len(most)]
	for i, m := range most {
		has := words[bit[i]]
		if has == 0 {
			continue
		}
		units := uint64(min(m*scale, 1<<counterBits)) + 1 // rounded up
		if units >= 1<<counterBits {
			passed |= has
			continue
		}
		a0, a1, a2, a3, a4 := has&-(units&1), has&-(units>>1&1), has&-(units>>2&1), has&-(units>>3&1), has&-(units>>4&1)
		carry := s0 & a0
		s0 ^= a0
		x := s1 ^ a1
		s1, carry = x^carry, s1&a1|x&carry
		x = s2 ^ a2
		s2, carry = x^carry, s2&a2|x&carry
		x = s3 ^ a3
		s3, carry = x^carry, s3&a3|x&carry
		x = s4 ^ a4
		s4, carry = x^carry, s4&a4|x&carry
		passed |= carry
	}
	return passed
}

// sum is what vector k of a block may have in common with the features at most.
func (s *sieve) sum(block, k int, most []float64, bit []uint16) (sum float64) {
	words := s.blocks[block*s.words*blockLength:][:s.words*blockLength]
	bit = bit[:len(most)]
	for i, m := range most {
		sum += m * float64(words[bit[i]]>>k&1)
	}
	return sum
}
