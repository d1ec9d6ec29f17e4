package columns

import (
	"slices"

	"github.com/alike-dev/alike/record"
)

// A table may have been put together from several sources, such as registers or shops, and a column may name the source of
// each record. Where no source has a thing twice, records of one source do not belong together: they are not linked, and
// their pairs show what is alike by chance.

const (
	// mostSources is the largest number of sources of a table.
	mostSources = 50
	// leastOfSource is the least share of the records that have a source.
	leastOfSource = 0.99
	// likelyForSource is the number of pairs, the most likely ones of the sample, among the first of which it must show.
	likelyForSource = 150
	// sameByChance is how many of them at least would have one source if sources meant nothing, and mostSame which share of
	// that number may have one at most.
	sameByChance = 12
	mostSame     = 0.1
)

// mayNameSource tells whether a column has few values, and nearly all records have one.
func mayNameSource(p *profile) bool {
	return p.distinct >= 2 && p.distinct <= mostSources && float64(p.filled) >= leastOfSource*float64(p.rows)
}

// findSourceColumn returns the place among columns of the one that names the source of a record, −1 if there is none: likely
// pairs agree in it hardly ever, though they would by chance.
func findSourceColumn(s *sampledColumns, profiles []profile) int {
	var columns []wordColumn // read only if a column may name sources
	for k, at := range s.pairs {
		if !mayNameSource(&profiles[at[0]]) {
			continue
		}
		if columns == nil {
			cutter := record.NewCutter()
			for k, at := range s.pairs { // cut as they are compared: dates of several forms agree
				columns = append(columns, s.words(cutter, k, profiles[at[0]].kind))
			}
		}
		others := make([]wordColumn, 0, len(columns)-1)
		others = append(append(others, columns[:k]...), columns[k+1:]...)
		likely := s.surest(others, likelyForSource)
		value := func(row uint32) string { return string(s.left[row][at[0]]) }
		count := map[string]float64{}
		for row := range s.left {
			count[value(uint32(row))]++
		}
		chance, same := 0.0, 0.0
		for _, n := range count {
			chance += n / float64(len(s.left)) * n / float64(len(s.left))
		}
		for i, p := range likely {
			if value(p.A) == value(p.B) {
				same++
			}
			// The first are the most likely ones: further down stand more and more pairs that only belong to one household.
			if expected := chance * float64(i+1); expected >= sameByChance && same <= mostSame*expected {
				return k
			}
		}
	}
	return -1
}

// Sources says from which source each record is.
type Sources struct {
	left, right []uint32 // of each row: the number of its source, from 1 on; 0: it is not known. The same for one table
	Within      float64  // share of the pairs of records of the only table that have one source
}

// NewSources returns the sources of the records of two tables, or of one if right is nil. kept are the columns whose values
// the tables have kept, and naming those of them that name sources. O(records).
func NewSources(left, right *record.Table, kept, naming []string) *Sources {
	places := make([]int, len(naming))
	for i, name := range naming {
		places[i] = slices.Index(kept, name)
	}
	number := map[string]uint32{}
	s := &Sources{left: numberSources(left, places, len(kept), number)}
	s.right = s.left
	if right != nil {
		s.right = numberSources(right, places, len(kept), number)
	}
	count := make([]float64, len(number)+1)
	for _, source := range s.left {
		count[source]++
	}
	for _, n := range count[1:] {
		s.Within += n / float64(len(s.left)) * n / float64(len(s.left))
	}
	return s
}

// numberSources returns the number of the source of each record of a table that has kept so many columns, by those at places.
// number has the numbers so far, by values.
func numberSources(table *record.Table, places []int, kept int, number map[string]uint32) []uint32 {
	of := make([]uint32, table.Rows())
	var name []byte
	for row := range of {
		name = name[:0]
		filled := false
		for _, place := range places {
			value := table.Kept(row, place, kept)
			filled = filled || len(value) > 0
			name = append(append(name, value...), 0)
		}
		if !filled {
			continue
		}
		if of[row] = number[string(name)]; of[row] == 0 {
			of[row] = uint32(len(number) + 1)
			number[string(name)] = of[row]
		}
	}
	return of
}

// Same tells whether a left and a right row are of one source; nil: there are no sources.
func (s *Sources) Same(a, b uint32) bool { return s != nil && s.left[a] > 0 && s.left[a] == s.right[b] }

// OfLeft returns the sources of the left records; nil if there are none.
func (s *Sources) OfLeft() []uint32 {
	if s == nil {
		return nil
	}
	return s.left
}

// Why a column that names sources or tables is not compared: the user says so, or the data show it.
const (
	namesSource  = "names the source of a record"
	namesTable   = "names the table of a record"
	sourceReason = namesSource + ", and no source has a thing twice: records of one source are not linked"
)
