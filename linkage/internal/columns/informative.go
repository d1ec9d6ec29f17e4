package columns

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/bitset"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage/internal/compare"
	"github.com/alike-dev/alike/record"
)

// A sampledColumns is the samples of two tables, or twice that of one, in which columns correspond.
type sampledColumns struct {
	left, right [][][]byte
	one         bool     // both are the same table
	pairs       [][2]int // places of corresponding columns
}

const (
	// mostTies is how many ties a column has at most; fewer if there are many columns, since ties times the square of
	// columns are mostTested at most.
	mostTies   = 20_000
	mostTested = 1 << 28
	// mostLikely is how many pairs of records stand for those that belong together.
	mostLikely = 500
	// leastLikely is how many there must be at least, with values, for a judgement about a column.
	leastLikely = 20
	// beyond is by how many standard deviations a count must exceed what chance makes.
	beyond = 5
)

// information returns how much each pair of columns tells about which records belong together, in nats; 0 for one that
// agrees by chance only, such as numbers drawn at random, whatever it holds; less than 0 for one with too few values to
// tell. ok is false if the samples show nothing: they have hardly any record in common.
//
//	ties:   pairs of records that share a rare word in a column
//	likely: ties that agree in most, of the columns in which ties of others agree more often than the same records
//	        do paired at random
//	tells:  how much more often a column agrees in likely pairs than in the same records paired at random
//
// Noise coincides with nothing, so it makes no pair likely, and agrees in likely pairs as often as in any. tied says
// which columns have ties: without any, their values never agree. O(values of the samples + columns² · ties), and it is
// asked for only where there are more columns than can be compared.
func (s *sampledColumns) information() (tells []float64, tied []bool, ok bool) {
	tied = make([]bool, len(s.pairs))
	cutter := record.NewCutter()
	columns := s.allWords(cutter)
	for k := range columns {
		tied[k] = len(columns[k].ties) > 0
	}
	likely := s.joint(s.related(columns)).surest(mostLikely, -1)
	if len(likely) < leastLikely {
		return nil, tied, false
	}
	var strangers []compare.Pair
	for shift := 1; shift <= 3; shift++ {
		strangers = append(strangers, s.apart(likely, shift)...)
	}
	tells = make([]float64, len(s.pairs))
	telling := 0
	for k := range tells {
		of := s.agreement(cutter, k, likely)
		if tells[k] = evidenceOf(of, s.agreement(cutter, k, strangers)); tells[k] > 0 {
			telling++
		} else if of.there < leastLikely {
			tells[k] = -1
		}
	}
	return tells, tied, telling > 1 // else the pairs were likely by accident
}

// apart returns the left records of pairs with the right ones of other pairs, so many places later.
func (s *sampledColumns) apart(pairs []compare.Pair, shift int) (others []compare.Pair) {
	for i, p := range pairs {
		if q := (compare.Pair{A: p.A, B: pairs[(i+shift)%len(pairs)].B}); !s.one || q.A != q.B {
			others = append(others, q)
		}
	}
	return others
}

// A wordColumn has, of the values of a column in both samples, the rarest word of each that both samples have; 0: none.
type wordColumn struct {
	left, right []uint32
	ties        []compare.Pair // of records that have the same such word, the rarest words first
}

// allWords returns the words of each pair of columns.
func (s *sampledColumns) allWords(cutter *record.Cutter) []wordColumn {
	columns := make([]wordColumn, len(s.pairs))
	for k := range columns {
		columns[k] = s.words(cutter, k, record.Words)
	}
	return columns
}

// words returns the words of the pair k of columns, cut by a kind.
func (s *sampledColumns) words(cutter *record.Cutter, k int, kind record.Kind) wordColumn {
	left, right := rowsByWord(cutter, s.left, s.pairs[k][0], kind), rowsByWord(cutter, s.right, s.pairs[k][1], kind)
	number := func(word uint64) int { return len(left[word]) * len(right[word]) }
	var words []uint64
	for word := range left {
		if number(word) > 0 {
			words = append(words, word)
		}
	}
	sorting.Func(words, func(x, y uint64) int { return cmp.Or(cmp.Compare(number(x), number(y)), cmp.Compare(x, y)) })
	c := wordColumn{left: make([]uint32, len(s.left)), right: make([]uint32, len(s.right))}
	own := func(of []uint32, rows []uint32, name uint32) (some []uint32) {
		for _, row := range rows {
			if of[row] == 0 {
				of[row] = name
				some = append(some, row)
			}
		}
		return some
	}
	most, full := min(mostTies, mostTested/(len(s.pairs)*len(s.pairs))), false
	for i, word := range words {
		a, b := own(c.left, left[word], uint32(i+1)), own(c.right, right[word], uint32(i+1))
		if full = full || len(c.ties)+len(a)*len(b) > most; full {
			continue
		}
		for _, x := range a {
			for _, y := range b {
				if !s.one || x < y {
					c.ties = append(c.ties, compare.Pair{A: x, B: y})
				}
			}
		}
	}
	return c
}

// rowsByWord returns the rows that have each word in a column, ascending.
func rowsByWord(cutter *record.Cutter, rows [][][]byte, column int, kind record.Kind) map[uint64][]uint32 {
	of := map[uint64][]uint32{}
	var words []uint64
	for i, row := range rows {
		words, _ = cutter.Cut(words[:0], row[column], kind)
		slices.Sort(words)
		for _, w := range slices.Compact(words) {
			of[w] = append(of[w], uint32(i))
		}
	}
	return of
}

