package decide

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/linkage/internal/compare"
)

// A transitivity says how far the links of one table agree with each other. All records of one entity belong
// together, so if a~b and b~c are links and a~c is not, one of the three decisions is wrong.
type transitivity struct {
	connected float64 // pairs of records that links connect, directly or not: as many matches there are, if all links are right
	kept      []int   // of the links, some that agree with each other: the others may all be wrong
}

// transitivityOf returns the transitivity of links. It takes records in turn, and makes an entity of each and those of
// its neighbours that are still free. The links within entities agree. It begins with the records that have the fewest
// links, which keeps far fewer links than possible, so the result is a lower bound. (Except for the order it is the
// pivot algorithm: N. Ailon, M. Charikar, A. Newman, "Aggregating inconsistent information: ranking and clustering",
// JACM 2008.) O(links · log links).
func transitivityOf(records int, pairs []compare.Pair, links []int) (t transitivity) {
	sets := cluster.New(records)
	degree := make([]uint32, records+1)
	for _, i := range links {
		p := pairs[i]
		sets.Union(p.A, p.B)
		degree[p.A]++
		degree[p.B]++
	}
	size := map[uint32]float64{}
	var order []uint32
	for r := range uint32(records) {
		if degree[r] > 0 {
			size[sets.Find(r)]++
			order = append(order, r)
		}
	}
	for _, r := range order {
		if n := size[r]; n > 0 && sets.Find(r) == r {
			t.connected += n * (n - 1) / 2
		}
	}
	slices.SortStableFunc(order, func(x, y uint32) int { return cmp.Compare(degree[x], degree[y]) })
	// The neighbours of record r are at[from[r]:from[r+1]].
	from := make([]uint32, records+1)
	for r, d := range degree[:records] {
		from[r+1] = from[r] + d
	}
	at, next := make([]uint32, 2*len(links)), slices.Clone(from)
	for _, i := range links {
		p := pairs[i]
		at[next[p.A]], at[next[p.B]] = p.B, p.A
		next[p.A]++
		next[p.B]++
	}
	const free = ^uint32(0)
	thing := slices.Repeat([]uint32{free}, records)
	for _, r := range order {
		if thing[r] != free {
			continue
		}
		thing[r] = r
		for _, n := range at[from[r]:from[r+1]] {
			if thing[n] == free {
				thing[n] = r
			}
		}
	}
	for _, i := range links {
		if thing[pairs[i].A] == thing[pairs[i].B] {
			t.kept = append(t.kept, i)
		}
	}
	return t
}
