package columns

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/alike-dev/alike/linkage/internal/compare"
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
	// A source has things twice if at least leastDoubled of twice as many pairs are of it, and for its size doubledMore times as
	// many as of the other sources.
	// A few records of one source may be alike without being one thing: 15 of 300 in a list of tracks.
	leastDoubled = 20
	doubledMore  = 4
	// Values are forms if at least leastForms of the other columns are filled in at least ofForm of the records of one form, and in
	// at most notOfForm times as many of another one; each of leastOfForm of all records. ofAllForms is the same for columns that
	// all forms fill: of two records with a word that no other one has, mostInForm as often as by chance have one form.
	leastForms, ofForm, notOfForm, leastOfForm = 0.25, 0.3, 0.02, 0.05
	ofAllForms, mostInForm                     = 0.5, 0.75
)

// mayNameSource tells whether a column has few values, and nearly all records have one.
func mayNameSource(p *profile) bool {
	return p.distinct >= 2 && p.distinct <= mostSources && float64(p.filled) >= leastOfSource*float64(p.rows)
}

// findSourceColumn returns the place among columns of the one that names the source of a record, −1 if there is none: likely
// pairs agree in it hardly ever, though they would by chance. doubled are the sources among them that have things twice: there
// must be two that have not.
func findSourceColumn(s *sampledColumns, profiles []profile) (place int, doubled []string) {
	var columns []wordColumn // read only if a column may name sources
	var together *joint
	for k, at := range s.pairs {
		if !mayNameSource(&profiles[at[0]]) {
			continue
		}
		if columns == nil {
			cutter := record.NewCutter()
			for k, at := range s.pairs { // cut as they are compared: dates of several forms agree
				columns = append(columns, s.words(cutter, k, commonKind(&profiles[at[0]], &profiles[at[0]])))
			}
			together = s.joint(columns)
		}
		likely := together.surest(2*likelyForSource, k)
		value := func(row uint32) string { return string(s.left[row][at[0]]) }
		chance := map[string]float64{} // of each value: the share of random pairs that agree in it
		for row := range s.left {
			chance[value(uint32(row))]++
		}
		for v, n := range chance {
			chance[v] = n / float64(len(s.left)) * n / float64(len(s.left))
		}
		all := allShares(chance)             // of the values that name doubled sources, too
		agree := make([]string, len(likely)) // of each likely pair: the value in which it agrees; "": it does not
		for i, p := range likely {
			if v := value(p.A); v == value(p.B) {
				agree[i] = v
			}
		}
		doubled = leaveOutDoubled(agree, chance)
		if onceOnly(agree[:min(likelyForSource, len(agree))], chance) {
			return k, doubled
		}
		if s.formsShare(k, columns, likely, all) {
			return k, nil
		}
	}
	return -1, nil
}

// allShares returns the share of random pairs that agree in any value.
func allShares(chance map[string]float64) (all float64) {
	for _, v := range slices.Sorted(maps.Keys(chance)) { // in one order, so that the sum is the same to the bit
		all += chance[v]
	}
	return all
}

// leaveOutDoubled removes the sources that have things twice from chance, the share of random pairs that agree in each, as long
// as there are more than two. It returns them.
func leaveOutDoubled(agree []string, chance map[string]float64) (doubled []string) {
	same, all, allSame := map[string]float64{}, allShares(chance), 0.0
	for _, v := range agree {
		if chance[v] > 0 {
			same[v]++
			allSame++
		}
	}
	names := slices.Collect(maps.Keys(chance))
	slices.SortFunc(names, func(v, w string) int {
		return cmp.Or(cmp.Compare(same[w]*chance[v], same[v]*chance[w]), cmp.Compare(v, w))
	})
	for _, v := range names {
		rest, restSame := all-chance[v], allSame-same[v]
		if len(chance) == 2 || same[v] < leastDoubled || same[v]*rest < doubledMore*(restSame+1)*chance[v] {
			break
		}
		all, allSame = rest, restSame
		delete(chance, v)
		doubled = append(doubled, v)
	}
	return doubled
}

