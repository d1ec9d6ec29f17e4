package cluster

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/internal/sorting"
)

// A Link is an edge with the similarity of its documents.
type Link struct {
	Edge
	Similarity float64
}

// A Group is two documents or more that links connect.
type Group struct {
	Members []uint32 // ascending
	Inner   float64  // mean similarity of its links
	Weakest Link     // without it and all that are not stronger the group falls apart
}

// Groups returns what links connect among n documents, the largest group first, then by first member. Its order does not
// depend on that of the links, nor does anything else. O(n + m log m) for m links.
func Groups(n int, links []Link) []Group {
	links = slices.Clone(links)
	sorting.Func(links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	u, joins := New(n), make([]Link, 0, n)
	for _, l := range links {
		if u.Union(l.A, l.B) {
			joins = append(joins, l)
		}
	}
	labels := u.AppendLabels(make([]uint32, 0, n))
	all := make([]Group, n)
	for d, label := range labels {
		all[label].Members = append(all[label].Members, uint32(d))
	}
	counts := make([]int, n)
	for _, l := range links {
		all[labels[l.A]].Inner += l.Similarity
		counts[labels[l.A]]++
	}
	for _, l := range joins { // the weakest one comes last
		all[labels[l.A]].Weakest = l
	}
	for i := range all {
		all[i].Inner /= float64(max(1, counts[i]))
	}
	all = slices.DeleteFunc(all, func(g Group) bool { return len(g.Members) < 2 })
	sorting.Stable(all, func(a, b Group) int { return cmp.Compare(len(b.Members), len(a.Members)) })
	return all
}
