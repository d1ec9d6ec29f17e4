package linkage

import "iter"

// Links are the links that a join has found, sorted by left, then right record, in input order.
// A link of a join is made of its tables when it is asked for: tables of ten million records
// have millions of links. The zero value has none. They are for one goroutine at a time.
type Links struct {
	count int
	at    func(i int) Link
}

// LinksOf returns links that there are already.
func LinksOf(list ...Link) Links {
	return Links{len(list), func(i int) Link { return list[i] }}
}

// Len returns how many there are.
func (l *Links) Len() int { return l.count }

// At returns link i. O(tokens of both records).
func (l *Links) At(i int) Link { return l.at(i) }

// All ranges over the links.
func (l *Links) All() iter.Seq[Link] {
	return func(yield func(Link) bool) {
		for i := range l.count {
			if !yield(l.at(i)) {
				return
			}
		}
	}
}

// links returns some candidates as links.
func (t *tables) links(e *examiner, edges []int) Links {
	pairs, probability := make([]pair, len(edges)), make([]float64, len(edges))
	for i, edge := range edges {
		pairs[i], probability[i] = e.found.pairs[edge], e.probability[edge]
	}
	compare, matcher, other, with := e.comparer, e.matchers[0], t.other(), len(e.config.With)
	return Links{len(edges), func(i int) Link {
		p := pairs[i]
		link := Link{
			A: t.left.ID(int(p.a)), B: other.ID(int(p.b)), RowA: int(p.a), RowB: int(p.b),
			Similarity: matcher.similarity(p), Probability: probability[i],
		}
		compare.eachColumn(p, func(_ int, s float64, _, _ uint32) { link.Fields = append(link.Fields, s) })
		for w := range with {
			link.WithA = append(link.WithA, t.left.Kept(int(p.a), w, len(t.kept)))
			link.WithB = append(link.WithB, other.Kept(int(p.b), w, len(t.kept)))
		}
		return link
	}}
}
