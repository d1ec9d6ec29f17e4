package advise

import (
	"context"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/text"
)

// Noise and edits are a copy's own: where three copies of a text differ, two of them mostly agree. Texts that fill one
// template differ, all three, in the same places: in names, numbers, passages of their own. Between two runs
// that three texts share, a gap is a piece that only one of them has; it is bridged if the other two share what
// stands there. (Three differ from each other by descent only if two of them changed in one place.)
//
//	A  … was seen by Mary Smith on Friday …     A  … was sxen by Mary Smith on Friday …
//	B  … was seen by John Brown on Friday …     B  … was seen by Marv Smith on Friday …
//	C  … was seen by Anne Moore on Friday …     C  … was seen by Mary Smith on Frida …
//	     template: no gap is bridged              copies: A's gap is bridged by B and C
//
// Where texts come in twos, words tell: see contexts.
const (
	thirdsMost     = 4    // of a pair,
	placesMost     = 4096 // characters of a text that are compared
	gapMost        = 256  // by so many of them a gap may be longer in another text
	gapLong        = 32   // it counts once more for each of so many parts of the runs of its text
	elsewhereMost  = 32   // so many runs of a gap may stand elsewhere in the others: of more, a passage was moved
	gapsTell       = 8
	filledBelow    = 0.25 // share of bridged gaps below which a pair fills a template,
	unsureBelow    = 0.35 // and below which it may
	filledByChance = 0.06 // share of copies, with much noise, that look so
	untoldFilled   = 4    // so many times as many filled pairs as copies make pairs doubtful of which gaps tell nothing
	firstLook      = 1500 // pairs that are looked at first: if no more of them look so, the others are left
)

// gaps counts gaps and those that are bridged.
type gaps struct{ all, bridged int }

// share returns the share of bridged gaps, nearer to one half where gaps are few.
func (g gaps) share() float64 { return float64(g.bridged+1) / float64(g.all+2) }

// kind is what gaps and words say of a pair.
type kind int

const (
	isUntold   kind = iota // nothing
	isCopy                 // changes are a text's own
	isUnsure               // they may be
	isFilled               // texts fill one template
	isReplaced             // of two texts: words stand for others, as in edited copies and in templates
)

// tallied counts kinds of pairs that look like copies.
type tallied [isReplaced + 1]int

// byChance returns the probability that a pair which looks filled is a copy.
func (n *tallied) byChance() float64 {
	return min(filledByChance*float64(n[isCopy])/float64(max(n[isFilled], 1)), 1)
}

// cover returns that of a pair of a kind.
func (n *tallied) cover(p pair, of kind) float64 {
	switch {
	case of == isFilled && p.cover < surely:
		return noCopy
	case of == isFilled:
		return min(p.cover, noCopy+(allCopy-noCopy)*n.byChance())
	case of == isUnsure:
		return min(p.cover, doubt+(1-doubt)*n.byChance())
	case of == isReplaced && n[isCopy] < max(n[isFilled], copiesLeast),
		of == isUntold && n[isFilled] > untoldFilled*max(n[isCopy], copiesLeast):
		return min(p.cover, doubt)
	}
	return p.cover
}

// thirds finds, for pairs that may be copies, texts that may be copies of both.
type thirds struct {
	pairs   []pair
	most    int // of a pair
	strip   bool
	texts   [][]byte
	runs    [][]run    // of the beginnings of documents
	related [][]uint32 // by document, ascending
}

func newThirds(w *witness, pairs []pair, likely []int) *thirds {
	t := &thirds{pairs: pairs, most: thirdsMost, strip: w.strip, texts: w.texts, runs: slices.Clone(w.runs), related: make([][]uint32, len(w.runs))}
	for _, i := range likely {
		p := pairs[i]
		t.related[p.a], t.related[p.b] = append(t.related[p.a], p.b), append(t.related[p.b], p.a)
	}
	for doc, related := range t.related {
		slices.Sort(related)
		if len(related) > 0 && len(t.runs[doc]) > placesMost/2 { // otherwise few are behind
			t.runs[doc] = slices.DeleteFunc(slices.Clone(t.runs[doc]), func(r run) bool { return r.at >= placesMost })
		}
	}
	return t
}

// look returns the kinds of some pairs.
func (t *thirds) look(ctx context.Context, texts [][]byte, of []int, threads int) (n tallied, kinds []kind, err error) {
	kinds = make([]kind, len(of))
	err = each(ctx, len(of), threads, func() func(int) {
		three, words := new(triple), newContexts(reading(t.strip))
		return func(i int) { kinds[i] = t.kind(&t.pairs[of[i]], three, words, texts) }
	})
	for i, kind := range kinds {
		if t.pairs[of[i]].cover >= surely {
			n[kind]++
		}
	}
	return n, kinds, err
}

