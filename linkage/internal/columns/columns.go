package columns

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/record"
)

// profile describes a column by its first values.
type profile struct {
	name     string
	rows     int
	filled   int
	distinct int
	words    map[uint64]int // count of each word
	total    int            // number of words
	kind     record.Kind
	codes    map[uint64]uint64 // of values that may be codes: how one is written that has these letters and digits; nil: too few are
	joined   map[uint64]int    // of numbers with a unit behind them: how many there are of each, by the word that both make
	repeated [2]int            // values of the same letters and digits as an earlier one, and those that are written in another way
}

func profiles(of *Sample) []profile {
	list := make([]profile, len(of.Names))
	cutter := record.NewCutter()
	for i := range list {
		list[i] = profileOf(of, i, cutter)
	}
	return list
}

// profileOf profiles the column at a place.
func profileOf(of *Sample, place int, cutter *record.Cutter) profile {
	p := profile{name: of.Names[place], rows: len(of.Rows), words: map[uint64]int{}, kind: record.Text}
	values := map[uint64]bool{}
	shapes := map[record.Kind]int{}
	units := map[string]int{}
	coded := 0
	var joined []uint64
	for _, row := range of.Rows {
		words, whole := cutter.Cut(nil, row[place], record.Words)
		if whole.Words == 0 {
			continue
		}
		p.filled++
		values[whole.Words] = true
		for _, w := range words {
			p.words[w]++
			p.total++
		}
		if len(words) > 1 {
			joined, _ = cutter.Cut(joined[:0], row[place], record.Units)
			p.addJoined(joined, words)
		}
		shape, parts := cutter.Shape(row[place])
		if shape != record.Text {
			shapes[shape]++
		}
		if shape == record.Text || shape == record.Code {
			if unit, ok := cutter.Unit(row[place]); ok {
				units[string(unit)]++
			}
		}
		if 0 < parts && parts <= mostParts {
			coded++
			_, code := cutter.Cut(nil, row[place], record.Code)
			if p.codes == nil {
				p.codes = map[uint64]uint64{}
			}
			if written, ok := p.codes[code.Words]; !ok {
				p.codes[code.Words] = whole.Words
			} else if p.repeated[0]++; written != whole.Words {
				p.repeated[1]++
			}
		}
	}
	p.distinct = len(values)
	p.setKind(shapes, units)
	if float64(coded) < leastCoded*float64(p.filled) {
		p.codes = nil
	}
	return p
}

// setKind sets the kind that nearly all values are of, given how many are of each and how many numbers have each unit.
func (p *profile) setKind(shapes map[record.Kind]int, units map[string]int) {
	const nearlyAll = 0.95
	of := func(kind record.Kind, n int) {
		if p.kind == record.Text && n > 0 && float64(n) >= nearlyAll*float64(p.filled) {
			p.kind = kind
		}
	}
	for _, kind := range []record.Kind{record.Date, record.Time, record.Place, record.Number} {
		of(kind, shapes[kind])
	}
	quantities, most := 0, 0
	for _, n := range units {
		quantities, most = quantities+n, max(most, n)
	}
	if float64(most) >= nearlyAll*float64(quantities) {
		of(record.Quantity, shapes[record.Number]+quantities)
	}
	of(record.Code, shapes[record.Code])
}

const (
	// leastCoded is the least share of the values of a column that may be codes: errors make letters of digits. mostParts is the
	// largest number of parts that such a value has.
	leastCoded, mostParts = 0.8, 4
	// leastVariants is the least number of codes that are written in another way than before, with spaces or without, and
	// variantsOf their least share of repeated codes: a hyphen that is missing now and then makes no codes of pages.
	leastVariants, variantsOf = 5, 0.2
)

// ofCodes tells whether the values of two columns, or of the only one, are codes that are written in several ways.
func ofCodes(a, b *profile) bool {
	if a.codes == nil || b.codes == nil {
		return false
	}
	repeated, variants := a.repeated[0]+b.repeated[0], a.repeated[1]+b.repeated[1]
	for code, written := range a.codes {
		if other, ok := b.codes[code]; ok && a != b {
			if repeated++; other != written {
				variants++
			}
		}
	}
	return variants >= leastVariants && float64(variants) >= variantsOf*float64(repeated)
}

