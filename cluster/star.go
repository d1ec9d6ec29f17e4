package cluster

import "slices"

// Star clusters greedily: it keeps the document that is preferred to all others and
// removes its neighbours, then does the same with the rest. Every removed document is
// thus similar to the kept document itself, unlike in a chain of Components.
//
// It returns the kept document of each of n documents, its own number if it is kept.
// Documents below refs are references: preferred to all others and always kept, whatever
// edges lie between them. Among the rest, prefer says which of two documents is better
// (see Keep.Order); it must be a strict weak order, and the lower number wins a tie. The
// result does not depend on the order of the edges; repeated edges and loops do no harm.
//
// O(n + e + d log d) for e edges between d documents; 8 bytes of memory an edge and 20 a
// document.
func Star(n, refs int, edges []Edge, prefer func(a, b uint32) bool) []uint32 {
	neighbours, start := adjacency(n, edges)
	var order []uint32 // documents with neighbours, the best first
	for d := range n {
		if start[d+1] > start[d] {
			order = append(order, uint32(d))
		}
	}
	better := withReferences(refs, prefer)
	slices.SortFunc(order, func(a, b uint32) int {
		switch {
		case a == b:
			return 0
		case better(a, b):
			return -1
		}
		return 1
	})
	kept := make([]uint32, n)
	for d := range kept {
		kept[d] = uint32(d)
	}
	assigned := make([]bool, n)
	for _, d := range order {
		if assigned[d] {
			continue
		}
		assigned[d] = true
		for _, e := range neighbours[start[d]:start[d+1]] {
			if !assigned[e] && int(e) >= refs {
				assigned[e], kept[e] = true, d
			}
		}
	}
	return kept
}

// adjacency lists the neighbours of document d at start[d] … start[d+1].
func adjacency(n int, edges []Edge) (neighbours []uint32, start []int) {
	start = make([]int, n+1)
	for _, e := range edges {
		start[e.A]++
		start[e.B]++
	}
	total := 0
	for d := range start {
		total += start[d]
		start[d] = total
	}
	neighbours = make([]uint32, total)
	// Filling each list from its end leaves start at its beginning.
	for _, e := range edges {
		start[e.A]--
		neighbours[start[e.A]] = e.B
		start[e.B]--
		neighbours[start[e.B]] = e.A
	}
	return neighbours, start
}

// Kept returns the kept document of each document for clusters given as labels, such as
// those of Components: the one that is preferred to all others of its cluster. References
// (documents below refs) are kept, each for itself; the other documents of a cluster that
// holds references are replaced by its first reference. prefer is as for Star. O(n).
func Kept(labels []uint32, refs int, prefer func(a, b uint32) bool) []uint32 {
	better := withReferences(refs, prefer)
	best := make([]uint32, len(labels))
	for d := range best {
		best[d] = uint32(d)
	}
	for d, label := range labels {
		if better(uint32(d), best[label]) {
			best[label] = uint32(d)
		}
	}
	kept := make([]uint32, len(labels))
	for d, label := range labels {
		if d < refs {
			kept[d] = uint32(d)
		} else {
			kept[d] = best[label]
		}
	}
	return kept
}

// withReferences puts references before everything else, in their own order,
// and breaks ties by number, which makes prefer a total order.
func withReferences(refs int, prefer func(a, b uint32) bool) func(a, b uint32) bool {
	return func(a, b uint32) bool {
		switch {
		case int(a) < refs || int(b) < refs:
			return a < b
		case prefer(a, b):
			return true
		case prefer(b, a):
			return false
		}
		return a < b
	}
}
