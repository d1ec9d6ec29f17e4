package engine

import (
	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// Sampling says how samples find pairs by containment: see lsh.Sample.
type Sampling struct {
	Sample    lsh.Sample
	Seed      uint64            // recipe.Recipe.SampleSeed
	Threshold measure.Threshold // of Containment or MaxContainment
	// Cap limits the work of a key: if it has more pairs than Cap documents that all sample it would have,
	// only its first lsh.Hubs documents are paired with all.
	Cap int
}

// Over tells whether a key is over the cap; sampled of its documents have it in their samples.
func (s *Sampling) Over(sampled, documents int) bool { return 2*sampled*documents > s.Cap*s.Cap }

// Missing returns how many votes an entry with so many lacks. Only documents that sample a key have votes, so
// those that lack the fewest come first.
func (s *Sampling) Missing(votes int) uint64 { return uint64(s.Sample.Agree - votes) }

// Votes is Missing the other way round: 0 for a document that does not sample the key.
func (s *Sampling) Votes(missing uint64) uint64 { return uint64(s.Sample.Agree) - missing }

// Looker looks at the features of documents, for one goroutine.
type Looker struct {
	s       *Sampling
	sampler *minhash.BottomKSketcher
	hashes  []uint64
	sample  []uint64
	set     []uint64
	keys    [lookBlock]uint64
	has     [lookBlock]bool
}

// lookBlock is how many features are looked up at once.
const lookBlock = 512

func (s *Sampling) NewLooker() *Looker {
	return &Looker{s: s, sampler: recipe.NewSampler(s.Sample.Size, s.Seed)}
}

// Look returns the hashes of a document's features whose keys pass, ascending; those up to last are in its own
// sample and have votes each, the others none. Nor has any hash unless inside is set: then nothing is looked for that
// contains the document. Features may be repeated, and in any order: sorting all of them would cost more than the
// rest. pass reports for each key whether it is wanted. The hashes are valid until the next call.
func (l *Looker) Look(features []uint64, within recipe.Within, inside bool, pass func(keys []uint64, has []bool)) (hashes []uint64, last uint64, votes int) {
	l.hashes = l.hashes[:0]
	for rest := features; len(rest) > 0; {
		block := rest[:min(lookBlock, len(rest))]
		rest = rest[len(block):]
		from := len(l.hashes)
		l.hashes = recipe.AppendSampleHashes(l.hashes, block, l.s.Seed)
		keys := l.keys[:copy(l.keys[:], l.hashes[from:])]
		if within != 0 {
			for i, hash := range keys {
				keys[i] = within.Key(hash)
			}
		}
		pass(keys, l.has[:len(keys)])
		n := from
		for i, hash := range l.hashes[from:] {
			l.hashes[n] = hash
			if l.has[i] {
				n++
			}
		}
		l.hashes = l.hashes[:n]
	}
	hashes = distinct.Sort(l.hashes)
	if inside && len(features) > 0 {
		last, votes = l.sampleOf(features)
	}
	return hashes, last, votes
}

// sampleOf returns the largest key of the sample of a document, and the votes of each; a document with fewer
// features than a sample is its own sample.
func (l *Looker) sampleOf(features []uint64) (last uint64, votes int) {
	l.sampler.Reset()
	l.sampler.Add(features)
	l.sample = l.sampler.Append64(l.sample[:0])
	size, last := len(l.sample), uint64(recipe.NoKey)
	if size == l.s.Sample.Size {
		last = l.sample[size-1]
		if l.least(size) < l.s.Sample.Agree { // otherwise a larger set has no other votes
			l.set = append(l.set[:0], features...)
			size = len(distinct.Sort(l.set))
		}
	}
	return last, l.s.Sample.Votes(l.least(max(size, 1)))
}

// least is the fewest features that a pair at the threshold shares with a document of size features.
func (l *Looker) least(size int) int {
	return int(l.s.Threshold.MinOverlap(uint64(size), uint64(size)))
}
