package columns

import (
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

// An Akin takes rows of which many share a value: of each column those whose value has a hash below a bound, which sinks as
// rows come. Of a uniform sample of a large table hardly any two rows are of one thing; here all rows are that share such a
// value (correlated sampling; A. Broder's "On the resemblance and containment of documents", 1997, for values of several
// words: the word with the least hash stands for the value).
type Akin struct {
	of     []akinColumn
	rows   map[int][][]byte // by their numbers
	number int
}

// akinColumn is what was taken for one column.
type akinColumn struct {
	at    int
	bound uint64 // hashes of values are at most this
	most  int
	taken []takenRow
}

type takenRow struct {
	hash uint64
	row  int
}

// NewAkin returns an Akin of some columns that takes about so many rows in all.
func NewAkin(columns []int, most int) *Akin {
	a := &Akin{rows: map[int][][]byte{}}
	for _, at := range columns {
		a.of = append(a.of, akinColumn{at: at, bound: math.MaxUint64, most: most / len(columns)})
	}
	return a
}

// See takes a row, or not. row is valid during the call only. O(values).
func (a *Akin) See(row [][]byte) {
	wanted := false
	for i := range a.of {
		c := &a.of[i]
		hash, ok := valueHash(row[c.at])
		if !ok || hash > c.bound {
			continue
		}
		wanted = true
		if c.taken = append(c.taken, takenRow{hash, a.number}); len(c.taken) > c.most {
			// Half of the values, so that rows leave seldom.
			c.bound /= 2
			c.taken = slices.DeleteFunc(c.taken, func(t takenRow) bool { return t.hash > c.bound })
		}
	}
	if wanted {
		a.rows[a.number] = cloneRow(row)
	}
	if a.number++; len(a.rows) > 4*a.most() {
		a.forget()
	}
}

func (a *Akin) most() (n int) {
	for _, c := range a.of {
		n += c.most
	}
	return n
}

// forget drops the rows that no column has any more.
func (a *Akin) forget() {
	rows := map[int][][]byte{}
	for _, c := range a.of {
		for _, t := range c.taken {
			rows[t.row] = a.rows[t.row]
		}
	}
	a.rows = rows
}

// Rows returns what was taken, in order.
func (a *Akin) Rows() (rows [][][]byte) {
	a.forget()
	numbers := make([]int, 0, len(a.rows))
	for number := range a.rows {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		rows = append(rows, a.rows[number])
	}
	return rows
}

// valueHash returns the hash of a value; ok is false if it has no word.
func valueHash(value []byte) (least uint64, ok bool) {
	for _, w := range wordsOf(value) {
		if h := hashing.Bytes([]byte(w)); !ok || h < least {
			least, ok = h, true
		}
	}
	return hashing.Mix(least), ok
}

func cloneRow(row [][]byte) [][]byte {
	size := 0
	for _, value := range row {
		size += len(value)
	}
	bytes, clone := make([]byte, 0, size), make([][]byte, len(row))
	for i, value := range row {
		bytes = append(bytes, value...)
		clone[i] = bytes[len(bytes)-len(value) : len(bytes) : len(bytes)]
	}
	return clone
}
