package engine

import (
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

// Looker looks at sets, for one goroutine.
type Looker struct {
	s       *Sampling
	sampler *minhash.BottomKSketcher
	hashes  []uint64
	sample  []uint64
}

// NewLooker returns a looker.
func (s *Sampling) NewLooker() *Looker {
	return &Looker{s: s, sampler: recipe.NewSampler(s.Sample.Size, s.Seed)}
}

// Look returns the keys of a set; those up to last are in its own sample and have votes each, the others
// none. Nor has any key unless inside is set: then nothing is looked for that contains the set. The keys
// are valid until the next call.
func (l *Looker) Look(set []uint64, inside bool) (keys []uint64, last uint64, votes int) {
	l.hashes = recipe.AppendSampleHashes(l.hashes[:0], set, l.s.Seed)
	if n := uint64(len(set)); n > 0 && inside {
		return l.hashes, l.lastOfSample(set), l.s.Sample.Votes(int(l.s.Threshold.MinOverlap(n, n)))
	}
	return l.hashes, 0, 0
}

// lastOfSample returns the largest key of the sample of a set; a set with fewer features than a sample is
// its own sample.
func (l *Looker) lastOfSample(set []uint64) uint64 {
	l.sampler.Reset()
	l.sampler.Add(set)
	if l.sample = l.sampler.Append64(l.sample[:0]); len(l.sample) < l.s.Sample.Size {
		return recipe.NoKey
	}
	return l.sample[len(l.sample)-1]
}
