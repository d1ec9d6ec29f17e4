package linkage

import "iter"

// A Link is a pair of records that belong together, as far as the data tell.
type Link struct {
	A, B        []byte    // ids
	RowA, RowB  int       // numbers of the records, of those that could be read, from 0
	Similarity  float64   // cosine of the records' tokens by inverse document frequency
	Fields      []float64 // similarity of each column; −1 where either value is missing
	Probability float64   // that it is right, as far as the data tell
	WithA       [][]byte  // values of Config.With
	WithB       [][]byte
}

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