func (t *thirds) kind(p *pair, three *triple, words *contexts, texts [][]byte) kind {
	var shares [thirdsMost]float64
	seen, told := 0, shares[:0]
	for _, c := range t.related[p.a] {
		if _, both := slices.BinarySearch(t.related[p.b], c); !both || seen == t.most {
			continue
		}
		seen++
		if g := three.compare([3][]run{t.runs[p.a], t.runs[p.b], t.runs[c]}); g.all >= gapsTell {
			told = append(told, g.share())
		}
	}
	if seen == 0 && words.replaced(texts[p.a], texts[p.b]) {
		return isReplaced
	}
	if len(told) == 0 {
		return isUntold
	}
	slices.Sort(told)
	switch share := told[(len(told)-1)/2]; { // not the mean: texts of a template may have copies too
	case share < filledBelow:
		return isFilled
	case share < unsureBelow:
		return isUnsure
	}
	return isCopy
}

// triple compares three texts: scratch of one goroutine.
type triple struct {
	size  [3]int      // runs by text
	in    [3][]uint8  // by text and place, and one behind the end: which texts have the run that begins here, as bits
	next  [3][]uint32 // likewise: where the next text has it first
	apart [3][]uint32 // runs before a place that the text before lacks, and the next one has
}

const inAll = 7

// compare counts the gaps of the first two: where the third differs from both, it says nothing of them.
func (t *triple) compare(runs [3][]run) (g gaps) {
	t.read(runs)
	for i := range 2 {
		t.gaps(i, func(_, _ uint32, alone int, bridged bool) {
			size := 1 + alone*gapLong/t.size[i]
			if g.all += size; bridged {
				g.bridged += size
			}
		})
	}
	return g
}

// read reads three texts.
func (t *triple) read(runs [3][]run) {
	for i, of := range runs {
		end := 0
		for _, r := range of {
			end = max(end, int(r.at)+1)
		}
		t.size[i] = len(of)
		t.in[i], t.next[i], t.apart[i] = places.Zeros(t.in[i], end+1), places.Zeros(t.next[i], end+1), places.Zeros(t.apart[i], end+1)
	}
	t.meet(runs)
	for i := range runs {
		end := len(t.in[i]) - 1
		t.in[i], t.next[i] = t.in[i][:end], t.next[i][:end]
	}
	for i := range runs {
		both := uint8(inAll &^ (1 << ((i + 2) % 3)))
		for at, in := range t.in[i] {
			t.apart[i][at+1] = t.apart[i][at]
			if in == both {
				t.apart[i][at+1]++
			}
		}
	}
}

// meet finds out which texts have each run. It merges them by feature, without branches that depend on these: what a text
// does not have is written to a place behind its end.
//
//	while a text has runs left:
//	    least = the least feature of their next runs;  in = the texts that have it next
//	    each text:  in[has it next ? its place : end] = in;  go on by one if it has
//
// A feature that a text has again stands in the texts in which it stood before.
func (t *triple) meet(runs [3][]run) {
	a, b, c := runs[0], runs[1], runs[2]
	inA, inB, inC, nextA, nextB, nextC := t.in[0], t.in[1], t.in[2], t.next[0], t.next[1], t.next[2]
	endA, endB, endC := uint32(len(inA)-1), uint32(len(inB)-1), uint32(len(inC)-1)
	last, lastIn, first := uint64(math.MaxUint64), uint8(0), [3]uint32{}
	for len(a)+len(b)+len(c) > 0 {
		x, y, z := nextRun(a), nextRun(b), nextRun(c)
		least := min(x.feature, y.feature, z.feature)
		hasA, hasB, hasC := one(x.feature == least), one(y.feature == least), one(z.feature == least)
		in := uint8(hasA | hasB<<1 | hasC<<2)
		if least == last {
			in = lastIn
		} else {
			first = [3]uint32{x.at, y.at, z.at}
		}
		last, lastIn = least, in
		placeA, placeB, placeC := endA+hasA*(x.at-endA), endB+hasB*(y.at-endB), endC+hasC*(z.at-endC)
		inA[placeA], inB[placeB], inC[placeC] = in, in, in
		nextA[placeA], nextB[placeB], nextC[placeC] = first[1], first[2], first[0]
		a, b, c = a[hasA:], b[hasB:], c[hasC:]
	}
}

// nextRun returns the first of some runs, and behind the last one a run of a feature that none has: features have featureBits.
func nextRun(runs []run) run {
	if len(runs) == 0 {
		return run{feature: math.MaxUint64 - 1}
	}
	return runs[0]
}

