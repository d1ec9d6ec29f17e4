package advise

import (
	"cmp"
	"slices"
)

// A third text tells of a doubtful pair what the two cannot tell alone, as where both ran into the same neighbour:
//
//	a ≈ c ≈ b        c is surely a copy of both: so are they of each other
//	a ≈ c,  c  b     c is surely a copy of a and has next to nothing of b: what a has of b is a passage of its own
//
// Where both are so, they rather are no copies.
const (
	apart     = 0.3 // cover below which a third text has next to nothing of another one
	asideMost = 16  // third texts that are asked, of each of a pair
)

// triangles lowers and raises the cover of doubtful pairs by what third texts tell. It raises none that was lowered.
// Pairs are ascending.
func triangles(pairs []pair) {
	sure := map[uint32][]uint32{}
	for _, p := range pairs {
		if p.cover >= surely {
			sure[p.a], sure[p.b] = append(sure[p.a], p.b), append(sure[p.b], p.a)
		}
	}
	covers := make([]float64, len(pairs))
	for i, p := range pairs {
		covers[i] = p.cover
		if p.cover < apart || p.cover >= surely {
			continue
		}
		between, aside := false, false
		for _, of := range [][2]uint32{{p.a, p.b}, {p.b, p.a}} {
			third := sure[of[0]]
			for _, c := range third[:min(len(third), asideMost)] {
				cover := coverBetween(pairs, c, of[1])
				between, aside = between || cover >= surely, aside || cover < apart
			}
		}
		switch {
		case aside:
			covers[i] = min(p.cover, noCopy)
		case between && !p.template:
			covers[i] += (allCopy - p.cover) * 2 / 3
		}
	}
	for i, cover := range covers {
		pairs[i].cover = cover
	}
}

// coverBetween returns the cover of two documents, 0 if they are no pair.
func coverBetween(pairs []pair, x, y uint32) float64 {
	i, is := find(pairs, min(x, y), max(x, y))
	if !is {
		return 0
	}
	return pairs[i].cover
}

// find finds two documents among ascending pairs.
func find(pairs []pair, a, b uint32) (i int, is bool) {
	return slices.BinarySearchFunc(pairs, pair{a: a, b: b}, byDocuments)
}

func byDocuments(p, q pair) int { return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b)) }
