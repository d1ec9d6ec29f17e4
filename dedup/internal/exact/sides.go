package exact

import (
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/sides"
)

// side is one of two collections; if there is only one, all documents are on oneSide.
type side int

const (
	oneSide side = iota
	leftSide
	rightSide
)

func (s side) has(policy *sides.Policy, rep uint32) bool {
	switch s {
	case leftSide:
		return policy.Left(rep)
	case rightSide:
		return policy.Right(rep)
	}
	return true
}

func (s side) other() side {
	switch s {
	case leftSide:
		return rightSide
	case rightSide:
		return leftSide
	}
	return oneSide
}

// smallerSide returns the side on which the given representatives have fewer features.
func smallerSide(t *doctable.Table, policy *sides.Policy, docs bitset.Set[uint32]) (side, error) {
	if !policy.Apart() {
		return oneSide, nil
	}
	var sum sides.Features
	c := t.Scanner()
	for doc := range uint32(t.Docs) {
		if docs.Has(doc) {
			sum.Add(policy, doc, int64(c.Doc(doc).Features))
		}
	}
	if sum.Left < sum.Right {
		return leftSide, c.Err
	}
	return rightSide, c.Err
}

// metBefore tells whether a pair is found a second time: two classes that are on both sides are
// both indexed and searched. A class is not compared with itself here.
func (j *joiner) metBefore(searched, indexed uint32) bool {
	return j.index != oneSide && searched <= indexed && j.Edges.Sides.Both(searched) && j.Edges.Sides.Both(indexed)
}
