package forecast

import (
	"math/bits"

	"github.com/alike-dev/alike/internal/sides"
)

// HotLevels is how many levels buckets over the cap can have: a bucket has fewer than 2³² documents. A
// document has the level of the smallest such bucket that it lies in.
const HotLevels = 34

// HotLevel returns the level of a bucket over the cap: how often the cap must be doubled to reach its
// size.
func HotLevel(size int64, limit int) int { return bits.Len64(uint64((size - 1) / int64(limit))) }

// HotFeatures is how many features the documents of buckets over the cap may have for a join of them: with
// little memory the join is made by chunks, each a pass over all of them.
const HotFeatures = 4 << 20

// HotBudget is the highest cost of joining the documents of buckets over the cap, in nanoseconds as in
// costs.go, for a corpus of that many documents: about as much as all other work.
func HotBudget(documents int) float64 { return 10_000*float64(documents) + 4e9 }

// JoinHot joins the documents in buckets over the cap: those of all levels or, where a forecast says that
// this would take too long, those of the lower levels. It returns the level behind the highest one that
// was joined.
//
// features has the features of the documents by level; judge estimates the work on the documents of levels
// below end; join joins those that were estimated last, and returns false if it has found more edges than
// the limit.
func JoinHot(features *[HotLevels]sides.Features, documents int, judge func(end int) (Forecast, error), join func(end int, limit int64) (bool, error)) (end int, err error) {
	most := HotBudget(documents)
	for end = HotLevels; end > 0; end-- {
		if features[end-1] == (sides.Features{}) { // no document is of this level
			continue
		}
		var sum sides.Features
		for _, n := range features[:end] {
			sum.Left += n.Left
			sum.Right += n.Right
		}
		if min(sum.Left, sum.Right) > HotFeatures {
			continue
		}
		f, err := judge(end)
		if err != nil {
			return 0, err
		}
		if f.Exact()+f.Sets() > most {
			continue
		}
		// Twice as many edges as the budget allows: a forecast is no more exact than that.
		if joined, err := join(end, int64(2*most/f.Verify())); joined || err != nil {
			return end, err
		}
	}
	return 0, nil
}
