package linkage

import (
	"math"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/linkage/internal/held"
	"github.com/alike-dev/alike/record"
)

// known is Config.Known by numbers of records.
type known struct {
	pairs  map[compare.Pair]bool
	degree [2]map[uint32]int // known links of each record, left and right; one map for one table
	absent int               // number of links with a record that is not there
}

// findKnown finds the records of known links. If several records have an id, it means all of them.
func findKnown(t *held.Tables, links []Known) *known {
	k := &known{pairs: map[compare.Pair]bool{}}
	left := byID(t.Left, links, func(l Known) []string { return sides(t, l.A, l.B) })
	right := left
	k.degree[0] = map[uint32]int{}
	if k.degree[1] = k.degree[0]; t.Right != nil {
		right = byID(t.Right, links, func(l Known) []string { return []string{l.B} })
		k.degree[1] = map[uint32]int{}
	}
	for _, l := range links {
		if len(left[l.A]) == 0 || len(right[l.B]) == 0 {
			k.absent++
		}
		// If only one of the two records is there, it still has a partner.
		for _, a := range left[l.A] {
			k.degree[0][a]++
		}
		for _, b := range right[l.B] {
			k.degree[1][b]++
		}
		for _, a := range left[l.A] {
			for _, b := range right[l.B] {
				if t.Right == nil && a > b {
					a, b = b, a
				}
				k.pairs[compare.Pair{A: a, B: b}] = true
			}
		}
	}
	return k
}

// sides returns the ids of a link that name left records.
func sides(t *held.Tables, a, b string) []string {
	if t.Right == nil {
		return []string{a, b}
	}
	return []string{a}
}

func byID(t *record.Table, links []Known, ids func(Known) []string) map[string][]uint32 {
	wanted := map[uint64]bool{}
	for _, l := range links {
		for _, id := range ids(l) {
			wanted[hashing.Bytes([]byte(id))] = true
		}
	}
	rows := map[string][]uint32{}
	for i := range t.Rows() {
		if id := t.ID(i); wanted[hashing.Bytes(id)] {
			rows[string(id)] = append(rows[string(id)], uint32(i))
		}
	}
	return rows
}

// free returns the candidates that may still become links: with Mutual and OneToOne those of two records without a
// partner, with Best those of a left record without a partner, with BestRight those of a right one, with All all except the known links.
func (k *known) free(c *compare.Comparison, rule Match) *compare.Comparison {
	rest := c.Without()
	for i, p := range c.Pairs {
		taken := k.pairs[p]
		switch rule {
		case Mutual, OneToOne:
			taken = k.degree[0][p.A] > 0 || k.degree[1][p.B] > 0
		case Best:
			taken = k.degree[0][p.A] > 0
		case BestRight:
			taken = k.degree[1][p.B] > 0
		}
		if !taken {
			rest.Take(c, i)
		}
	}
	return rest
}

// room returns the number of further links that a left record may have. top is the largest number of links; 0: no
// bound.
func (k *known) room(a uint32, top int) int {
	if top == 0 {
		return math.MaxInt
	}
	if k == nil {
		return top
	}
	return max(0, top-k.degree[0][a])
}
