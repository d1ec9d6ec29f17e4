package linkage

// level is the similarity of two values, or of two records, in steps: 0 if one is missing, 1…10 for tenths of
// the similarity from 0 on, and equal for the same tokens in any order. Equal values of a column have, by their
// rarity, levels from equal to equal+mostRarity.
type level = uint8

const (
	missing    level = 0
	equal      level = 11
	mostRarity       = 15
	levels           = int(equal) + mostRarity + 1
)

// levelOf returns the level of a similarity.
func levelOf(similarity float64) level {
	if similarity >= 0.9999 {
		return equal
	}
	return 1 + level(similarity*10)
}

// wholeLevel returns the level of the similarity of two records, in steps of a twentieth.
func wholeLevel(similarity float64) level { return 1 + level(similarity*20) }

// pair is a candidate: record a of the left table and b of the right one, or a < b of the
// only one.
type pair struct{ a, b uint32 }

// comparison has the results of comparing candidates.
type comparison struct {
	pairs  []pair
	levels []level   // of each pair: of each column, then of the records as a whole
	wholes []float32 // similarity of the records
	width  int       // columns + 1
	left   int       // records of the left table, of the only one
	right  int       // of the right table; 0: there is none
}

func (c *comparison) of(i int) []level { return c.levels[i*c.width : (i+1)*c.width] }

// without returns a comparison of the same tables that has no candidates yet.
func (c *comparison) without() *comparison {
	return &comparison{width: c.width, left: c.left, right: c.right}
}

// take appends candidate i of another comparison of the same tables.
func (c *comparison) take(from *comparison, i int) {
	c.pairs = append(c.pairs, from.pairs[i])
	c.levels = append(c.levels, from.of(i)...)
	c.wholes = append(c.wholes, from.wholes[i])
}

// agreement returns the mean similarity of the columns in which both records of a pair have a value.
func (c *comparison) agreement(i int) float64 {
	there, total := 0.0, 0.0
	for _, l := range c.of(i)[:c.width-1] {
		if l != missing {
			there, total = there+1, total+float64(min(l, equal)-1)/10
		}
	}
	return total / max(there, 1)
}
