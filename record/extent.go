package record

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/alike-dev/alike/internal/hashing"
)

// openings is how many hashes say how a text begins: of its first word, its first two and its first three, and then of the
// initials of its first two words and its first three. opened is the number of these words.
const (
	opened   = 3
	openings = opened + 2
)

// beginsWith notes a word as one of the first words of a text. words is the hash of all words up to it, and at its place.
func (o *beginning) beginsWith(at int, word []byte, words uint64) {
	if at >= opened {
		return
	}
	o.hashes[at] = words
	initial, _ := utf8.DecodeRune(word)
	if o.initials = hashing.Mix(o.initials ^ uint64(initial)); at > 0 {
		o.hashes[opened+at-1] = o.initials
	}
}

// beginning is how a text begins, while it is cut.
type beginning struct {
	hashes   [openings]uint64
	initials uint64
}

// extent is what a value has besides tokens.
type extent struct {
	point    float64
	openings [openings]uint64
}

// extents are those of all values of a column, as far as they are kept.
type extents struct {
	points   []float64
	openings [][openings]uint64
}

// add adds the extent of the next value.
func (e *extents) add(kind Kind, of extent, keepOpenings bool) {
	switch {
	case kind.Measured():
		e.points = append(e.points, of.point)
	case keepOpenings && kind.OfWords():
		e.openings = append(e.openings, of.openings)
	}
}

func (e *extents) bytes() int64 { return int64(8*cap(e.points) + 8*openings*cap(e.openings)) }

// pointOfNumber returns the number in its canonical form.
func pointOfNumber(canonical []byte) float64 {
	x, err := strconv.ParseFloat(string(canonical), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// pointOfTime returns the seconds of a time in its canonical form.
func pointOfTime(canonical []byte) float64 {
	x := pointOfNumber(canonical)
	return x - 40*math.Floor(x/100) - 40*60*math.Floor(x/10000) // hours have 10,000 there, and minutes 100
}

// pointOfDate returns the days since 1970 of a date in its canonical form, in the calendar of today. A day that its month
// does not have is one of the next month.
func pointOfDate(canonical []byte) float64 {
	number := func(from, to int) int {
		n := 0
		for _, b := range canonical[from:to] {
			n = 10*n + int(b-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	if month < 3 { // a year from March on has its leap day last
		year, month = year-1, month+12
	}
	const first = 719469 // what the sum below is on the first of January 1970
	days := float64(365*year + year/4 - year/100 + year/400 + (153*month-457)/5 + day - first)
	if len(canonical) > 10 { // a time follows the date once more
		days += pointOfTime(canonical[19:]) / (24 * 60 * 60)
	}
	return days
}
