package passage

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/text"
)

// Repeated is a passage that several texts have.
type Repeated struct {
	Text   []byte // as the first of the texts has it
	Tokens int
	Texts  int // that have it
}

// Often is how many of so many texts have a passage that is worth to be shown: 3 at least, and one in 200.
func Often(texts int) int { return max(3, texts/200) }

// window is the least length of a passage that Common finds, in tokens.
const window = 8

// Common returns up to most passages of 8 tokens or more that stand in at least least of the texts: notices, menus,
// licences. Those with the most tokens, over all texts, come first; they do not overlap where they were found. A passage
// goes on as long as nine tenths of the texts that have the most frequent part of it go on with it. The tokenizer belongs
// to the caller's goroutine. O(n) for n tokens that are not repeated, O(n log n) for others; a token takes 12 bytes.
func Common(t *text.Tokenizer, texts [][]byte, least, most int) []Repeated {
	bytes := 0
	for _, doc := range texts {
		bytes += len(doc)
	}
	c := commons{windows: make([]uint64, 0, bytes/4)} // room for most: a grown slice is copied
	var hashes []uint64
	for _, doc := range texts {
		hashes = t.AppendHashes(hashes[:0], doc)
		c.add(hashes)
	}
	c.count(max(least, 1))
	var all []Repeated
	var tokens []text.Token
	for _, s := range c.stretches(most) {
		of := c.of(s.first)
		from := 0
		if of > 0 {
			from = c.ends[of-1]
		}
		tokens = t.AppendTokens(tokens[:0], texts[of]) // their places, of few texts: it takes several times as long
		passage := texts[of][tokens[s.first-from].Start:tokens[s.end-1-from].End]
		all = append(all, Repeated{Text: passage, Tokens: s.end - s.first, Texts: s.texts})
	}
	return all
}

// commons are the windows that begin at the tokens of all texts, one after another.
type commons struct {
	windows []uint64 // their hashes, and after count their numbers in found from 1 on; 0: in few texts, or there is no window
	ends    []int    // of the tokens of each text
	found   []windows
}

// windows are those with the same tokens.
type windows struct {
	first int // token
	texts int32
	of    int32 // passage, from 1 on; 0: none yet
}

func (c *commons) of(token int) int {
	at, _ := slices.BinarySearch(c.ends, token+1)
	return at
}

// Windows are hashed by a polynomial of the hashes of their tokens, so that the next hash follows from the last one.
const (
	base      = 0x9e3779b97f4a7c15
	baseTo2   = base * base % (1 << 64)
	baseTo4   = baseTo2 * baseTo2 % (1 << 64)
	baseToAll = baseTo4 * baseTo4 % (1 << 64) // to the power of window
)

// add appends a text by the hashes of its tokens.
func (c *commons) add(tokens []uint64) {
	h := uint64(0)
	for i, token := range tokens {
		h = h*base + token
		if i >= window {
			h -= tokens[i-window] * baseToAll
		}
		if i >= window-1 {
			c.windows = append(c.windows, h)
		}
	}
	for range min(len(tokens), window-1) {
		c.windows = append(c.windows, 0)
	}
	c.ends = append(c.ends, len(c.windows))
}

// count finds the windows that stand in at least so many texts.
func (c *commons) count(least int) {
	places := c.frequent(least)
	sorting.Func(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.token, b.token)) })
	clear(c.windows)
	for len(places) > 0 {
		n, in, last := 0, int32(0), -1
		for ; n < len(places) && places[n].hash == places[0].hash; n++ {
			if of := c.of(places[n].token); of != last {
				in, last = in+1, of
			}
		}
		if int(in) >= least {
			c.found = append(c.found, windows{first: places[0].token, texts: in})
			for _, p := range places[:n] {
				c.windows[p.token] = uint64(len(c.found))
			}
		}
		places = places[n:]
	}
}

// place is where a window begins, and the hash of its tokens.
type place struct {
	hash  uint64
	token int
}

// frequent returns the places of all windows that may stand in at least so many places, and of few others: hardly any
// are left to be sorted.
func (c *commons) frequent(least int) (places []place) {
	shift := 64 - bits.Len(uint(2*len(c.windows)))
	counts := make([]uint8, 1<<(64-shift)) // of windows by the first bits of their hashes
	for _, in := range c.each() {
		for _, h := range in {
			if n := &counts[h>>shift]; *n < math.MaxUint8 {
				*n++
			}
		}
	}
	least = min(least, math.MaxUint8)
	for start, in := range c.each() {
		for i, h := range in {
			if int(counts[h>>shift]) >= least {
				places = append(places, place{h, start + i})
			}
		}
	}
	return places
}

// each ranges over the windows of each text, and where they begin.
func (c *commons) each() iter.Seq2[int, []uint64] {
	return func(yield func(int, []uint64) bool) {
		start := 0
		for _, end := range c.ends {
			if !yield(start, c.windows[start:max(start, end-window+1)]) {
				return
			}
			start = end
		}
	}
}

// stretch is a passage: tokens of the first text that has it.
type stretch struct{ first, end, texts int }

// stretches joins windows that follow each other, the most frequent first, and returns the longest over all texts.
func (c *commons) stretches(most int) (all []stretch) {
	order := make([]int32, len(c.found))
	for i := range order {
		order[i] = int32(i)
	}
	sorting.Func(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(c.found[b].texts, c.found[a].texts), cmp.Compare(c.found[a].first, c.found[b].first))
	})
	for _, seed := range order {
		w := &c.found[seed]
		if w.of != 0 {
			continue
		}
		w.of = seed + 1
		first, last, in := w.first, w.first, w.texts
		before, behind := false, false // there is another passage there
		for !before && c.goesOn(first-1, w, &in, &before) {
			first--
		}
		for !behind && c.goesOn(last+1, w, &in, &behind) {
			last++
		}
		end := last + window
		if before {
			first += window - 1
		}
		if behind {
			end -= window - 1
		}
		if end-first < window {
			continue
		}
		all = append(all, stretch{first, end, int(in)})
	}
	sorting.Stable(all, func(a, b stretch) int { return cmp.Compare(b.texts*(b.end-b.first), a.texts*(a.end-a.first)) })
	return all[:min(len(all), most)]
}

// goesOn tells whether a passage with the windows of w goes on with the one at a token, which is in it from now on. taken
// is set if that is of another passage.
func (c *commons) goesOn(token int, w *windows, in *int32, taken *bool) bool {
	if token < 0 || token >= len(c.windows) || c.windows[token] == 0 || c.of(token) != c.of(w.first) {
		return false
	}
	next := &c.found[c.windows[token]-1]
	if next.of != 0 {
		*taken = next.of != w.of // or the text repeats itself
		return false
	}
	if 10*next.texts < 9*w.texts {
		return false
	}
	next.of, *in = w.of, min(*in, next.texts)
	return true
}
