package shingle

import (
	"math/big"

	"github.com/alike-dev/alike/internal/hashing"
)

// MostWeight is the weight of the rarest features.
const MostWeight = 16

// Weights make features count by their weight, a whole number from 0 to MostWeight: a feature of weight w stands in
// the set w times, as w features of which the first is the feature itself. So the Jaccard similarity of two sets is
// the weighted one, Σ of the weights of common features over Σ of all of both, and whatever holds of sets holds.
//
// Weights come from a collection, and lines cannot hold them: a line has their name only.
type Weights struct {
	Name string                     // how they were made, without spaces
	Of   func(feature uint64) uint8 // nil: all weigh 1; called by several goroutines
}

func (w *Weights) append(dst, features []uint64) []uint64 {
	for _, f := range features {
		weight := uint64(w.Of(f))
		if weight == 0 {
			continue
		}
		dst = append(dst, f)
		for i := weight; i > 1; i-- {
			dst = append(dst, hashing.Mix(f+i*hashing.Key1))
		}
	}
	return dst
}

// Rarities turns document frequencies into weights: of N documents, the feature of df of them weighs
//
//	max(1, MostWeight · ln(N/df) / ln N), rounded
//
// so a feature of one document weighs MostWeight, and one of all documents 1: a text in which nothing is rare is still
// like its copies. The value holds the largest df for each weight from 2 on, so that decisions are those of integers.
type Rarities [MostWeight - 1]uint64

// NewRarities returns the weights for a number of documents.
func NewRarities(documents uint64) (r Rarities) {
	for i := range r {
		// The weight is at least w if ln(N/df)/ln N ≥ (2w−1)/(2·MostWeight), or df^(2·MostWeight) ≤ N^(2·MostWeight−2w+1).
		w := int64(i + 2)
		most := new(big.Int).SetUint64(documents)
		most.Exp(most, big.NewInt(2*MostWeight-2*w+1), nil)
		for root := 1; root < 2*MostWeight; root *= 2 {
			most.Sqrt(most)
		}
		r[i] = most.Uint64()
	}
	return r
}

// Weight returns the weight of a feature of so many documents.
func (r *Rarities) Weight(df uint64) uint8 {
	w := uint8(1)
	for _, most := range r {
		if df > most {
			break
		}
		w++
	}
	return w
}

// What more documents than rareLeast, and more than one in rareShare, have is common.
const (
	rareLeast  = 32
	rareShare  = 100
	commonKept = 32
)

// RareMost returns how many documents, of a number of them, have a rare feature at most.
func RareMost(documents uint64) uint64 { return max(rareLeast, documents/rareShare) }

// RarestMost is how many documents have a rare feature at most where templates are those of few documents each.
const RarestMost = 8

// RareWeight returns the weight of a feature of df documents where only rare ones count, of up to so many: they weigh 1,
// and common ones nothing, but for one in commonKept, by its hash: a text in which nothing is rare is still like its copies.
func RareWeight(feature, df, most uint64) uint8 {
	if df > most && hashing.Mix(feature)%commonKept != 0 {
		return 0
	}
	return 1
}
