package engine

import "github.com/alike-dev/alike/cluster"

// GroupOf returns the group of a representative whose component, or in stars whose centre, is of. The class
// of a reference is a group of its own, since every reference is kept; the other documents of its component
// are removed in favour of the first of them.
func GroupOf(rep, of uint64, reference bool) uint64 {
	if reference {
		return rep
	}
	return of
}

// Choice is the document that a group keeps: its reference, or otherwise the member that the keep rule
// prefers; in a star only the centre's own class is considered. The zero value has none yet.
type Choice struct {
	Star      bool
	Group     uint64 // a representative: the centre of a star, the smallest document of a component
	Reference bool   // whether Group is a reference; it comes first then
	chosen    bool
}

// Takes tells whether a member, represented by rep, replaces the one chosen so far. prefer tells whether the
// keep rule prefers it. Members come in ascending order.
func (c *Choice) Takes(rep uint64, prefer func() bool) bool {
	switch {
	case c.Star && rep != c.Group:
		return false
	case !c.chosen:
		c.chosen = true
		return true
	}
	return !c.Reference && prefer()
}

// Centre is what decides whether a representative becomes a centre of a star before another one.
type Centre struct {
	Size uint64 // of its set, if parts are removed
	Best uint32 // the member of its class that the keep rule prefers
}

// Before tells which of two becomes a centre first: the one with the larger set, so that no document is
// removed in favour of a part of it; then by the keep rule.
func (a Centre) Before(b Centre, prefer func(a, b uint32) bool) bool {
	if a.Size != b.Size {
		return a.Size > b.Size
	}
	return prefer(a.Best, b.Best)
}

// Stars returns the centre of each of some representatives, the first refs of which are references: see
// cluster.Star. Edges are between their numbers.
func Stars(centres []Centre, refs int, edges []cluster.Edge, prefer func(a, b uint32) bool) []uint32 {
	return cluster.Star(len(centres), refs, edges, func(a, b uint32) bool { return centres[a].Before(centres[b], prefer) })
}