// agree calls visit for each of some pairs whose records have the same word in the column.
func (c *wordColumn) agree(pairs []compare.Pair, visit func(i int)) {
	for i, p := range pairs {
		if w := c.left[p.A]; w != 0 && w == c.right[p.B] {
			visit(i)
		}
	}
}

// related returns the columns with which the ties of another one agree more often than chance explains.
func (s *sampledColumns) related(columns []wordColumn) (some []wordColumn) {
	related := make([]bool, len(columns))
	for f := range columns {
		ties := columns[f].ties
		strangers := s.apart(ties, len(ties)/2)
		for g := range columns {
			if f == g || related[g] {
				continue
			}
			both, chance := 0.0, 0.0
			columns[g].agree(ties, func(int) { both++ })
			columns[g].agree(strangers, func(int) { chance++ })
			related[g] = both-chance > beyond*math.Sqrt(both+chance+1)
		}
	}
	for f, is := range related {
		if is {
			some = append(some, columns[f])
		}
	}
	return some
}

// agreeing counts pairs of records: those with a value on both sides, and those whose values agree.
type agreeing struct{ pairs, there, agree float64 }

// agreement counts the pairs that agree in the pair k of columns: at least half of the tokens of the longer value are in the other.
func (s *sampledColumns) agreement(cutter *record.Cutter, k int, pairs []compare.Pair) agreeing {
	c := agreeing{pairs: float64(len(pairs))}
	var x, y []uint64
	tokens := func(dst []uint64, value []byte) []uint64 {
		dst, _ = cutter.Cut(dst[:0], value, record.Text)
		slices.Sort(dst)
		return slices.Compact(dst)
	}
	for _, p := range pairs {
		x = tokens(x, s.left[p.A][s.pairs[k][0]])
		y = tokens(y, s.right[p.B][s.pairs[k][1]])
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

// A joint is the ties of some columns, and which of the columns agree in each.
type joint struct {
	ties   []compare.Pair
	agree  []bitset.Set[int] // of each column, by tie
	share  []float64         // of each column: of the ties that agree in it
	weight []float64         // of each column, by how rarely the records of other pairs agree in it
	alike  []float64         // of each column, 1 + Σ correlations of its agreement with that of others
}

// joint returns the ties of columns. O(columns² · ties).
func (s *sampledColumns) joint(columns []wordColumn) *joint {
	j := &joint{ties: tiesOf(columns)}
	if len(j.ties) == 0 {
		return j
	}
	strangers := s.apart(j.ties, len(j.ties)/2)
	for f := range columns {
		agree := bitset.New[int](len(j.ties))
		columns[f].agree(j.ties, agree.Add)
		chance := 1.0
		columns[f].agree(strangers, func(int) { chance++ })
		j.agree, j.share = append(j.agree, agree), append(j.share, float64(agree.Len())/float64(len(j.ties)))
		j.weight = append(j.weight, math.Log(float64(len(strangers)+2)/chance))
	}
	j.alike = slices.Repeat([]float64{1}, len(columns))
	for f := range columns {
		for g := f + 1; g < len(columns); g++ {
			c := j.correlation(f, g)
			j.alike[f] += c
			j.alike[g] += c
		}
	}
	return j
}

// surest returns n of the ties that agree in most, the surest first. A column counts by how rarely the records of other
// pairs agree in it, and by the share of this that no other column says too: the columns of a home, which agree together,
// count as one, so that a person comes before a household. without is the number of a column that does not count, −1: all
// do. O(agreements + columns · ties / 64).
func (j *joint) surest(n, without int) (pairs []compare.Pair) {
	score := make([]float64, len(j.ties))
	for f, agree := range j.agree {
		if f == without {
			continue
		}
		alike := j.alike[f]
		if without >= 0 {
			alike -= j.correlation(f, without)
		}
		weight := j.weight[f] / alike
		for i := range agree.All() {
			score[i] += weight
		}
	}
	place := func(i int) uint64 { return hashing.Mix(uint64(j.ties[i].A)<<32 | uint64(j.ties[i].B)) }
	surer := func(x, y int) int { return cmp.Or(cmp.Compare(score[y], score[x]), cmp.Compare(place(x), place(y))) }
	var best []int // the n best so far, and as many that are not sorted out yet
	least := math.Inf(-1)
	for i, points := range score {
		if points < least {
			continue
		}
		if best = append(best, i); len(best) == 2*n {
			slices.SortFunc(best, surer)
			best, least = best[:n], score[best[n-1]]
		}
	}
	slices.SortFunc(best, surer)
	for _, i := range best[:min(n, len(best))] {
		pairs = append(pairs, j.ties[i])
	}
	return pairs
}

// correlation returns how far two columns agree in the same ties, 0 if they do so by chance or less.
func (j *joint) correlation(f, g int) float64 {
	// Word by word: with 33 columns and 300,000 ties, pair by pair took nine tenths of choosing columns.
	both := 0
	for w, word := range j.agree[f] {
		both += bits.OnesCount64(word & j.agree[g][w])
	}
	p, q := j.share[f], j.share[g]
	return max(0, (float64(both)/float64(len(j.ties))-p*q)/math.Sqrt(max(1e-9, p*(1-p)*q*(1-q))))
}

// tiesOf returns the ties of all columns, each once, ascending.
func tiesOf(columns []wordColumn) (ties []compare.Pair) {
	for f := range columns {
		ties = append(ties, columns[f].ties...)
	}
	slices.SortFunc(ties, compare.Order)
	return slices.Compact(ties)
}
