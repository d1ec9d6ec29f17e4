package linkage

import (
	"iter"

	"github.com/alike-dev/alike/measure"
)

// A Link is a pair of records that belong together, according to the data.
type Link struct {
	A, B        []byte    // ids
	RowA, RowB  int       // numbers of the records, from 0 on, counting only those that could be read
	Similarity  float64   // cosine of the records' tokens by inverse document frequency
	Fields      []float64 // similarity of each column; −1 where either value is missing
	Probability float64   // that the link is right, as estimated
	WithA       [][]byte  // values of Config.With
	WithB       [][]byte
}

// AppendRow appends the values of a link for a list: ids, similarities ("" where a value is missing), the probability
// if it is asked for, and the values that were passed through. Numbers have six decimals.
func (l *Link) AppendRow(dst []string, probability bool) []string {
	decimals := func(x float64) string { return string(measure.AppendSimilarity(nil, x)) }
	dst = append(dst, string(l.A), string(l.B), decimals(l.Similarity))
	for _, s := range l.Fields {
		if s < 0 {
			dst = append(dst, "")
		} else {
			dst = append(dst, decimals(s))
		}
	}
	if probability {
		dst = append(dst, decimals(l.Probability))
	}
	for i := range l.WithA {
		dst = append(dst, string(l.WithA[i]), string(l.WithB[i]))
	}
	return dst
}

// Links are the links that a join has found, sorted by left, then right record, in input order. A
// link of a join is made from its tables when it is read: tables of ten million records have
// millions of links. The zero value has none. One goroutine at a time may use them.
type Links struct {
	count int
	some  func(from, to int) []Link // links from … to−1
}

// Len returns the number of links.
func (l *Links) Len() int { return l.count }

// At returns link i. O(tokens of both records).
func (l *Links) At(i int) Link { return l.some(i, i+1)[0] }

// linksAtOnce is the number of links that All makes at a time, with all threads of the join.
const linksAtOnce = 1 << 12

// All ranges over the links.
func (l *Links) All() iter.Seq[Link] {
	return func(yield func(Link) bool) {
		for from := 0; from < l.count; from += linksAtOnce {
			for _, link := range l.some(from, min(from+linksAtOnce, l.count)) {
				if !yield(link) {
					return
				}
			}
		}
	}
}
