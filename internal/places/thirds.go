package places

import (
	"slices"

	"github.com/alike-dev/alike/internal/distinct"
	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

// A third text tells of a pair what the two cannot tell alone, as where both ran into the same neighbour:
//
//	a   ······PPPP        c is like a, and has little of P, which is all that a and b have in common:
//	b         PPPP······  it contradicts the pair. Of copies a third copy has what both have.
//	c   ······
//
// Of a half of b, the other half says the same of the pair of both with b: where nearly all of one text stands in the
// other, no third text is asked.
const (
	contradictShare = 4      // c contradicts a pair if it has less than one part in so many of what would be expected
	Stands          = 2. / 3 // share of the blocks of a text that stands in another one
	SharedLeast     = Chars  // features that a pair must share to be doubted: one change takes away so many
	// ThirdsMost is how many texts are asked that are like one of a pair, and as many that are like the other one.
	ThirdsMost = 16
)

// A Text is its runs: each a feature, then its block, ascending, each once.
type Text struct {
	runs   []uint64
	blocks []int // how many runs each has
	size   int   // different features
	level  uint  // only features with so many zeros at the end are in runs: of a long text this is a sample

	// Of a reader of NewWholeReader:
	own    []int    // how many of the runs of each block few texts have
	chars  []uint64 // the characters of a short text, and of one that may be compared with a short one
	common *Common
}

// blockBits are the bits of a run that number its block; the rest are of the feature.
const (
	blockBits = 18
	runsMost  = 1 << 17 // of a text; of a longer one they are a sample, and its blocks are longer
)

// feature returns the feature of a run, in the lower bits.
func feature(run uint64) uint64 { return run >> blockBits }

func blockOf(run uint64) uint64 { return run & (1<<blockBits - 1) }

// Bytes returns about how much memory a text takes.
func (t *Text) Bytes() int { return 8*(len(t.runs)+len(t.blocks)+len(t.own)+len(t.chars)) + 64 }

// Reader makes Texts, for one goroutine.
type Reader struct {
	shingles *shingle.Shingler
	features []uint64
	held     []place

	chars  *text.Tokenizer // nil: Judge.Stands will not be asked
	common *Common
}

// place is a feature and how many runs stand before it.
type place struct{ feature, at uint64 }

// NewReader returns a reader of texts that are normalised as by o, whose other choices do not matter.
func NewReader(o shingle.Options) *Reader {
	s, err := shingle.New(Options(o.Text))
	if err != nil {
		panic("places: options that are valid are not: " + err.Error())
	}
	return &Reader{shingles: s}
}

// Read returns a text, which refers to nothing of its bytes. It takes some MiB besides, however long the text is.
func (r *Reader) Read(document []byte) *Text {
	t := &Text{}
	n := uint64(0)
	r.held = r.held[:0]
	for from := 0; from < len(document); {
		r.features, from = r.shingles.AppendFeaturesFrom(r.features[:0], document, from)
		for _, f := range r.features {
			if f = hashing.Mix(f) >> blockBits; f&(1<<t.level-1) == 0 {
				r.held = append(r.held, place{f, n})
			}
			n++
		}
		for len(r.held) > runsMost {
			t.level++
			r.held = slices.DeleteFunc(r.held, func(p place) bool { return p.feature&(1<<t.level-1) != 0 })
		}
	}
	size, blocks := Blocks(int(n >> t.level))
	t.blocks, t.runs = make([]int, blocks), make([]uint64, len(r.held))
	for i, p := range r.held {
		t.runs[i] = p.feature<<blockBits | min(p.at>>t.level/uint64(size), uint64(blocks-1))
	}
	t.runs = distinct.Sort(t.runs)
	for i, run := range t.runs {
		t.blocks[blockOf(run)]++
		if i == 0 || feature(run) != feature(t.runs[i-1]) {
			t.size++
		}
	}
	if r.chars != nil {
		r.whole(t, document, n)
	}
	return t
}

// common calls visit with each feature that both texts have, ascending, and with its runs, of those that both hold.
func common(a, b *Text, visit func(ofA, ofB []uint64)) {
	x, y, mask := a.runs, b.runs, uint64(1)<<max(a.level, b.level)-1
	for len(x) > 0 && len(y) > 0 {
		f := feature(x[0])
		switch g := feature(y[0]); {
		case f < g:
			x = x[1:]
		case f > g:
			y = y[1:]
		default:
			m, n := same(x), same(y)
			if f&mask == 0 {
				visit(x[:m], y[:n])
			}
			x, y = x[m:], y[n:]
		}
	}
}

// same returns how many of the first runs have one feature.
func same(runs []uint64) int {
	n := 1
	for n < len(runs) && feature(runs[n]) == feature(runs[0]) {
		n++
	}
	return n
}

// Judge decides about pairs, for one goroutine. The zero value is ready.
type Judge struct {
	shared []uint64 // features that both of the pair have
	hits   [2][]Hits
	shares []float64

	parts [2]part // of Stands: blocks of a text's own, and those that many have
	edits Edits
}

// Doubts tells whether third texts are to be asked about a pair: neither text stands in the other one, and they share
// enough. Contradicts is then about this pair.
func (j *Judge) Doubts(a, b *Text) bool {
	j.shared = j.shared[:0]
	level := max(a.level, b.level)
	of := [2]*Text{a, b}
	for i, t := range of {
		j.hits[i] = slices.Grow(j.hits[i][:0], len(t.blocks))[:len(t.blocks)]
		clear(j.hits[i])
	}
	common(a, b, func(ofA, ofB []uint64) {
		j.shared = append(j.shared, feature(ofA[0]))
		for i, runs := range [2][]uint64{ofA, ofB} {
			for _, run := range runs {
				j.hits[i][blockOf(run)].Runs++
			}
		}
	})
	for i, t := range of {
		if Covered(j.hits[i], t.atLevel(level), false, &j.shares) >= Stands {
			return false
		}
	}
	return len(j.shared) >= SharedLeast
}

// atLevel returns how many runs each block has of those that a text of a level holds.
func (t *Text) atLevel(level uint) []int {
	if level == t.level {
		return t.blocks
	}
	blocks := make([]int, len(t.blocks))
	for _, run := range t.runs {
		if feature(run)&(1<<level-1) == 0 {
			blocks[blockOf(run)]++
		}
	}
	return blocks
}

// Contradicts tells whether a third text, which is like a, contradicts the pair of a that Doubts was asked about last.
func (j *Judge) Contradicts(a, third *Text) bool {
	level := max(a.level, third.level)
	ofBoth, ofPair := 0, 0
	pair := j.shared
	common(a, third, func(runs, _ []uint64) {
		ofBoth++
		f := feature(runs[0])
		for len(pair) > 0 && pair[0] < f {
			pair = pair[1:]
		}
		if len(pair) > 0 && pair[0] == f {
			ofPair++
		}
	})
	shared := len(j.shared)
	sizeA, sizeC := a.size, third.size
	if level > 0 {
		shared, sizeA, sizeC = 0, a.sizeAt(level), third.sizeAt(level)
		for _, f := range j.shared {
			if f&(1<<level-1) == 0 {
				shared++
			}
		}
	}
	return Contradicts(ofPair, min(shared, sizeC), ofBoth, min(sizeA, sizeC))
}

// sizeAt returns how many different features a text has of those that one of a level holds.
func (t *Text) sizeAt(level uint) (n int) {
	if level == t.level {
		return t.size
	}
	for i, run := range t.runs {
		if feature(run)&(1<<level-1) == 0 && (i == 0 || feature(run) != feature(t.runs[i-1])) {
			n++
		}
	}
	return n
}

// Contradicts tells whether a third text contradicts a pair: it has ofPair of the features that the two share, of
// which it could have mostOfPair, and ofBoth of one of them, of which it could have mostOfBoth.
func Contradicts(ofPair, mostOfPair, ofBoth, mostOfBoth int) bool {
	return contradictShare*ofPair*mostOfBoth < ofBoth*mostOfPair
}
