package places

import (
	"maps"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// A text is removed in favour of another one only if WholeShare of it stands there:
//
//	removed   PPPP······      kept   ······QQQQ      half of what is removed would be lost
//	removed     ······        kept   ······QQQQ      nothing would
//
// Blocks of which many texts have most runs, as of a template, weigh one part in commonWeighs: next to nothing beside a text's
// own, and a text of nothing else is still like its copies.
const (
	WholeShare   = 0.75
	commonWeighs = 256

	// A text of fewer blocks than BlocksTell is one that a passage fills: it is compared character by character, if the
	// other one is at most LongerAtMost times as long.
	BlocksTell   = 6
	LongerAtMost = 4
	charsMost    = 2048 // characters of a text that is compared so
	// Of blocks with many errors some keep too few runs. A text of more blocks stands in the other one also if so many of its
	// characters do: of a text of which a part does not, two fifths of that part are there by chance.
	unchangedLeast = 0.82
)

// Common are features that many texts have.
type Common struct {
	features map[uint64]struct{}
	bits     [1 << commonBits / 64]uint64 // by the last bits of a feature: most features are answered at once
}

const commonBits = 20

// bit returns the place of a feature among bits.
func bit(feature uint64) (word int, mask uint64) {
	at := feature & (1<<commonBits - 1)
	return int(at / 64), 1 << (at % 64)
}

// NewCommon counts the features of texts, of which there are so many in a collection of so many texts, and keeps those that
// more of the whole have than shingle.RareMost, as far as the texts tell.
func NewCommon(texts []*Text, whole int) *Common {
	c := &Common{features: map[uint64]struct{}{}}
	most := float64(shingle.RareMost(uint64(whole)))
	if len(texts) < whole {
		most = max(most*float64(len(texts))/float64(whole), commonLeast)
	}
	var all []uint64
	for _, t := range texts {
		last := uint64(0)
		for i, run := range t.runs {
			if f := feature(run); i == 0 || f != last {
				all, last = append(all, f), f
			}
		}
	}
	slices.Sort(all)
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n] == all[0] {
			n++
		}
		if float64(n) > most {
			c.add(all[0])
		}
		all = all[n:]
	}
	return c
}

// AppendFeatures appends the features, ascending.
func (c *Common) AppendFeatures(dst []uint64) []uint64 {
	return slices.AppendSeq(dst, slices.Values(slices.Sorted(maps.Keys(c.features))))
}

// CommonOf returns what many texts have, by its features.
func CommonOf(features []uint64) *Common {
	c := &Common{features: make(map[uint64]struct{}, len(features))}
	for _, f := range features {
		c.add(f)
	}
	return c
}

func (c *Common) add(feature uint64) {
	c.features[feature] = struct{}{}
	word, mask := bit(feature)
	c.bits[word] |= mask
}

// commonLeast is how many texts of a sample have a rare feature, at most, in any case: a copy, and one more by chance.
const commonLeast = 2

func (c *Common) has(feature uint64) bool {
	if c == nil {
		return false
	}
	if word, mask := bit(feature); c.bits[word]&mask == 0 {
		return false
	}
	_, is := c.features[feature]
	return is
}

// NewWholeReader returns a reader of texts of which Judge.Stands can be asked; common: what many texts have.
func NewWholeReader(o shingle.Options, common *Common) *Reader {
	r := NewReader(o)
	chars, err := text.New(Options(o.Text).Text)
	if err != nil {
		panic("places: options that are valid are not: " + err.Error())
	}
	r.chars, r.common = chars, common
	return r
}

// whole fills in what Judge.Stands needs besides.
func (r *Reader) whole(t *Text, document []byte, runs uint64) {
	t.common = r.common
	t.own = t.ownAt(t.level)
	if runs <= charsMost {
		t.chars = r.chars.AppendHashes(nil, document)
	}
}

// ownAt returns how many runs of each block few texts have, of those that a text of a level holds.
func (t *Text) ownAt(level uint) []int {
	if level == t.level && t.own != nil {
		return t.own
	}
	blocks := make([]int, len(t.blocks))
	for _, run := range t.runs {
		if f := feature(run); f&(1<<level-1) == 0 && !t.common.has(f) {
			blocks[blockOf(run)]++
		}
	}
	return blocks
}