// addJoined counts the words that a number and its unit make in a value: words of its tokens by record.Units that are not among its
// words, which it sorts. O(n log n).
func (p *profile) addJoined(units, words []uint64) {
	slices.Sort(words)
	for _, token := range units {
		if _, written := slices.BinarySearch(words, token); written || record.IsGram(token) {
			continue
		}
		if p.joined == nil {
			p.joined = map[uint64]int{}
		}
		p.joined[token]++
	}
}

// ofQuantities tells whether the values of one of two columns are numbers with a unit, and those of the other one numbers.
func ofQuantities(a, b *profile) bool {
	return a.kind == record.Number && b.kind == record.Quantity || a.kind == record.Quantity && b.kind == record.Number
}

// ofUnits tells whether two columns, or the only one, have numbers and units written as two words and as one.
func ofUnits(a, b *profile) bool {
	all, variants := 0, 0
	count := func(p, q *profile) {
		for word, n := range p.joined {
			if all += n; p.words[word] > 0 || q.words[word] > 0 {
				variants += n
			}
		}
	}
	if count(a, b); a != b {
		count(b, a)
	}
	return variants >= leastVariants && float64(variants) >= variantsOf*float64(all)
}

// overlap returns the overlap of two columns' words, from 0 to 1. Each word counts by its share of the column.
func (p *profile) overlap(q *profile) (s float64) {
	var words []uint64
	for w := range p.words {
		if q.words[w] > 0 {
			words = append(words, w)
		}
	}
	slices.Sort(words) // so that floats are always added in the same order
	for _, w := range words {
		s += min(float64(p.words[w])/float64(p.total), float64(q.words[w])/float64(q.total))
	}
	return s
}

const (
	// sameContent is the least overlap at which columns with different names are taken for the same.
	sameContent = 0.2
	// sharedContent is the least share of their words in each other at which columns of texts are, and sharedByPart that at which one
	// is a part of the other.
	sharedContent, sharedByPart = 0.25, 0.2
)

// inCommon returns how much two columns have in common by their words, 0 if that does not show that they hold the same: their
// overlap or, if it is too small, what texts share, from least on. Where one table has few of the other's things, or a record
// of a thing where the other one has several, their words differ in how frequent they are, and their overlap is small.
func (p *profile) inCommon(q *profile, least float64) float64 {
	if overlap := p.overlap(q); overlap >= sameContent {
		return overlap
	}
	if p.kind != record.Text || q.kind != record.Text {
		return 0
	}
	if shared := min(p.in(q), q.in(p)); shared >= least {
		return sameContent * shared
	}
	return 0
}

// in returns which share of a column's words another one has.
func (p *profile) in(q *profile) float64 {
	n := 0
	for w, count := range p.words {
		if q.words[w] > 0 {
			n += count
		}
	}
	return float64(n) / float64(max(1, p.total))
}

// plain returns a column's name without case and separators.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// correspond pairs the columns of two tables: first those with the same name, then those with the same name without
// case and separators, unless their values say that they hold different things (see otherThings; values is nil if names decide), then
// those that have the most words in common.
func correspond(left, right []profile, values *valueSets) (pairs [][2]int) {
	usedL, usedR := make([]bool, len(left)), make([]bool, len(right))
	use := func(i, j int) {
		usedL[i], usedR[j] = true, true
		pairs = append(pairs, [2]int{i, j})
	}
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return plain(a) == plain(b) && plain(a) != "" },
	} {
		for i := range left {
			for j := range right {
				if !usedL[i] && !usedR[j] && same(left[i].name, right[j].name) {
					use(i, j)
				}
			}
		}
	}
	if values != nil {
		for _, other := range otherThings(left, right, pairs, usedL, usedR, values) {
			usedL[other.pair[0]], usedR[other.pair[1]] = false, false
			usedL[other.better[0]], usedR[other.better[1]] = true, true
			pairs[slices.Index(pairs, other.pair)] = other.better
		}
	}
	type link struct {
		i, j   int
		common float64
	}
	var links []link
	for i := range left {
		for j := range right {
			if usedL[i] || usedR[j] {
				continue
			}
			if common := left[i].inCommon(&right[j], sharedContent); common > 0 {
				links = append(links, link{i, j, common})
			}
		}
	}
	sorting.Func(links, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.common, a.common), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
	})
	for _, l := range links {
		if !usedL[l.i] && !usedR[l.j] {
			use(l.i, l.j)
		}
	}
	sorting.Func(pairs, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	return pairs
}

