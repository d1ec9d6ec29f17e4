package dedup

import (
	"math"

	"github.com/alike-dev/alike/recipe"
)

// exactSpare is by how much more an exact join may cost, in nanoseconds: it misses nothing. exactAgain is which
// part of the cost of bands it must cost if there are too many features to keep sets that are perhaps not needed: it takes
// more memory, and with little memory more time than the forecast says.
const (
	exactSpare = 2e6
	exactAgain = 0.75
)

// A join that was not asked for is given up when it has found more edges than edgesMore plus
// edgesEach for each document and, for a list of pairs, edgesOver times the edges of the forecast:
// a large cluster can be known without finding all its pairs.
const (
	edgesEach = 32
	edgesMore = 1 << 20
	edgesOver = 4
)

// Sets of up to shortMost features are short: hashed to 32 bits they take no more room than the
// keys of 16 bands, and no signature is made. The limit is lower if sets that can be similar to short
// ones would have more than nearMost features: at low thresholds most texts could be similar to a
// short one, and all of them would have keys of both kinds. (Reuters' stories at 0.3: three times the
// time of bands alone.)
const (
	shortMost = 32
	nearMost  = 40
)

// shortSets reports which sets the prefix filter finds exactly, by their rarest features; LSH or
// the exact join finds the rest. Callers that ask for bands get only bands.
func shortSets(c *settings, r *recipe.Recipe) recipe.ShortSets {
	most := uint64(shortMost)
	for most > 0 && c.threshold.MaxSize(most) > nearMost {
		most--
	}
	if most == 0 || c.Method != methodAuto || !r.BySets() || c.Shared || c.Known != nil || r.Keys() == 0 ||
		r.MinKeys() > 1 || r.Sample().Size > 0 || r.Banding().Rows <= 1 {
		return recipe.ShortSets{}
	}
	return recipe.ShortSets{Most: int(most), Near: int(c.threshold.MaxSize(most))}
}

// choice is what keys documents get.
type choice struct {
	recipe   recipe.Recipe // as asked for or, if an exact join is expected, without keys
	expected string        // exact or lsh; "": what is decided when the inputs have been read
}

func asked(s *settings) choice { return choice{recipe: s.recipe} }

// Numbers of features up to which a run keeps all feature sets although it was not asked to. A
// collection of up to retainMost features is joined exactly before bands would have begun; keeping
// more would take memory and time that bands do not need. That is worth it for sets of single tokens,
// which are smaller than their texts and have so much in common that they are often joined, and where
// containment is found by samples, for which texts would be read again (32 MiB). All that contains a
// document is sought with sets made again where an index of them, of bytesIndexed a feature, would take
// more than the memory that was allowed: that takes 1.8 times the processor time of the index in memory.
const (
	retainMost    = 64 << 10
	retainTokens  = 2 << 20
	retainSampled = 4 << 20
	retainExact   = 32 << 20
	bytesIndexed  = 24
)

// retain returns the number of features up to which all sets are kept.
func retain(c *settings, how choice) int64 {
	switch {
	case how.recipe.Keys() == 0 && !c.threshold.Measure().ByParts(): // they will be joined
		return math.MaxInt64
	case how.expected == MethodLSH:
		return 0
	case c.limits.retain > 0:
		return c.limits.retain
	case how.recipe.Keys() == 0 && c.Memory == 0:
		return math.MaxInt64
	case how.recipe.Keys() == 0:
		return max(retainExact, c.Memory/bytesIndexed)
	case how.recipe.Sample().Size > 0:
		return retainSampled
	case c.Features.N == 1:
		return retainTokens
	}
	return retainMost
}