// mostlyOwn tells whether few texts have most of the runs of a text.
func (t *Text) mostlyOwn() bool {
	all, own := 0, 0
	for i, n := range t.blocks {
		all, own = all+n, own+t.own[i]
	}
	return 2*own >= all
}

// Stands returns how much of a text stands in another one: of its blocks, or of its characters. Both are of
// a reader of NewWholeReader.
func (j *Judge) Stands(a, in *Text) float64 {
	if len(a.blocks) < BlocksTell && a.comparable(in) {
		return j.unchanged(a, in)
	}
	share := j.standsByBlocks(a, in)
	if share < WholeShare && a.comparable(in) {
		if unchanged := j.unchanged(a, in); unchanged >= unchangedLeast {
			return unchanged
		}
	}
	return share
}

// comparable tells whether a text can be compared with another one character by character.
func (t *Text) comparable(with *Text) bool {
	return len(t.chars) > 0 && len(with.chars) > 0 && len(with.chars) <= LongerAtMost*len(t.chars) && t.mostlyOwn()
}

// unchanged returns the share of the characters of a text that a part of the other one has, in order.
func (j *Judge) unchanged(a, in *Text) float64 {
	_, changed := j.edits.Distance(a.chars, in.chars)
	return 1 - float64(changed)/float64(len(a.chars))
}

// standsByBlocks returns the share of the blocks.
func (j *Judge) standsByBlocks(a, in *Text) float64 {
	level := max(a.level, in.level)
	all, own := a.atLevel(level), a.ownAt(level)
	for i := range j.parts {
		j.parts[i].begin(len(all))
	}
	partOf := func(block uint64) *part {
		if 2*own[block] >= all[block] {
			return &j.parts[0]
		}
		return &j.parts[1]
	}
	common(a, in, func(runs, _ []uint64) {
		for _, run := range runs {
			partOf(blockOf(run)).hits[blockOf(run)].Runs++
		}
	})
	for block, runs := range all {
		partOf(uint64(block)).add(block, runs)
	}
	found, blocks := 0.0, 0.0
	for i, weight := range [2]float64{1, 1. / commonWeighs} {
		p := &j.parts[i]
		found += weight * float64(p.blocks) * Covered(p.hits, p.runs, false, &j.shares)
		blocks += weight * float64(p.blocks)
	}
	return found / max(blocks, 1./commonWeighs)
}

// part is some of the blocks of a text.
type part struct {
	hits   []Hits
	runs   []int // 0: of a block that is not one of them
	blocks int
}

func (p *part) begin(blocks int) {
	p.hits, p.runs, p.blocks = Zeros(p.hits, blocks), Zeros(p.runs, blocks), 0
}

func (p *part) add(block, runs int) {
	p.runs[block] = runs
	if runs > 0 {
		p.blocks++
	}
}

// A Side is one of two similar texts of which one may be removed. Of two that are no references the larger one stays.
type Side struct {
	Text      *Text
	Size      uint64
	Reference bool // it stays
}

// Partial tells whether only a part of the text that could be removed stands in the other one.
func (j *Judge) Partial(a, b Side) bool {
	if !a.Reference && (b.Reference || a.Size <= b.Size) && j.Stands(a.Text, b.Text) < WholeShare {
		return true
	}
	return !b.Reference && (a.Reference || b.Size <= a.Size) && j.Stands(b.Text, a.Text) < WholeShare
}

// What many texts have is counted in some, with their first CountedEach bytes: those of the least orders.
const (
	CountedMost  = 2000
	CountedEach  = 16 << 10
	countedBytes = 2 << 20
)

// CountedOrder returns the order of a text with a digest.
func CountedOrder(digest uint64) uint64 { return hashing.Mix(digest) }

// CanCount tells whether a text of an order may be among those that are counted, of so many: most are not held until then.
func CanCount(order uint64, whole int) bool {
	return whole <= 2*CountedMost || order <= math.MaxUint64/uint64(whole)*2*CountedMost
}

// Counting says which texts are counted, in their order. The zero value has taken none.
type Counting struct{ texts, bytes int }

// Takes tells whether a text of so many bytes is counted. After one that is not, none is.
func (c *Counting) Takes(size int) bool {
	c.texts++
	c.bytes += min(size, CountedEach)
	return c.texts <= CountedMost && c.bytes <= countedBytes
}
