// Package passage finds the passages that two texts share word for word, with their places in
// both.
//
// Use it to show why two documents are alike. It compares two token sequences at a time and
// needs about 30 bytes a token; to find out which documents to compare, use packages lsh or
// simjoin.
//
// The passages are those of greedy string tiling (M. J. Wise, "String similarity
// via greedy string tiling and running Karp-Rabin matching", University of Sydney,
// 1993), exactly: the longest passage first, then the longest among the tokens
// that are left, and so on. Instead of Karp-Rabin hashing, whose cost explodes on
// repetitive texts, it works on a suffix array of both texts (G. Nong, S. Zhang,
// W. H. Chan, "Linear suffix array construction by almost pure induced-sorting",
// DCC 2009) with common prefix lengths (T. Kasai et al., "Linear-time
// longest-common-prefix computation in suffix arrays and its applications", CPM 2001).
// The texts alone determine the result, and it stays compatible.
package passage

import (
	"slices"

	"github.com/alike-dev/alike/text"
)

// Passage is a run of Len tokens that begins at token A of the first text and at token B of the
// second.
type Passage struct{ A, B, Len int }

// Shared returns the passages of at least minTokens tokens that texts a and b share, given as
// the hashes of their tokens in order. Longer passages come first, equally long ones in the
// order of a, then of b. Passages do not overlap, neither in a nor in b, and none can be made
// longer without overlapping an earlier one. A minTokens below 1 counts as 1. The texts
// together must have less than 2³¹ − 2 tokens.
//
// Near-linear for ordinary texts. At worst O(n + r·l) for n tokens in both texts, r
// different passage lengths and l places where a passage may begin: since passages
// of different lengths add up to at most n, r < 2√n, whatever the repetitions.
func Shared(a, b []uint64, minTokens int) []Passage {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	t := newTiling(a, b, max(minTokens, 1))
	pause, wait := 0, 0 // rounds to do without a walk, after walks that did not pay
	for {
		length := t.longest()
		if length < t.least {
			return t.passages
		}
		t.take(length)
		if wait > 0 {
			wait--
			continue
		}
		levels, finished := t.walk()
		switch {
		case finished:
			return t.passages
		case levels < worthwhile:
			pause = 2*pause + 1
		default:
			pause = 0
		}
		wait = pause
	}
}

// worthwhile is the number of lengths that a walk must complete to cost less than as many
// rounds.
const worthwhile = 4

// tiling is the state of the search. Text a, a separator, text b and a terminator
// are one sequence; a place is a position in it.
//
// There are two ways to continue, which give the same passages. A round looks at all
// candidates, the places where a passage may begin, in the order of their suffixes, so that the
// longest common run of two places is the minimum of the lcp between them. It finds the longest
// passage that is still free (longest) and takes all passages of that length (take). Its cost
// does not depend on how repetitive the texts are, but each length costs a round. A walk takes
// the places of a by their last known best, the largest first, and looks around each in suffix
// order. In ordinary texts that is a few steps a place; when it is more, the walk stops and a
// round follows.
type tiling struct {
	least    int32
	split    int32 // places from split on are in b
	passages []Passage

	place []int32 // candidates in suffix order
	lcp   []int32 // with the previous candidate
	best  []int32 // longest passage from here that is still free

	// room is the number of tokens from a place to the next taken one, or to the text's end. A
	// value above cap may be out of date, but then the true one is not below cap.
	room []int32
	cap  int32 // no passage is longer

	fromA, fromB []uint64 // scratch of take
	rank         []int32  // scratch of walk: where a candidate is in place
}

func newTiling(a, b []uint64, least int) *tiling {
	sequence, symbols := number(a, b)
	shorter := min(len(a), len(b))
	t := &tiling{
		least: int32(min(least, shorter+1)),
		split: int32(len(a) + 1),
		cap:   int32(shorter),
		place: suffixArray(sequence, symbols),
		best:  make([]int32, len(sequence)),
		room:  make([]int32, len(sequence)),
	}
	t.lcp = commonPrefixes(sequence, t.place)
	for i := range a {
		t.room[i] = int32(len(a) - i)
	}
	for i := range b {
		t.room[len(a)+1+i] = int32(len(b) - i)
	}
	return t
}

// number replaces tokens by small numbers: 0 is the terminator, 1 the separator.
// Equal tokens have equal numbers; their order does not matter.
func number(a, b []uint64) (sequence []int32, symbols int) {
	numbers := make(map[uint64]int32, max(len(a), len(b)))
	sequence = make([]int32, 0, len(a)+len(b)+2)
	add := func(text []uint64) {
		for _, token := range text {
			n, ok := numbers[token]
			if !ok {
				n = int32(len(numbers) + 2)
				numbers[token] = n
			}
			sequence = append(sequence, n)
		}
	}
	add(a)
	sequence = append(sequence, 1)
	add(b)
	sequence = append(sequence, 0)
	return sequence, len(numbers) + 2
}

