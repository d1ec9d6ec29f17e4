package advise

import (
	"context"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// What more documents have than shingle.RareMost says nothing about copies.
const (
	voteMost   = 32    // a run of so many documents votes for pairs
	ofMore     = 0.75  // of the larger of both shares of found blocks: a copy may be cut, or have run into another text;
	ofLess     = 0.375 // a passage that two texts share is a part of both
	voteThin   = 4     // one run in so many, of a text with few blocks each, votes for a pair,
	votesLeast = 6     // and a pair with so many votes is looked at, if there is one
	voteBlocks = 3     // for so many tenths of the blocks of the shorter text
)

// witness holds the rare runs of every document.
type witness struct {
	texts   [][]byte
	strip   bool      // they are read without diacritics
	filled  []bool    // by document: less than half of its runs are rare
	runs    [][]run   // by document, ascending by feature
	blocks  [][]int   // by document: how many rare runs each block has
	numbers []numbers // by document
	framed  [][]uint8 // by document: what of a short text many texts have; nil: a long one, or one with little of that
	quoted  [][]run   // by document, likewise: those of quotations, which stand in no block; they make pairs, and no cover

	likely int     // pairs that look like copies,
	apart  int     // and of these that share a template only, by its slots
	common float64 // share of the runs that are common, on average over documents
}

// run is a rare feature, the place where it begins, and the block in which it stands.
type run struct {
	feature   uint64
	at, block uint32
}

// reading says how texts are read.
func reading(strip bool) text.Options { return text.Options{StripDiacritics: strip} }

// readRuns returns the runs of texts, those of their own words first, of which there are so many.
func readRuns(ctx context.Context, texts [][]byte, strip bool, threads int) (features [][]uint64, own []int, err error) {
	features, own = make([][]uint64, len(texts)), make([]int, len(texts))
	err = each(ctx, len(texts), threads, func() func(int) {
		r := runner{shingles: shingler(places.Options(reading(strip)))}
		return func(i int) { features[i], own[i] = r.read(texts[i]) }
	})
	return features, own, err
}

// commonFeatures returns the features that more than rare documents have, and of these those of more than few, ascending, in
// the form of packed.
func commonFeatures(features [][]uint64, rare, few int) (common, ofMost []uint64) {
	counts := make([]uint16, 1<<countBits) // of occurrences: most features have too few to be sorted
	for _, f := range features {
		for _, feature := range f {
			if n := &counts[packed(feature, 0)>>(64-countBits)]; *n < math.MaxUint16 {
				*n++
			}
		}
	}
	var all []uint64
	for doc, f := range features {
		for _, feature := range f {
			if key := packed(feature, doc); int(counts[key>>(64-countBits)]) > min(rare, math.MaxUint16-1) {
				all = append(all, key)
			}
		}
	}
	all = shingle.Set(all)
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end]>>docBits == all[i]>>docBits {
			end++
		}
		if end-i > rare {
			common = append(common, all[i]>>docBits)
			if end-i > few {
				ofMost = append(ofMost, all[i]>>docBits)
			}
		}
		i = end
	}
	return common, ofMost
}

// docBits are the bits of a document's number, or of a place, in an entry; the rest are of a feature.
const docBits = 20

func packed(feature uint64, number int) uint64 {
	return hashing.Mix(feature)>>docBits<<docBits | uint64(number)
}

// filter tells which features are among some.
type filter struct {
	sorted []uint64
	starts []uint32 // by the leading bits of a feature; one more is the end
	shift  int
}

const (
	featureBits = 64 - docBits
	countBits   = 20
)

func newFilter(sorted []uint64) filter {
	size := bits.Len(uint(len(sorted)))
	f := filter{sorted, make([]uint32, 1<<size+1), featureBits - size}
	for _, key := range sorted {
		f.starts[key>>f.shift+1]++
	}
	for i := range 1 << size {
		f.starts[i+1] += f.starts[i]
	}
	return f
}

func (f filter) has(key uint64) bool {
	at := key >> f.shift
	return slices.Contains(f.sorted[f.starts[at]:f.starts[at+1]], key)
}