// onceOnly tells whether likely pairs, the likeliest first, agree in one of some values hardly ever, given the share of random
// pairs that agree in each. Further down stand more and more pairs that only belong to one household.
func onceOnly(agree []string, chance map[string]float64) bool {
	all, same := allShares(chance), 0.0
	for i, v := range agree {
		if chance[v] > 0 {
			same++
		}
		if expected := all * float64(i+1); expected >= sameByChance && same <= mostSame*expected {
			return true
		}
	}
	return false
}

// formsShare tells whether the values of column k are forms in which things are described, and two forms describe the same things. Shops
// name the features of a product in columns of their own, so that the records of two shops have little in common, and those that have
// most are of one shop. But these differ in what all shops fill, such as the number of a model in a title, and the words there that only
// two records have stand in two shops. likely are the pairs that have most in common; chance is the share of random pairs that agree in
// a value.
func (s *sampledColumns) formsShare(k int, columns []wordColumn, likely []compare.Pair, chance float64) bool {
	at := s.pairs[k][0]
	forms := map[string][]uint32{}
	for row := range s.left {
		v := string(s.left[row][at])
		forms[v] = append(forms[v], uint32(row))
	}
	own := 0
	var filled []int // places of the columns that all forms fill
	for f, pair := range s.pairs {
		most, least := s.filledBy(forms, pair[0])
		if most >= ofForm && least <= notOfForm*most {
			own++
		}
		if f == k || least < ofAllForms {
			continue
		}
		same := 0
		if columns[f].agree(likely, func(int) { same++ }); 3*same > 2*len(likely) {
			return false // the likely pairs are one thing, which a source has twice
		}
		filled = append(filled, pair[0])
	}
	if float64(own) < leastForms*float64(len(s.pairs)-1) {
		return false
	}
	two, same := 0.0, 0.0
	cutter := record.NewCutter()
	for _, place := range filled {
		for _, rows := range rowsByWord(cutter, s.left, place, record.Words) {
			if len(rows) != 2 {
				continue
			}
			if two++; bytes.Equal(s.left[rows[0]][at], s.left[rows[1]][at]) {
				same++
			}
		}
	}
	expected := chance * two
	return same <= mostInForm*expected && expected-same >= beyond*math.Sqrt(expected+1)
}

// filledBy returns in which share of the records a column is filled, by the form that fills it most and by the one that does so least.
// Forms of few records do not count.
func (s *sampledColumns) filledBy(forms map[string][]uint32, place int) (most, least float64) {
	least = 1
	for _, rows := range forms {
		if float64(len(rows)) < leastOfForm*float64(len(s.left)) {
			continue
		}
		filled := 0.0
		for _, row := range rows {
			if len(s.left[row][place]) > 0 {
				filled++
			}
		}
		most, least = max(most, filled/float64(len(rows))), min(least, filled/float64(len(rows)))
	}
	return most, least
}

// Sources says from which source each record is.
type Sources struct {
	left, right []uint32 // of each row: the number of its source, from 1 on; 0: it is not known. The same for one table
	Within      float64  // share of the pairs of records of the only table that have one source
}

// NewSources returns the sources of the records of two tables, or of one if right is nil. kept are the columns whose values
// the tables have kept, and naming those of them that name sources; doubled are sources that have things twice. O(records).
func NewSources(left, right *record.Table, kept, naming, doubled []string) *Sources {
	places := make([]int, len(naming))
	for i, name := range naming {
		places[i] = slices.Index(kept, name)
	}
	number := map[string]uint32{}
	for _, name := range doubled {
		number[name+"\x00"] = 0
	}
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

// numberSources returns the number of the source of each record of a table that has kept so many columns, by those at
// places. number has the numbers so far, by values; 0 of sources that have things twice.
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
		n, known := number[string(name)]
		if !known {
			n = uint32(len(number) + 1)
			number[string(name)] = n
		}
		of[row] = n
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
	// doubledReason is the same where some sources have things twice.
	doubledReason = namesSource + ", and no source but %s has a thing twice: records of one of the others are not linked"
)
