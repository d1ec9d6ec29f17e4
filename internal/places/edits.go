package places

import (
	"math"
	"slices"
)

// Edits finds out how many characters two short texts differ by, for one goroutine. The zero value is ready.
type Edits struct {
	stands map[uint64][]uint64 // where a character stands in the shorter text, as bits
	up     []uint64            // by place of the shorter text: the distance rises by one from the place before,
	down   []uint64            // or falls
	none   []uint64

	keeps      bool     // what up and down are at each place of b is kept:
	ups, downs []uint64 // one after the other
}

// Distance returns how many characters are put in, left out or changed, at least, between two texts, and between a and the
// part of b that is most like it. It is Myers's algorithm in the form of Hyyrö: bits say whether the distance rises or
// falls from one place of a to the next, for 64 places at once. O(len(a) · len(b) / 64).
func (e *Edits) Distance(a, b []uint64) (whole, part int) {
	return e.by(a, b, 1), e.by(a, b, 0)
}

// by returns the distance if so much, 0 or 1, is counted for each character of b before a part of it; and if that is 0, none
// behind it.
func (e *Edits) by(a, b []uint64, before uint64) int {
	words := (len(a) + 63) / 64
	if e.stands == nil {
		e.stands = map[uint64][]uint64{}
	}
	clear(e.stands)
	for i, c := range a {
		if e.stands[c] == nil {
			e.stands[c] = make([]uint64, words)
		}
		e.stands[c][i/64] |= 1 << (i % 64)
	}
	e.none, e.up, e.down = Zeros(e.none, words), Zeros(e.up, words), Zeros(e.down, words)
	for w := range e.up {
		e.up[w] = math.MaxUint64
	}
	distance, last := len(a), uint64(1)<<((len(a)-1)%64)
	least := distance
	for _, c := range b {
		stands := e.stands[c]
		if stands == nil {
			stands = e.none
		}
		rises, falls := before, uint64(0) // from one place of b to the next, where a begins
		for w, equal := range stands {
			up, down := e.up[w], e.down[w]
			upright := equal | down
			equal |= falls
			level := (((equal & up) + up) ^ up) | equal
			toUp, toDown := down|^(level|up), up&level
			if w == words-1 {
				if toUp&last != 0 {
					distance++
				}
				if toDown&last != 0 {
					distance--
				}
			}
			up, down = toUp<<1|rises, toDown<<1|falls
			rises, falls = toUp>>63, toDown>>63
			e.up[w], e.down[w] = down|^(upright|up), up&upright
		}
		if e.keeps {
			e.ups, e.downs = append(e.ups, e.up...), append(e.downs, e.down...)
		}
		least = min(least, distance)
	}
	if before == 0 {
		return least
	}
	return distance
}

// Beside says which of two texts have a character where they are laid beside each other.
type Beside int

const (
	Both  Beside = iota // the same, or a changed one
	OnlyA               // b lacks it
	OnlyB
)

// Align lays two texts that are not empty beside each other with the fewest edits, and visits their places, the last ones
// first. Where one text lacks a character, its place is that before which it is lacking. O(len(a) · len(b) / 64).
func (e *Edits) Align(a, b []uint64, visit func(i, j int, with Beside)) {
	e.ups, e.downs, e.keeps = e.ups[:0], e.downs[:0], true
	e.by(a, b, 1)
	e.keeps = false
	words, i, j := len(e.up), len(a), len(b)
	in := func(of []uint64, i, j int) bool { return of[(j-1)*words+(i-1)/64]>>((i-1)%64)&1 == 1 }
	for i > 0 || j > 0 {
		switch {
		case j == 0 || i > 0 && in(e.ups, i, j):
			i--
			visit(i, min(j, len(b)-1), OnlyA)
		case i == 0 || j > 1 && in(e.downs, i, j-1):
			j--
			visit(min(i, len(a)-1), j, OnlyB)
		default:
			i, j = i-1, j-1
			visit(i, j, Both)
		}
	}
}

// Zeros returns n zeros, in the memory of s if they fit.
func Zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
