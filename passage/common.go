package passage

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
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
// to the caller's goroutine. O(n log n) for n tokens, of which each takes 40 bytes.
func Common(t *text.Tokenizer, texts [][]byte, least, most int) []Repeated {
	c := commons{}
	for _, doc := range texts {
		c.add(t.AppendTokens(nil, doc))
	}
	c.count(max(least, 1))
	return c.passages(texts, most)
}

// commons are the tokens of all texts, one after another, and the windows that begin at them.
type commons struct {
	tokens []text.Token
	ends   []int   // of the tokens of each text
	groups []int32 // of the window at a token: windows with the same tokens; -1: in few texts, or there is no window
	found  []windows
}

// windows are those with the same tokens.
type windows struct {
	first int // token
	texts int32
	of    int32 // passage, from 1 on; 0: none yet
}

func (c *commons) add(tokens []text.Token) {
	c.tokens = append(c.tokens, tokens...)
	c.ends = append(c.ends, len(c.tokens))
}

// of returns the text of a token.
func (c *commons) of(token int) int {
	at, _ := slices.BinarySearch(c.ends, token+1)
	return at
}

// count finds the windows that stand in at least so many texts.
func (c *commons) count(least int) {
	type place struct {
		hash  uint64
		token int
	}
	places := make([]place, 0, len(c.tokens))
	start := 0
	for _, end := range c.ends {
		for i := start; i+window <= end; i++ {
			h := uint64(window)
			for _, token := range c.tokens[i : i+window] {
				h = hashing.Mix(h ^ token.Hash)
			}
			places = append(places, place{h, i})
		}
		start = end
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.token, b.token)) })
	c.groups = slices.Repeat([]int32{-1}, len(c.tokens))
	for len(places) > 0 {
		n, in, last := 0, int32(0), -1
		for ; n < len(places) && places[n].hash == places[0].hash; n++ {
			if of := c.of(places[n].token); of != last {
				in, last = in+1, of
			}
		}
		if int(in) >= least {
			for _, p := range places[:n] {
				c.groups[p.token] = int32(len(c.found))
			}
			c.found = append(c.found, windows{first: places[0].token, texts: in})
		}
		places = places[n:]
	}
}

// passages joins windows that follow each other, the most frequent first.
func (c *commons) passages(texts [][]byte, most int) (all []Repeated) {
	order := make([]int32, len(c.found))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
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
		doc := texts[c.of(first)]
		all = append(all, Repeated{Text: doc[c.tokens[first].Start:c.tokens[end-1].End], Tokens: end - first, Texts: int(in)})
	}
	slices.SortStableFunc(all, func(a, b Repeated) int { return cmp.Compare(b.Texts*b.Tokens, a.Texts*a.Tokens) })
	return all[:min(len(all), most)]
}

// goesOn tells whether a passage with the windows of w goes on with the one at a token, which is in it from now on. taken
// is set if that is of another passage.
func (c *commons) goesOn(token int, w *windows, in *int32, taken *bool) bool {
	if token < 0 || token >= len(c.groups) || c.groups[token] < 0 || c.of(token) != c.of(w.first) {
		return false
	}
	next := &c.found[c.groups[token]]
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
