package linkage

import (
	"math"

	"github.com/alike-dev/alike/internal/fault"
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
	// likelyForSource is the number of pairs, the most likely ones of the sample, that must show it.
	likelyForSource = 150
	// sameByChance is how many of these at least would have one source if sources meant nothing, and mostSame which share of
	// that number may have one at most.
	sameByChance = 8
	mostSame     = 0.1
)

// findSourceColumn returns the place among columns of the one that names the source of a record, −1 if there is none: likely
// pairs agree in it hardly ever, though they would by chance.
func findSourceColumn(s *sampledColumns, profiles []profile) int {
	cutter := record.NewCutter()
	columns := make([]wordColumn, len(s.pairs))
	for k := range columns {
		columns[k] = s.words(cutter, k)
	}
	for k, at := range s.pairs {
		p := &profiles[at[0]]
		if p.distinct < 2 || p.distinct > mostSources || float64(p.filled) < leastOfSource*float64(p.rows) {
			continue
		}
		others := make([]wordColumn, 0, len(columns)-1)
		others = append(append(others, columns[:k]...), columns[k+1:]...)
		likely := s.likely(others)
		if likely = likely[:min(len(likely), likelyForSource)]; len(likely) < likelyForSource {
			continue
		}
		value := func(row uint32) string { return string(s.left[row][at[0]]) }
		count := map[string]float64{}
		for row := range s.left {
			count[value(uint32(row))]++
		}
		chance, same := 0.0, 0.0
		for _, n := range count {
			chance += n / float64(len(s.left)) * n / float64(len(s.left))
		}
		for _, p := range likely {
			if value(p.A) == value(p.B) {
				same++
			}
		}
		if expected := chance * float64(len(likely)); expected >= sameByChance && same <= mostSame*expected {
			return k
		}
	}
	return -1
}

// sources says from which source each record of a table is.
type sources struct {
	of     []uint16 // of each row; 0: it is not known
	within float64  // share of the pairs of records that have one source
}

// sourcesOf reads the sources of the records from a column that was kept.
func (t *tables) sourcesOf(column string) *sources {
	s := &sources{of: make([]uint16, t.left.Rows())}
	number := map[string]uint16{}
	var count []float64
	for row := range s.of {
		value := string(t.keptOf(t.left, uint32(row), column))
		if value == "" {
			continue
		}
		if number[value] == 0 && len(count) < math.MaxUint16 {
			count = append(count, 0)
			number[value] = uint16(len(count))
		}
		if s.of[row] = number[value]; s.of[row] > 0 {
			count[s.of[row]-1]++
		}
	}
	for _, n := range count {
		s.within += n / float64(len(s.of)) * n / float64(len(s.of))
	}
	return s
}

// same tells whether two records are of one source.
func (s *sources) same(a, b uint32) bool { return s != nil && s.of[a] > 0 && s.of[a] == s.of[b] }

// sourceReason is why a column that names sources is not compared.
func sourceReason(table string) string {
	return "names the sources of " + fault.Shown(table) + ", none of which has a thing twice: their records are not linked with each other"
}
