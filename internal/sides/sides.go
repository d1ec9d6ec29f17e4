// Package sides says which documents of a run may be paired with each other.
//
// Every document is on the left, on the right or on both sides; a pair has one document of each
// side:
//
//	              left            right           so that
//	Self          all             all             all documents are compared with each other
//	Against       all             the inputs      references are not compared with each other
//	Between       one collection  the other one   only pairs across collections are found
//
// Documents are numbered by side: references before inputs, one collection before the other. A
// class of equal documents is represented by its first member. Under Between a class may have
// members in both collections, and its representative is then on both sides. Under Against the
// class of a reference stays on the left, whatever its members: a document equal to a reference
// needs no other partner.
package sides

import (
	"math"

	"github.com/alike-dev/alike/internal/bitset"
)

// Policy says which documents may be compared. The zero Policy is Self.
type Policy struct {
	first uint32             // number of references, or of documents of the left collection
	apart bool               // left and right are two collections
	both  bitset.Set[uint32] // under Between, the documents of the left whose classes have members on the right
}

// Self lets all documents be compared with each other.
func Self() Policy { return Policy{} }

// Against lets inputs be compared with each other and with references, which are the documents with
// numbers below references.
func Against(references int) Policy { return Policy{first: uint32(references)} }

// Between lets documents with numbers below left be compared with the others. both has
// every representative of the left whose class has members on the right. The Policy keeps it.
func Between(left int, both bitset.Set[uint32]) Policy {
	return Policy{first: uint32(left), apart: true, both: both}
}

// Apart tells whether left and right are two collections.
func (p *Policy) Apart() bool { return p.apart }

// References returns how many documents are references, which come first.
func (p *Policy) References() uint32 {
	if p.apart {
		return 0
	}
	return p.first
}

func (p *Policy) Reference(doc uint32) bool { return doc < p.References() }

// Left tells whether the class of a representative is on the left.
func (p *Policy) Left(rep uint32) bool { return !p.apart || rep < p.first }

// Right tells whether the class of a representative is on the right.
func (p *Policy) Right(rep uint32) bool { return rep >= p.first || p.Both(rep) }

// Both tells whether a class has members in both of two collections.
func (p *Policy) Both(rep uint32) bool {
	return rep < p.first && p.both.Has(rep)
}

// Across returns on which sides of two collections the class of a representative is; in one
// collection, with references or without, every class is on both.
func (p *Policy) Across(rep uint32) (left, right bool) {
	return p.Left(rep), !p.apart || p.Right(rep)
}

// Present records on which of two sides there are classes; see Across.
type Present struct{ left, right bool }

// Add adds the class of a representative.
func (s *Present) Add(policy *Policy, rep uint32) {
	left, right := policy.Across(rep)
	s.left, s.right = s.left || left, s.right || right
}

// Meet tells whether there are classes on both sides.
func (s *Present) Meet() bool { return s.left && s.right }

// Crosses tells whether the class of a representative a on the left may be compared with that of
// another one b on the right. A measure with a direction compares a with b then.
func (p *Policy) Crosses(a, b uint32) bool { return p.Left(a) && p.Right(b) }

// Meet tells whether the classes of two representatives may be compared.
func (p *Policy) Meet(a, b uint32) bool {
	if !p.apart {
		return max(a, b) >= p.first
	}
	return p.across(a, b)
}

// across is Meet for two collections, a function of its own so that Meet is inlined.
func (p *Policy) across(a, b uint32) bool { return p.Crosses(a, b) || p.Crosses(b, a) }

// A Range is the documents from From up to but not including To.
type Range struct{ From, To uint64 }

func (r Range) Has(doc uint32) bool { return uint64(doc) >= r.From && uint64(doc) < r.To }

// After returns the part of a range behind a document.
func (r Range) After(doc uint32) Range { return Range{max(r.From, uint64(doc)+1), r.To} }

// Partners returns the documents that a document may be compared with, and perhaps the document
// itself.
func (p *Policy) Partners(doc uint32) Range {
	return p.facing(!p.apart || doc < p.first, doc >= p.first)
}

// PartnersOfClass returns the documents with which any member of the class of a representative may
// be compared.
func (p *Policy) PartnersOfClass(rep uint32) Range { return p.facing(p.Left(rep), p.Right(rep)) }

// facing returns the documents that face one side or both.
func (p *Policy) facing(left, right bool) Range {
	r := Range{0, math.MaxUint32}
	if !right {
		r.From = uint64(p.first)
	}
	if p.apart && !left {
		r.To = uint64(p.first)
	}
	return r
}

// Overlaps tells whether two ranges have a document in common.
func (r Range) Overlaps(o Range) bool { return max(r.From, o.From) < min(r.To, o.To) }

// Side returns the number of a document's collection: 0 or, for the right one of two, 1.
func (p *Policy) Side(doc uint32) int {
	if p.apart && doc >= p.first {
		return 1
	}
	return 0
}

// Of returns the documents of a collection, given by its number.
func (p *Policy) Of(side int) Range {
	switch {
	case !p.apart && side == 0:
		return Range{0, math.MaxUint32}
	case side == 0:
		return Range{0, uint64(p.first)}
	case p.apart:
		return Range{uint64(p.first), math.MaxUint32}
	}
	return Range{}
}

// Pairs returns how many pairs of classes may be compared: left and right are the numbers of
// classes on each side, both is how many of these are on both.
func Pairs[N int | float64](left, right, both N) N { return left*right - both*(both+1)/2 }

// Features counts the features of the documents on each side. In one collection all documents are
// on both.
type Features struct{ Left, Right int64 }

func (f *Features) Add(policy *Policy, rep uint32, features int64) {
	left, right := policy.Across(rep)
	if left {
		f.Left += features
	}
	if right {
		f.Right += features
	}
}