// rareRuns returns the runs that are not common: sorted as one number of a feature and a place. It returns scratch.
func rareRuns(features []uint64, common filter, scratch []uint64) ([]run, []uint64) {
	scratch = scratch[:0]
	for at, feature := range features {
		if key := packed(feature, at); !common.has(key >> docBits) {
			scratch = append(scratch, key)
		}
	}
	scratch = shingle.Set(scratch)
	runs := make([]run, len(scratch))
	for i, key := range scratch {
		runs[i] = run{feature: key >> docBits, at: uint32(key & (1<<docBits - 1))}
	}
	return runs, scratch
}

// block finds in which block each run of a document stands, of so many with those that are common.
func (w *witness) block(doc, runs int) {
	size, blocks := places.Blocks(runs)
	w.blocks[doc] = make([]int, blocks)
	for i, r := range w.runs[doc] {
		b := min(int(r.at)/size, blocks-1)
		w.blocks[doc][b]++
		w.runs[doc][i].block = uint32(b)
	}
}

// pairs returns the pairs of the first documents that share enough runs of those that vote, ascending.
func (w *witness) pairs(documents int) (pairs []pair) {
	var entries []uint64
	for doc := range documents {
		thin := uint64(voteThin)
		if len(w.blocks[doc]) < blocksTell {
			thin = 1
		}
		for _, runs := range [][]run{w.runs[doc], w.quoted[doc]} {
			for i, r := range runs {
				if hashing.Mix(r.feature)%thin == 0 && (i == 0 || runs[i-1].feature != r.feature) {
					entries = append(entries, r.feature<<docBits|uint64(doc))
				}
			}
		}
	}
	slices.Sort(entries)
	entries = slices.Compact(entries) // of what a document quotes and says itself
	var votes []uint64
	for i := 0; i < len(entries); {
		end := i + 1
		for end < len(entries) && entries[end]>>docBits == entries[i]>>docBits {
			end++
		}
		if end-i <= voteMost {
			for x := i; x < end; x++ {
				for y := x + 1; y < end; y++ {
					votes = append(votes, entries[x]&(1<<docBits-1)<<32|entries[y]&(1<<docBits-1))
				}
			}
		}
		i = end
	}
	slices.Sort(votes)
	for i := 0; i < len(votes); {
		end := i + 1
		for end < len(votes) && votes[end] == votes[i] {
			end++
		}
		shorter := min(len(w.blocks[votes[i]>>32]), len(w.blocks[uint32(votes[i])]))
		if 10*(end-i) >= max(10*votesLeast, voteBlocks*shorter) {
			pairs = append(pairs, pair{a: uint32(votes[i] >> 32), b: uint32(votes[i]), weight: 1})
		}
		i = end
	}
	return pairs
}

// hits counts, in each block, the runs that the other document has too.
func hits(a, b []run, inA, inB []places.Hits) {
	for ofA, ofB := range shared(a, b) {
		for _, r := range ofA {
			inA[r.block].Add(int(ofB[0].at) - int(r.at))
		}
		for _, r := range ofB {
			inB[r.block].Add(int(ofA[0].at) - int(r.at))
		}
	}
}

// shared visits the features that two documents have: the runs of either with the feature.
func shared(a, b []run) iter.Seq2[[]run, []run] {
	return func(yield func(ofA, ofB []run) bool) {
		for len(a) > 0 && len(b) > 0 {
			switch f := a[0].feature; {
			case f < b[0].feature:
				a = a[1:]
			case f > b[0].feature:
				b = b[1:]
			default:
				n, m := withFeature(a, f), withFeature(b, f)
				if !yield(a[:n], b[:m]) {
					return
				}
				a, b = a[n:], b[m:]
			}
		}
	}
}

// withFeature returns how many of some runs, in order of their features, begin with a feature.
func withFeature(runs []run, feature uint64) (n int) {
	for n < len(runs) && runs[n].feature == feature {
		n++
	}
	return n
}
