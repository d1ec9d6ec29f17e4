// Package measure defines what "alike" means: the similarity of a pair of sets, and the
// threshold from which it counts.
//
// A [Measure] is a function of three counts only, the sizes of two sets and of their
// intersection, which a [Match] holds. A [Threshold] is a measure with an exact fraction,
// and decides about such counts; it also has the bounds that joins prune by. The package
// knows nothing of sets themselves: package simjoin counts, and package lsh finds
// candidates.
//
// Sizes are numbers of features, or sums of integer weights for weighted sets. The cosine
// of weighted sets uses other counts of the same kind: Σ of the products of weights for the
// intersection and Σ of their squares for sizes. For weights of 1 these are the plain
// counts, so [Cosine] is the measure of both. All decisions and bounds are computed in
// integers, so that a pair exactly on the threshold is judged the same way everywhere;
// floats are for display. The empty set is similar to nothing, not even to itself.
//
// # Which measure
//
// [Jaccard] for near-duplicates: it is the common share of both sets together, and, with
// WeightedJaccard, the only measure that sketches estimate directly. [Containment] for a
// passage that is copied into a long text: the Jaccard similarity of these two is always
// small. [Cosine] and [Dice] rank pairs of unequal sizes higher than Jaccard does; other
// programs often use them. [Overlap] for "at least so many in common".
//
// # What stays compatible
//
// The names of measures and the lines of Threshold.String.
//
// Sources: P. Jaccard, "The distribution of the flora in the alpine zone", New
// Phytologist 1912; L. R. Dice, "Measures of the amount of ecologic association between
// species", Ecology 1945; A. Z. Broder, "On the resemblance and containment of
// documents", SEQUENCES 1997; the bounds are those of C. Xiao, W. Wang, X. Lin, J. X. Yu,
// G. Wang, "Efficient similarity joins for near-duplicate detection", ACM TODS 36, 2011.
package measure

import (
	"fmt"
	"strings"
)

// Measure is a measure of similarity, a value that compares with ==. The zero value is Jaccard.
//
// It is a kind, with its numbers in the lower bits. Nothing else in this package tells one measure from another.
// The numbers of Tversky's ratio are kept XOR 1.
type Measure uint32

const (
	leftAt  = 8 // bits 0 to 7: whole
	rightAt = 16
	kindAt  = 28

	larger   Measure = 1 << 24 // of both directions, the larger
	weighted Measure = 1 << 25 // the sets have weights
)

// The measures of sets A and B. All except Overlap have values from 0 to 1.
const (
	Jaccard         = Measure(0)                   // |A∩B| / |A∪B|
	Containment     = Measure(0^1) << rightAt      // |A∩B| / |A|, directed: how much of A is in B
	MaxContainment  = Containment | larger         // |A∩B| / min(|A|, |B|), the larger of both directions
	Cosine          = Measure(ofCosine) << kindAt  // |A∩B| / √(|A|·|B|)
	Dice            = Measure(2 ^ 1)               // 2·|A∩B| / (|A|+|B|)
	Overlap         = Measure(ofOverlap) << kindAt // |A∩B| itself
	WeightedJaccard = Jaccard | weighted           // Σ min / Σ max of the weights: Jaccard of weighted sets
)

// named are the measures with the names that they have on the command line.
var named = [...]struct {
	name    string
	measure Measure
}{
	{"jaccard", Jaccard}, {"containment", Containment}, {"max-containment", MaxContainment}, {"cosine", Cosine},
	{"dice", Dice}, {"overlap", Overlap}, {"weighted-jaccard", WeightedJaccard},
}

// All returns every measure that has a name, in the order of their declaration.
func All() []Measure {
	all := make([]Measure, len(named))
	for i, n := range named {
		all[i] = n.measure
	}
	return all
}

// Parse returns the measure of that name; the error lists the names.
func Parse(name string) (Measure, error) {
	var names []string
	for _, n := range named {
		if n.name == name {
			return n.measure, nil
		}
		names = append(names, n.name)
	}
	return 0, fmt.Errorf("unknown measure %q: want one of %s", name, strings.Join(names, ", "))
}

// MarshalText returns the name.
func (m Measure) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is Parse.
func (m *Measure) UnmarshalText(name []byte) (err error) {
	*m, err = Parse(string(name))
	return err
}

// String returns the name; Parse reads it back.
func (m Measure) String() string {
	for _, n := range named {
		if n.measure == m {
			return n.name
		}
	}
	return fmt.Sprintf("measure(%d)", uint32(m))
}

// Symmetric reports whether A is as similar to B as B is to A.
func (m Measure) Symmetric() bool { return m.kind().symmetric(m) }

// IsCount reports whether values are whole numbers from 1 on, as those of Overlap, and not shares.
func (m Measure) IsCount() bool { return m.kind().isCount() }

// IsWeighted reports whether the measure is one of sets whose elements count with weights only, as WeightedJaccard.
func (m Measure) IsWeighted() bool { return m&weighted != 0 }

// ByParts reports whether the measure says how much of one set is in another, whatever else is in that: both
// containments.
func (m Measure) ByParts() bool { return m.kind().byParts(m) }

// Similarity returns the measure of sets of sizeA and sizeB that have inter in common, for
// display. It is 0 if inter is 0, and at most 1 except for Overlap.
func (m Measure) Similarity(inter, sizeA, sizeB uint64) float64 {
	if inter == 0 {
		return 0
	}
	return m.kind().similarity(m, inter, sizeA, sizeB)
}

// ScoreOne is the Score of a similarity of 1.
const ScoreOne = 1 << 62

// Score returns the similarity as a whole number, for ordering pairs: in units of
// 1/ScoreOne and rounded down; for Cosine its square, and for Overlap the overlap itself.
// It is exact for sizes up to 2⁶² and an inter that is possible with them.
func (m Measure) Score(inter, sizeA, sizeB uint64) uint64 {
	if inter == 0 {
		return 0
	}
	return m.kind().score(m, inter, sizeA, sizeB)
}

// Match is a pair of sets with the counts from which every measure follows. A and B are
// positions of sets; if a measure is directed, A is the set that is inside B.
type Match struct {
	A, B         uint64
	Intersection uint64 // features in common, or the sum of the smaller weights
	SizeA, SizeB uint64 // features, or sums of weights
}

// Similarity returns the measure of the pair, for display.
func (p Match) Similarity(m Measure) float64 { return m.Similarity(p.Intersection, p.SizeA, p.SizeB) }