// withParts adds pairs of columns without a partner and one that another column has for its partner, if it holds the words of
// both: a first and a last name are both in a name. ids are the columns of ids, which take no part.
func withParts(left, right []profile, pairs [][2]int, ids [2]string) [][2]int {
	var more [][2]int
	for side, sides := range [2][2][]profile{{left, right}, {right, left}} {
		alone, whole := sides[0], sides[1]
		for i := range alone {
			if alone[i].name == ids[side] || slices.ContainsFunc(pairs, func(p [2]int) bool { return p[side] == i }) {
				continue
			}
			best, most := -1, 0.0
			for _, p := range pairs {
				j := p[1-side]
				if alone[p[side]].name == ids[side] || whole[j].name == ids[1-side] {
					continue
				}
				rest := whole[j].without(&alone[p[side]])
				if common := alone[i].inCommon(&rest, sharedByPart); common > most {
					best, most = j, common
				}
			}
			if best >= 0 {
				pair := [2]int{i, best}
				if side == 1 {
					pair = [2]int{best, i}
				}
				more = append(more, pair)
			}
		}
	}
	pairs = append(pairs, more...)
	sorting.Func(pairs, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return pairs
}

// without returns a column without the words that another one has as well; the shares of the others stay.
func (p *profile) without(q *profile) profile {
	rest := *p
	rest.words = map[uint64]int{}
	for w, n := range p.words {
		if q.words[w] == 0 {
			rest.words[w] = n
		}
	}
	return rest
}

// maxColumns is the largest number of columns that are compared if the user names none: those that distinguish
// most records.
const maxColumns = 24

// useless returns the reason why a pair of columns cannot distinguish records; "" if it may.
func useless(l, r *profile) string {
	switch {
	case l.rows == 0 || r.rows == 0:
	case l.filled == 0 || r.filled == 0:
		return "has no values"
	case l.distinct == 1 && r.distinct == 1 && min(l.filled, r.filled) > 1 && l.overlap(r) > 0.99:
		return "has one value everywhere"
	}
	return ""
}

// columnPair is a pair of corresponding columns that may be compared.
type columnPair struct {
	at      [2]int
	tells   float64 // nats
	useless string  // why it is not compared; "": it may be
}

// usableOf returns the pairs of columns that may be compared.
func usableOf(columns []columnPair) (usable []*columnPair) {
	for i := range columns {
		if columns[i].useless == "" {
			usable = append(usable, &columns[i])
		}
	}
	return usable
}

// mostTelling sorts pairs of columns by what they tell. If there are more than can be compared, the samples show what
// they tell, and those that agree by chance only are useless; if the samples have too few records in common to show it,
// columns whose values agree nowhere come last.
func mostTelling(columns []columnPair, s *sampledColumns) {
	usable := usableOf(columns)
	for _, c := range usable {
		s.pairs = append(s.pairs, c.at)
	}
	if len(usable) > maxColumns {
		tells, tied, ok := s.information()
		for k, c := range usable {
			switch {
			case ok && tells[k] == 0:
				c.tells, c.useless = 0, "agrees by chance only"
			case ok:
				c.tells = tells[k] // those with few values come last
			case !tied[k]:
				c.tells = 0
			}
		}
	}
	sorting.Stable(columns, func(a, b columnPair) int { return cmp.Compare(b.tells, a.tells) })
}

// telling returns an estimate of the column's information in nats: the share of records with a value, times the
// logarithm of the number of distinct values.
func telling(p *profile) float64 {
	return float64(p.filled) / float64(max(1, p.rows)) * math.Log(float64(1+p.distinct))
}
