package engine

import (
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/sides"
	"github.com/alike-dev/alike/recipe"
)

// NearBudget limits the cost of comparing the signatures of all members of buckets over the cap. It is
// linear in documents, see forecast.HotBudget.
type NearBudget struct {
	words       float64
	limit       int // the cap
	cost, sizes [forecast.HotLevels]float64
	levels      int     // buckets of levels from here on are left out
	pairsADoc   float64 // that may be found for each member of the other buckets
}

// Costs in nanoseconds: costLook of looking at a pair, costWord of comparing a word of two
// signatures that may be compared, and costNear of a pair that is found.
const (
	costLook = 2
	costWord = 0.5
	costNear = 50
)

// NewNearBudget returns a budget for buckets over the cap limit, of signatures of so many words.
func NewNearBudget(words, limit int) *NearBudget {
	return &NearBudget{words: costWord * float64(words), limit: limit}
}

// Add adds a bucket of n documents, of which so many pairs may be compared: at least one.
func (b *NearBudget) Add(n int64, pairs float64) {
	level := forecast.HotLevel(n, b.limit)
	b.cost[level] += costLook*float64(n)*float64(n-1)/2 + b.words*pairs
	b.sizes[level] += float64(n)
}

// Spend admits as many levels of the added buckets, the smaller ones first, as most allows.
func (b *NearBudget) Spend(most float64) {
	left, size := most, 0.0
	for ; b.levels < forecast.HotLevels && left >= b.cost[b.levels]; b.levels++ {
		left -= b.cost[b.levels]
		size += b.sizes[b.levels]
	}
	b.pairsADoc = most / costNear / max(size, 1)
}

// Admits tells whether the members of a bucket of n documents are compared.
func (b *NearBudget) Admits(n int64) bool { return forecast.HotLevel(n, b.limit) < b.levels }

// Pairs returns how many pairs such a bucket may have. From the next one on it is given up.
func (b *NearBudget) Pairs(n int64) int64 { return int64(b.pairsADoc * float64(n)) }

// Bucket is a bucket over the cap whose members are compared by their signatures, each with all others,
// until the largest allowed number of pairs is found.
type Bucket struct {
	Comparer   *recipe.Comparer
	Sides      *sides.Policy
	Docs       []uint32 // ascending
	Signatures []uint32 // of the documents, one after the other
	Most       int64    // pairs
}

// EachNear visits the earlier members whose signatures match that of member j. It returns false if the
// bucket has more pairs than Most.
func (b *Bucket) EachNear(j int, visit func(i int, similarity float64) error) (all bool, err error) {
	words := len(b.Signatures) / len(b.Docs)
	of := func(i int) []uint32 { return b.Signatures[i*words : (i+1)*words] }
	for i, doc := range b.Docs[:j] {
		if !b.Sides.Meet(doc, b.Docs[j]) {
			continue
		}
		similarity, near := b.Comparer.Signatures(of(i), of(j))
		if !near {
			continue
		}
		if b.Most--; b.Most < 0 {
			return false, nil
		}
		if err := visit(i, similarity); err != nil {
			return false, err
		}
	}
	return true, nil
}
