package simhash

import (
	"fmt"
	"math"

	"github.com/alike-dev/alike/internal/hashing"
)

// Blocks makes keys of fingerprints such that any two within a Hamming distance d of each
// other have a key in common. Use it to find all pairs by grouping equal keys when the
// fingerprints are too many for a [Join] in memory, or when another system does the
// grouping.
//
// The bits are cut into m > d blocks. Two fingerprints that differ in at most d bits are
// equal in at least m−d of the blocks, so there is a key for every choice of m−d blocks,
// C(m, d) of them (Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling",
// WWW 2007). More blocks make more keys of more bits, and fewer pairs that share a key by
// chance. [NewBlocks] takes the m that costs least for about ten million random
// fingerprints: for 64 bits and d = 3 five blocks, ten keys of 25 or 26 bits.
//
// Pairs that share a key are candidates: [Distance] decides. The zero value makes no keys.
type Blocks struct {
	width    int
	distance int
	blocks   int
	choices  [][]uint8 // the blocks of each key
}

const (
	// blocksFor is the number of fingerprints that NewBlocks assumes.
	blocksFor = 1 << 24
	// mostKeys bounds the keys of a fingerprint.
	mostKeys = 256
)

// NewBlocks returns the keys for fingerprints of width bits, 1 to MaxBits, and a distance
// of 0 to width−1. It is an error if these are out of range, or if the distance is so
// large that more than 256 keys would be needed.
func NewBlocks(width, distance int) (Blocks, error) {
	if width < 1 || width > MaxBits {
		return Blocks{}, fmt.Errorf("simhash: fingerprints of %d bits: blocks take 1 to %d", width, MaxBits)
	}
	if err := checkSearch(0, width, distance); err != nil {
		return Blocks{}, err
	}
	if distance >= mostKeys {
		return Blocks{}, fmt.Errorf("simhash: distance %d needs %d keys a fingerprint: take at most %d", distance, distance+1, mostKeys-1)
	}
	b := Blocks{width: width, distance: distance}
	least := math.Inf(1)
	for m := distance + 1; m <= width; m++ {
		keys := binomial(m, distance)
		if keys > mostKeys {
			break
		}
		if work := keys * (1 + blocksFor*math.Exp2(-float64(width/m*(m-distance)))); work < least {
			least, b.blocks = work, m
		}
	}
	b.choices = choices(b.blocks, b.blocks-distance)
	return b, nil
}

// Keys returns the number of keys of a fingerprint.
func (b Blocks) Keys() int { return len(b.choices) }

// Distance returns the distance up to which pairs share a key.
func (b Blocks) Distance() int { return b.distance }

// AppendKeys appends the keys of a fingerprint to dst. Bit i of the fingerprint is bit i
// mod 32 of word ⌊i/32⌋, in the byte order of [Scheme.AppendBinary]; bits beyond the width
// do not count. Keys of different choices of blocks differ, and their bits are spread
// evenly. O(words + keys·blocks); it allocates nothing but space in dst.
func (b Blocks) AppendKeys(dst []uint64, fingerprint []uint32) []uint64 {
	var values [mostKeys]uint64
	for i := range b.blocks {
		values[i] = blockHash(fingerprint, b.width*i/b.blocks, b.width*(i+1)/b.blocks, uint64(i))
	}
	for number, choice := range b.choices {
		sum := uint64(number+1) * hashing.Key1
		for _, block := range choice {
			sum += values[block]
		}
		dst = append(dst, hashing.Mix(sum))
	}
	return dst
}

// blockHash returns a hash of bits low … high−1 and of the block's number.
func blockHash(fingerprint []uint32, low, high int, number uint64) uint64 {
	h := hashing.Mix(number + 1)
	for low < high {
		end := min((low/32+1)*32, high)
		bits := fingerprint[low/32] >> (low % 32)
		if n := end - low; n < 32 {
			bits &= 1<<n - 1
		}
		h = hashing.Mix(h ^ uint64(bits))
		low = end
	}
	return h
}

// binomial returns C(n, k), rounded.
func binomial(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return math.Round(c)
}

// choices returns all choices of k out of n numbers, in lexicographic order.
func choices(n, k int) (all [][]uint8) {
	choice := make([]uint8, k)
	var choose func(at, from int)
	choose = func(at, from int) {
		if at == k {
			all = append(all, append([]uint8(nil), choice...))
			return
		}
		for i := from; i <= n-(k-at); i++ {
			choice[at] = uint8(i)
			choose(at+1, i+1)
		}
	}
	choose(0, 0)
	return all
}
