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
	"math"
	"slices"
	"strings"
)

// Measure is a measure of similarity. The zero value is Jaccard.
type Measure uint8

// The measures of sets A and B. All except Overlap have values from 0 to 1.
const (
	Jaccard         Measure = iota // |A∩B| / |A∪B|
	Containment                    // |A∩B| / |A|, directed: how much of A is in B
	MaxContainment                 // |A∩B| / min(|A|, |B|), the larger of both directions
	Cosine                         // |A∩B| / √(|A|·|B|)
	Dice                           // 2·|A∩B| / (|A|+|B|)
	Overlap                        // |A∩B| itself
	WeightedJaccard                // Σ min / Σ max of the weights: Jaccard of weighted sets
)

// names are the names on the command line, by measure.
var names = [...]string{"jaccard", "containment", "max-containment", "cosine", "dice", "overlap", "weighted-jaccard"}

// All returns every measure, in the order of their declaration.
func All() []Measure {
	all := make([]Measure, len(names))
	for i := range all {
		all[i] = Measure(i)
	}
	return all
}

// Parse returns the measure of that name; the error lists the names.
func Parse(name string) (Measure, error) {
	if i := slices.Index(names[:], name); i >= 0 {
		return Measure(i), nil
	}
	return 0, fmt.Errorf("unknown measure %q: want one of %s", name, strings.Join(names[:], ", "))
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
	if int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("measure(%d)", uint8(m))
}

// Symmetric reports whether A is as similar to B as B is to A.
func (m Measure) Symmetric() bool { return m != Containment }

// Similarity returns the measure of sets of sizeA and sizeB that have inter in common, for
// display. It is 0 if inter is 0, and at most 1 except for Overlap.
func (m Measure) Similarity(inter, sizeA, sizeB uint64) float64 {
	if inter == 0 {
		return 0
	}
	i, a, b := float64(inter), float64(sizeA), float64(sizeB)
	switch m {
	case Containment:
		return i / a
	case MaxContainment:
		return i / min(a, b)
	case Cosine:
		return i / math.Sqrt(a*b)
	case Dice:
		return 2 * i / (a + b)
	case Overlap:
		return i
	}
	return i / float64(sizeA+sizeB-inter)
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
	switch m {
	case Cosine:
		return squareShare(inter, sizeA, sizeB)
	case Containment:
		return scaled(inter, sizeA)
	case MaxContainment:
		return scaled(inter, min(sizeA, sizeB))
	case Dice:
		return scaled(2*inter, sizeA+sizeB)
	case Overlap:
		return inter
	}
	return scaled(inter, sizeA+sizeB-inter)
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