func one(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}

// gaps calls visit for the gaps of one text: behind which place and before which one each is, how many runs that text has
// alone there, and whether it is bridged.
func (t *triple) gaps(i int, visit func(from, to uint32, alone int, bridged bool)) {
	own, next := uint8(1)<<i, t.apart[(i+1)%3]
	begun, alone, elsewhere := false, 0, 0
	var from, fromNext uint32
	for at, in := range t.in[i] {
		switch in {
		case own:
			alone++
		case inAll:
			if !t.goesOn(i, at) && (at == 0 || !t.goesOn(i, at-1)) {
				continue // by chance, perhaps from elsewhere
			}
			to, toNext := uint32(at), t.next[i][at]
			inOrder := toNext > fromNext && toNext-fromNext <= to-from+gapMost
			if elsewhere++; begun && !inOrder && elsewhere <= elsewhereMost {
				continue
			}
			if elsewhere = 0; begun && alone > 0 && inOrder {
				visit(from, to, alone, places.HitShare*(next[toNext]-next[fromNext+1]) >= toNext-fromNext)
			}
			from, fromNext, begun, alone = to, toNext, true, 0
		}
	}
}

// goesOn tells whether all texts share the run at a place of one and the run after it, one after the other.
func (t *triple) goesOn(i, at int) bool {
	in, next := t.in[i], t.next[i]
	return at+1 < len(in) && in[at] == inAll && in[at+1] == inAll && next[at+1] == next[at]+1
}

// contexts compares two texts word by word, for one goroutine. Where both have the same word before and after one, that
// one is the same, a similar one, as scanned and typed words are, or another one. Edited copies have other words, and so
// have texts that fill a template: of two texts alone nobody can say which they are.
type contexts struct {
	tokenizer    *text.Tokenizer
	textA, textB []byte
	a, b         []text.Token
	middle       map[uint64]int // word of b by those around it; −1: not only one
}

const (
	wordLeast    = 3  // bytes of a word that tells
	othersTell   = 5  // other words that tell, if they are
	othersShare  = 50 // one in so many,
	similarAmong = 4  // and fewer than one in so many are similar
)

func newContexts(o text.Options) *contexts {
	return &contexts{tokenizer: wordsOf(o), middle: map[uint64]int{}}
}

func wordsOf(o text.Options) *text.Tokenizer {
	t, err := text.New(o)
	if err != nil {
		panic("advise: options that are valid are not: " + err.Error())
	}
	return t
}

// replaced tells whether words of one text stand for others of the other text.
func (c *contexts) replaced(a, b []byte) bool {
	c.textA, c.textB = c.tokenizer.AppendNormal(c.textA[:0], a), c.tokenizer.AppendNormal(c.textB[:0], b)
	c.a, c.b = c.tokenizer.AppendTokens(c.a[:0], c.textA), c.tokenizer.AppendTokens(c.b[:0], c.textB)
	clear(c.middle)
	for i := 1; i+1 < len(c.b); i++ {
		at := i
		if _, twice := c.middle[around(c.b, i)]; twice {
			at = -1
		}
		c.middle[around(c.b, i)] = at
	}
	same, others, similar := 0, 0, 0
	for i := 1; i+1 < len(c.a); i++ {
		k, is := c.middle[around(c.a, i)]
		if !is || k < 0 {
			continue
		}
		x, y := c.textA[c.a[i].Start:c.a[i].End], c.textB[c.b[k].Start:c.b[k].End]
		switch {
		case c.a[i].Hash == c.b[k].Hash:
			same++
		case max(len(x), len(y)) >= wordLeast:
			others++
			if similarWords(x, y) {
				similar++
			}
		}
	}
	return others >= othersTell && others*othersShare >= same && similar*similarAmong < others
}

func around(tokens []text.Token, i int) uint64 {
	return hashing.Mix(tokens[i-1].Hash) ^ tokens[i+1].Hash
}

// similarWords tells whether words begin and end alike, by half of the longer one. A number with another digit is another one.
func similarWords(x, y []byte) bool {
	for _, c := range x {
		if c >= '0' && c <= '9' {
			return false
		}
	}
	start, end := sameEnds(x, y)
	return 2*(start+end) >= max(len(x), len(y))
}

// sameEnds returns how many bytes two words have in common from their start on, and of the others to their end.
func sameEnds(x, y []byte) (start, end int) {
	shorter := min(len(x), len(y))
	for start < shorter && x[start] == y[start] {
		start++
	}
	for end < shorter-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	return start, end
}
