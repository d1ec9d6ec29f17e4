package linkage

import (
	"math"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/linkage/internal/find"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/linkage/internal/memory"
	"github.com/alike-dev/alike/linkage/internal/steps"
)

// newFinder returns what finds candidates in tables that are not read yet.
func newFinder(c *Config) *find.Finder {
	f := &find.Finder{
		Tables: &held.Tables{}, Threads: c.Threads, Method: c.search(), WordsFrom: c.limits.many,
		Memory: memory.New(c.Work, c.Memory, c.Threads), Steps: &steps.Keeper{},
	}
	if c.bySimilarity() {
		f.WordsFrom = math.MaxInt
	}
	return f
}

// manyRecords is the number of records above which candidates are the pairs that share a key, and not the most
// similar pairs. If the configuration asks for the latter all the same, their similarity is that of words only: among
// so many records there are enough that share a word, and grams cost ten times as much.
const manyRecords = 30_000

// search returns how similar records are found.
func (c *Config) search() candidates.Config {
	s := candidates.Config{
		Method: candidates.TopK, Measure: c.scale().Measure, Both: true, Recall: c.Recall, Unfiltered: c.limits.unfiltered, Threads: c.Threads,
	}
	if !c.bySimilarity() {
		return s
	}
	s.MinSimilarity = c.Threshold
	switch c.Candidates {
	case LSH:
		s.Method = candidates.Bands
	case Exact:
		s.Method = candidates.Exact
	default:
		s.Method = candidates.Auto
	}
	return s
}
