package columns

import (
	"cmp"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/record"
)

// Two tables may use one name for different things, and two names for one: the title of a song, and in a table of the songs in films
// the title of the film, beside a column "song". What whole values say is stronger than the name, for columns of texts: numbers
// are equal by chance.

const (
	// leastEqual is how many different values two columns must share at least to be paired in spite of a name, and timesEqual
	// how many times as many as the columns of the same name.
	leastEqual, timesEqual = 20, 3
	// mostOffers is the number of pairs of columns from which on names decide: the values of 5,000 records are compared in some 50 µs.
	mostOffers = 20_000
)

// anotherPair is a pair of columns of one name, and the pair of columns to compare in its place.
type anotherPair struct {
	pair, better [2]int
	equal        int
}

// otherThings returns the pairs of one name in whose place a column of them and one without a partner are compared, since these
// share far more values. No column is in two of them. O(pairs · columns without a partner · values).
func otherThings(left, right []profile, pairs [][2]int, usedL, usedR []bool, values *valueSets) (others []anotherPair) {
	alone := len(left) - len(pairs) + len(right) - len(pairs)
	if len(pairs)*alone > mostOffers {
		return nil
	}
	var may []anotherPair
	for _, p := range pairs {
		if left[p[0]].kind != record.Text || right[p[1]].kind != record.Text {
			continue
		}
		least := -1 // counted when there is a column without a partner
		offer := func(i, j int) {
			if left[i].kind != record.Text || right[j].kind != record.Text || min(left[i].distinct, right[j].distinct) < leastEqual {
				return
			}
			if least < 0 {
				least = max(leastEqual, timesEqual*values.equal(p[0], p[1]))
			}
			if n := values.equal(i, j); n >= least {
				may = append(may, anotherPair{p, [2]int{i, j}, n})
			}
		}
		for j := range right {
			if !usedR[j] {
				offer(p[0], j)
			}
		}
		for i := range left {
			if !usedL[i] {
				offer(i, p[1])
			}
		}
	}
	sorting.Func(may, func(x, y anotherPair) int {
		return cmp.Or(cmp.Compare(y.equal, x.equal), cmp.Compare(x.pair[0], y.pair[0]), cmp.Compare(x.better[0], y.better[0]), cmp.Compare(x.better[1], y.better[1]))
	})
	pairTaken, takenL, takenR := map[[2]int]bool{}, map[int]bool{}, map[int]bool{}
	for _, a := range may {
		if pairTaken[a.pair] || takenL[a.better[0]] || takenR[a.better[1]] {
			continue
		}
		pairTaken[a.pair], takenL[a.better[0]], takenR[a.better[1]] = true, true, true
		others = append(others, a)
	}
	return others
}

// valueSets has the different values of the columns of two samples by the hashes of their words, made when they are asked for.
type valueSets struct {
	of     [2]*Sample
	values [2]map[int]map[uint64]bool
	cutter *record.Cutter
}

func newValueSets(left, right *Sample) *valueSets {
	return &valueSets{[2]*Sample{left, right}, [2]map[int]map[uint64]bool{{}, {}}, record.NewCutter()}
}

// equal returns how many different values a left and a right column share.
func (v *valueSets) equal(i, j int) (n int) {
	l, r := v.column(0, i), v.column(1, j)
	if len(l) > len(r) {
		l, r = r, l
	}
	for value := range l {
		if r[value] {
			n++
		}
	}
	return n
}

// column returns the values of the column at a place of the left sample (side 0) or the right one (1).
func (v *valueSets) column(side, place int) map[uint64]bool {
	if set, ok := v.values[side][place]; ok {
		return set
	}
	set := map[uint64]bool{}
	for _, row := range v.of[side].Rows {
		if _, whole := v.cutter.Cut(nil, row[place], record.Words); whole.Words != 0 {
			set[whole.Words] = true
		}
	}
	v.values[side][place] = set
	return set
}