// longest computes best for every candidate, drops those below least for good, since best never
// grows, and returns the largest best.
//
// The best match of a place in a with the places of b before it in suffix order is
//
//	max over those of min(room there, room here, every lcp between)
//
// This maximum of minima can be updated as one number on the way up, and so can that of the
// places after it on the way back.
func (t *tiling) longest() int32 {
	var reach [2]int32 // the reach of the places of a and of b passed so far
	for k, p := range t.place {
		side, room := t.side(p), min(t.room[p], t.cap)
		reach[0], reach[1] = min(reach[0], t.lcp[k]), min(reach[1], t.lcp[k])
		t.best[k] = min(reach[1-side], room)
		reach[side] = max(reach[side], room)
	}
	reach = [2]int32{}
	longest := int32(0)
	for k := len(t.place) - 1; k >= 0; k-- {
		p := t.place[k]
		side, room := t.side(p), min(t.room[p], t.cap)
		t.best[k] = max(t.best[k], min(reach[1-side], room))
		longest = max(longest, t.best[k])
		reach[side] = max(reach[side], room)
		reach[0], reach[1] = min(reach[0], t.lcp[k]), min(reach[1], t.lcp[k])
	}
	t.drop()
	return longest
}

// side is 0 for a place in a, 1 for one in b.
func (t *tiling) side(p int32) int {
	if p < t.split {
		return 0
	}
	return 1
}

// drop removes the candidates with a best below least.
func (t *tiling) drop() {
	n := 0
	between := t.cap
	for k, best := range t.best {
		between = min(between, t.lcp[k])
		if best >= t.least {
			t.place[n], t.lcp[n], t.best[n] = t.place[k], between, best
			n++
			between = t.cap
		}
	}
	t.place, t.lcp, t.best = t.place[:n], t.lcp[:n], t.best[:n]
}

// take takes all passages of the given length, which is the largest best.
func (t *tiling) take(length int32) {
	heads := t.collect(length)
	for _, entry := range t.fromA {
		a, class := int32(entry>>32), entry&(1<<32-1)
		if t.room[a] < length {
			continue // overlaps a passage taken just now
		}
		// Places of b that are overlapped stay so for every later place of a.
		head := heads[class]
		for head < heads[class+1] && t.room[int32(t.fromB[head])] < length {
			head++
		}
		heads[class] = head
		if head < heads[class+1] {
			t.mark(a, int32(t.fromB[head]), length)
		}
	}
	t.cap = length - 1
}

// collect gathers the candidates of that length: those of a as (place, class) ordered by place,
// those of b as (class, place) ordered by both. A class is a run of equal text. heads[c] …
// heads[c+1] of fromB belong to class c.
func (t *tiling) collect(length int32) (heads []int) {
	t.fromA, t.fromB = t.fromA[:0], t.fromB[:0]
	classes := uint64(0)
	common := int32(0) // with the previous candidate of that length
	for k, best := range t.best {
		common = min(common, t.lcp[k])
		if best < length {
			continue
		}
		if common < length {
			classes++
			heads = append(heads, len(t.fromB))
		}
		common = t.cap
		if p := t.place[k]; p < t.split {
			t.fromA = append(t.fromA, uint64(p)<<32|(classes-1))
		} else {
			t.fromB = append(t.fromB, (classes-1)<<32|uint64(p))
		}
	}
	slices.Sort(t.fromA)
	slices.Sort(t.fromB)
	return append(heads, len(t.fromB))
}

// mark takes the passage of that length at places p of a and q of b.
func (t *tiling) mark(p, q, length int32) {
	t.passages = append(t.passages, Passage{int(p), int(q - t.split), int(length)})
	t.fill(p, length)
	t.fill(q, length)
}

// fill sets room to 0 for length tokens from place p on, and reduces it before them. Places
// more than length before p keep their old room, but no later passage is long enough for that
// to matter.
func (t *tiling) fill(p, length int32) {
	clear(t.room[p : p+length])
	for q := p - 1; q >= max(0, p-length) && t.room[q] > p-q; q-- {
		t.room[q] = p - q
	}
}

// Span is a passage of two texts, with its places in bytes: from the first byte of its first
// token to the end of its last one.
type Span struct {
	Tokens       int
	StartA, EndA int
	StartB, EndB int
}

// InTexts returns the passages that [Shared] finds in the tokens of two texts. The tokenizer
// belongs to the caller's goroutine. Cost: that of tokenising and of Shared.
func InTexts(t *text.Tokenizer, a, b []byte, minTokens int) []Span {
	tokensA, tokensB := t.AppendTokens(nil, a), t.AppendTokens(nil, b)
	shared := Shared(hashes(tokensA), hashes(tokensB), minTokens)
	spans := make([]Span, len(shared))
	for i, p := range shared {
		last := p.Len - 1
		spans[i] = Span{
			Tokens: p.Len,
			StartA: tokensA[p.A].Start, EndA: tokensA[p.A+last].End,
			StartB: tokensB[p.B].Start, EndB: tokensB[p.B+last].End,
		}
	}
	return spans
}

func hashes(tokens []text.Token) []uint64 {
	h := make([]uint64, len(tokens))
	for i, t := range tokens {
		h[i] = t.Hash
	}
	return h
}
