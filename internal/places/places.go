// Package places looks at texts as runs of characters at their places. A number of common pieces cannot tell noise spread
// over a copy from a passage that two other texts share; places can. It says which blocks of one text stand in another
// one, and whether a third text contradicts that two are copies.
package places

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// Chars are the characters of a run.
const Chars = 8

const (
	Block      = 96 // characters of a block
	blocksMin  = 8  // blocks of a shorter text, if they then have
	blockMin   = 32 // characters or more
	blockRuns  = Block / Chars
	aloneShare = 0.5 // a block with so many of its runs in the other text needs no other one beside it
	HitShare   = 10  // a block is in the other text if that has one in so many of its runs
)

// Options are those of features that are runs of a text that is normalised as by o.
func Options(o text.Options) shingle.Options {
	o.Tokens, o.StopWords, o.MinLength = text.Chars, nil, 0
	return shingle.Options{N: Chars, Text: o}
}

// Blocks returns how many runs begin in a block of a text of so many runs, and the number of blocks.
func Blocks(runs int) (size, blocks int) {
	size = min(Block, max(blockMin, runs/blocksMin))
	return size, max((runs+size/2)/size, 1)
}

// Hits are what of a block another text has.
type Hits struct {
	Runs  int
	ahead int // by so many places most of these runs are further on in the other text; by a vote,
	votes int // which so many won
}

// Add counts a run. The vote is that of Boyer and Moore: where more than half agree, they win in any order.
func (s *Hits) Add(ahead int) {
	s.Runs++
	switch {
	case s.votes == 0:
		s.ahead, s.votes = ahead, 1
	case near(s.ahead, ahead, Chars):
		s.votes++
	default:
		s.votes--
	}
}

func near(a, b, by int) bool { return a-b <= by && b-a <= by }

// Covered returns the share of the blocks with runs that were hit; shares is scratch. Noise is spread over a copy,
// so its blocks keep about the same share of their runs. A block that keeps less than half of what the best quarter of
// the hit ones keep shares a phrase, unless so few runs are kept that this may be chance: runs overlap, so
// there are about blockRuns chances in a block.
//
// What two texts of one story have in common, names and phrases, stands in each where it will. Of a copy the blocks
// stand one after the other: in order, one that keeps few runs counts only if the hit block before or behind it is as
// far ahead.
func Covered(hits []Hits, runs []int, inOrder bool, shares *[]float64) float64 {
	of := (*shares)[:0]
	blocks, before := 0, -1
	for i, n := range runs {
		if n == 0 {
			continue
		}
		blocks++
		if hits[i].Runs*HitShare < n {
			continue
		}
		of = append(of, float64(hits[i].Runs)/float64(n))
	}
	*shares = of
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	level := of[len(of)*3/4]
	least := min(level/2, level-2*math.Sqrt(level*(1-level)/blockRuns))
	hit := 0
	inLine := false // the hit block before counts already
	for i, n := range runs {
		if n == 0 || hits[i].Runs*HitShare < n {
			continue
		}
		share := float64(hits[i].Runs) / float64(n)
		if share < least {
			continue
		}
		follows := before >= 0 && near(hits[i].ahead, hits[before].ahead, Block)
		if follows && !inLine {
			hit++ // the one before
		}
		alone := share >= aloneShare || !inOrder
		if inLine = follows || alone; inLine {
			hit++
		}
		before = i
	}
	return float64(hit) / float64(blocks)
}
