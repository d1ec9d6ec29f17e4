package linkage

import (
	"cmp"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/record"
)

// A sampledColumns is the samples of two tables, or twice that of one, in which columns correspond.
type sampledColumns struct {
	left, right [][][]byte
	one         bool     // both are the same table
	pairs       [][2]int // places of corresponding columns
}

const (
	// mostTies bounds the ties of all columns, of 12 bytes each.
	mostTies = 1 << 21
	// mostOfRow is how many ties a column has at most for each record of the larger sample.
	mostOfRow = 4
	// mostTogether is of how many columns that tie a pair it is known how often they coincide: copies of records share all.
	mostTogether = 16
	// mostLikely is how many pairs of records stand for those that belong together.
	mostLikely = 500
	// leastLikely is how many there must be at least, with values, for a judgement about a column.
	leastLikely = 20
	// beyond is by how many standard deviations a count must exceed what chance makes.
	beyond = 5
)

// A tie is a word that two records have in a column.
type tie struct {
	pair   pair
	column uint32 // index of sampledColumns.pairs
}

// information returns how much each pair of columns tells about which records belong together, in nats; 0 for one that
// agrees by chance only, such as numbers drawn at random, whatever it holds; less than 0 for one with too few values to
// tell. ok is false if the samples show nothing: they have hardly any record in common.
//
//	ties:   pairs of records that share a rare word in a column
//	likely: pairs that are tied by columns whose ties coincide more often than chance explains
//	tells:  how much more often a column agrees in likely pairs than in the same records paired at random
//
// Noise coincides with nothing, so it makes no pair likely, and agrees in likely pairs as often as in any. tied has the
// number of ties of each column: without any, its values never agree. O(values of the samples), and it is asked for
// only where there are more columns than can be compared.
func (s *sampledColumns) information() (tells []float64, tied []int, ok bool) {
	ties, tied := s.ties()
	likely := s.likely(ties, tied)
	if len(likely) < leastLikely {
		return nil, tied, false
	}
	var strangers []pair
	for shift := 1; shift <= 3; shift++ {
		for i, p := range likely {
			if q := (pair{p.a, likely[(i+shift)%len(likely)].b}); !s.one || q.a != q.b {
				strangers = append(strangers, q)
			}
		}
	}
	tells = make([]float64, len(s.pairs))
	telling := 0
	for k := range tells {
		of := s.agreement(k, likely)
		if tells[k] = evidenceOf(of, s.agreement(k, strangers)); tells[k] > 0 {
			telling++
		} else if of.there < leastLikely {
			tells[k] = -1
		}
	}
	return tells, tied, telling > 1 // else the pairs were likely by accident
}

// ties returns the ties of all columns, and their number by column. Of each column it takes those of its rarest words.
func (s *sampledColumns) ties() (ties []tie, tied []int) {
	tied = make([]int, len(s.pairs))
	most := min(mostOfRow*max(len(s.left), len(s.right)), mostTies/len(s.pairs))
	cutter := record.NewCutter()
	for k, columns := range s.pairs {
		left, right := rowsByWord(cutter, s.left, columns[0]), rowsByWord(cutter, s.right, columns[1])
		number := func(word uint64) int { return len(left[word]) * len(right[word]) }
		var words []uint64
		for word := range left {
			if n := number(word); n > 0 && n <= most {
				words = append(words, word)
			}
		}
		slices.SortFunc(words, func(x, y uint64) int { return cmp.Or(cmp.Compare(number(x), number(y)), cmp.Compare(x, y)) })
		var own []tie
		for _, word := range words {
			if len(own)+number(word) > most {
				break
			}
			for _, a := range left[word] {
				for _, b := range right[word] {
					if !s.one || a < b {
						own = append(own, tie{pair{a, b}, uint32(k)})
					}
				}
			}
		}
		slices.SortFunc(own, compareTies)
		own = slices.Compact(own)
		ties, tied[k] = append(ties, own...), len(own)
	}
	slices.SortFunc(ties, compareTies)
	return ties, tied
}

func compareTies(x, y tie) int {
	return cmp.Or(cmp.Compare(x.pair.a, y.pair.a), cmp.Compare(x.pair.b, y.pair.b), cmp.Compare(x.column, y.column))
}

