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
		least = min(least, distance)
	}
	if before == 0 {
		return least
	}
	return distance
}

// Zeros returns n zeros, in the memory of s if they fit.
func Zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
