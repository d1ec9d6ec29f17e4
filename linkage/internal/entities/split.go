package entities

import (
	"slices"

	"github.com/alike-dev/alike/cluster"
)

// A group is records that may share clusters, and the pairs among them. Between records of different groups there is
// no pair above Least, so no mean is.
type group struct {
	records         []uint32 // ascending
	pairs           []uint32 // indices into Graph.Pairs
	same, different [][2]uint32
}

// groups are all groups, and the number of each record within its group.
type groups struct {
	list  []group
	place []uint32
}

// split divides the records into groups; those that are alone are in none. O(records + pairs).
func split(g *Graph) *groups {
	sets := cluster.New(g.Records)
	for _, p := range g.Pairs {
		if p.Evidence > Least {
			sets.Union(p.A, p.B)
		}
	}
	for _, p := range g.Same {
		sets.Union(p[0], p[1])
	}
	of := sets.AppendLabels(nil) // the first record of the group
	size := make([]uint32, g.Records)
	for _, first := range of {
		size[first]++
	}
	all := &groups{place: make([]uint32, g.Records)}
	number := make([]int32, g.Records) // 1 + that of the group of a first record
	for i, first := range of {
		if size[first] < 2 {
			continue
		}
		if number[first] == 0 {
			all.list = append(all.list, group{records: make([]uint32, 0, size[first])})
			number[first] = int32(len(all.list))
		}
		group := &all.list[number[first]-1]
		all.place[i] = uint32(len(group.records))
		group.records = append(group.records, uint32(i))
	}
	within := func(a, b uint32) *group { // nil: none has both
		if of[a] != of[b] || number[of[a]] == 0 {
			return nil
		}
		return &all.list[number[of[a]]-1]
	}
	for i, p := range g.Pairs {
		if group := within(p.A, p.B); group != nil {
			group.pairs = append(group.pairs, uint32(i))
		}
	}
	for _, p := range g.Same {
		group := within(p[0], p[1])
		group.same = append(group.same, ordered(p))
	}
	for _, p := range g.Different {
		if group := within(p[0], p[1]); group != nil {
			group.different = append(group.different, ordered(p))
		}
	}
	for i := range all.list {
		slices.SortFunc(all.list[i].same, comparePairs)
	}
	return all
}

func ordered(p [2]uint32) [2]uint32 { return [2]uint32{min(p[0], p[1]), max(p[0], p[1])} }

func comparePairs(x, y [2]uint32) int { return slices.Compare(x[:], y[:]) }