// rowsByWord returns the rows that have each word in a column, ascending.
func rowsByWord(cutter *record.Cutter, rows [][][]byte, column int) map[uint64][]uint32 {
	of := map[uint64][]uint32{}
	var words []uint64
	for i, row := range rows {
		words, _ = cutter.Cut(words[:0], row[column], record.Words)
		slices.Sort(words)
		for _, w := range slices.Compact(words) {
			of[w] = append(of[w], uint32(i))
		}
	}
	return of
}

// likely returns the pairs that are tied by most columns whose ties coincide more often than chance explains.
func (s *sampledColumns) likely(ties []tie, tied []int) []pair {
	joint := map[[2]uint32]float64{} // number of pairs that both columns tie
	groups := func(visit func(p pair, columns []tie)) {
		for i := 0; i < len(ties); {
			end := i + 1
			for end < len(ties) && ties[end].pair == ties[i].pair {
				end++
			}
			visit(ties[i].pair, ties[i:end])
			i = end
		}
	}
	eachTwo := func(columns []tie, visit func(two [2]uint32)) {
		columns = columns[:min(len(columns), mostTogether)]
		for i, x := range columns {
			for _, y := range columns[i+1:] {
				visit([2]uint32{x.column, y.column})
			}
		}
	}
	groups(func(_ pair, columns []tie) { eachTwo(columns, func(two [2]uint32) { joint[two]++ }) })
	all := float64(len(s.left)) * float64(len(s.right))
	if s.one {
		all = all / 2
	}
	related := map[[2]uint32]bool{}
	for two, n := range joint {
		by := float64(tied[two[0]]) * float64(tied[two[1]]) / all
		related[two] = n > by+beyond*math.Sqrt(by+1)
	}
	type candidate struct {
		pair
		relations int
	}
	var found []candidate
	groups(func(p pair, columns []tie) {
		c := candidate{pair: p}
		eachTwo(columns, func(two [2]uint32) {
			if related[two] {
				c.relations++
			}
		})
		if c.relations > 0 {
			found = append(found, c)
		}
	})
	place := func(p pair) uint64 { return hashing.Mix(uint64(p.a)<<32 | uint64(p.b)) }
	slices.SortFunc(found, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.relations, x.relations), cmp.Compare(place(x.pair), place(y.pair)))
	})
	likely := make([]pair, min(len(found), mostLikely))
	for i := range likely {
		likely[i] = found[i].pair
	}
	return likely
}

// agreeing counts pairs of records: those with a value on both sides, and those whose values agree.
type agreeing struct{ pairs, there, agree float64 }

// agreement counts the pairs that agree in the pair k of columns: at least half of the tokens of the longer value are in the other.
func (s *sampledColumns) agreement(k int, pairs []pair) agreeing {
	c := agreeing{pairs: float64(len(pairs))}
	cutter := record.NewCutter()
	var x, y []uint64
	tokens := func(dst []uint64, value []byte) []uint64 {
		dst, _ = cutter.Cut(dst[:0], value, record.Text)
		slices.Sort(dst)
		return slices.Compact(dst)
	}
	for _, p := range pairs {
		x = tokens(x, s.left[p.a][s.pairs[k][0]])
		y = tokens(y, s.right[p.b][s.pairs[k][1]])
		if len(x) == 0 || len(y) == 0 {
			continue
		}
		c.there++
		common := 0
		for _, token := range x {
			if _, ok := slices.BinarySearch(y, token); ok {
				common++
			}
		}
		if 2*common >= max(len(x), len(y)) {
			c.agree++
		}
	}
	return c
}

// evidenceOf returns the mean evidence that a column's agreement gives for a likely pair: the divergence of both rates
// of agreement, times the share of the pairs that have values. It is 0 if likely pairs agree no more often than others,
// as far as their number tells.
func evidenceOf(likely, strangers agreeing) float64 {
	chance := (strangers.agree + 0.5) / (strangers.there + 1)
	if likely.agree <= likely.there*chance+beyond*math.Sqrt(likely.there*chance*(1-chance)+1) {
		return 0
	}
	rate := (likely.agree + 0.5) / (likely.there + 1)
	return likely.there / likely.pairs * (rate*math.Log(rate/chance) + (1-rate)*math.Log((1-rate)/(1-chance)))
}
