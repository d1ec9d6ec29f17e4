package advise

import (
	"slices"

	"github.com/alike-dev/alike/internal/places"
)

// Texts that were made one from the other and then filled anew, such as horoscopes or reports of each month, share most of
// their passages, and have others in the same places. Copies have noise there, or lack something; what they ran into stands
// before or behind all that they share:
//
//	A   shared shared shared  own    shared shared      inside: both have a passage of their own between what they share
//	B   shared shared shared  other  shared shared
//
//	A   neighbour  shared shared shared shared          not inside
//	B   shared shared shared shared  other
//
// Whether such texts are copies nobody can say: they are doubtful.
const (
	insideLeast = 64 // rare runs of each text in such a passage,
	insideNoise = 8  // or so many times as many as noise mostly takes out in one place,
	insideShare = 10 // where all of these are one in so many of those of a text,
	insideEnds  = 8  // and one in so many of the runs that both have stands before them, and behind
)

// insides compares two texts: scratch of one goroutine.
type insides struct {
	has    []uint32 // by place of the first text: where the second one has the run, and one
	rare   []bool   // by place of the first text: a rare run begins there
	before []uint32 // by place of the second text: rare runs that begin before it
	gaps   []inside
	noise  []int
}

// inside is what both texts have for themselves between two runs that they share, and how many shared runs are before it.
type inside struct{ own, shared int }

// differ tells whether two texts have much of their own inside what they share.
func (s *insides) differ(a, b []run) bool {
	s.read(a, b)
	s.gaps, s.noise = s.gaps[:0], s.noise[:0]
	shared, alone, last := 0, 0, -1
	for at, rare := range s.rare {
		switch to := int(s.has[at]) - 1; {
		case !rare:
		case to < 0 || !s.goesOn(at) && (at == 0 || !s.goesOn(at-1)): // or by chance
			alone++
		default:
			if last >= 0 && to > last+1 && alone > 0 {
				own := min(alone, int(s.before[to]-s.before[last+1]))
				if s.gaps = append(s.gaps, inside{own, shared}); 0 < own && own < insideLeast {
					s.noise = append(s.noise, own)
				}
			}
			shared, alone, last = shared+1, 0, to
		}
	}
	least := insideLeast
	if len(s.noise) > 0 {
		slices.Sort(s.noise)
		least = max(least, insideNoise*s.noise[len(s.noise)/2])
	}
	all := 0
	for _, g := range s.gaps {
		if g.own >= least && min(g.shared, shared-g.shared)*insideEnds >= shared {
			all += g.own
		}
	}
	return all > 0 && all*insideShare >= min(len(a), len(b))
}

func (s *insides) read(a, b []run) {
	s.has = sharedPlaces(a, b, s.has)
	s.rare = places.Zeros(s.rare, len(s.has))
	for _, r := range a {
		s.rare[r.at] = true
	}
	end := uint32(0)
	for _, r := range b {
		end = max(end, r.at+1)
	}
	s.before = places.Zeros(s.before, int(end)+1)
	for _, r := range b {
		s.before[r.at+1] = 1
	}
	for at := range s.before[:end] {
		s.before[at+1] += s.before[at]
	}
}

// goesOn tells whether both texts have the runs at a place and the next one, one after the other.
func (s *insides) goesOn(at int) bool {
	return at+1 < len(s.has) && s.has[at] > 0 && s.has[at+1] == s.has[at]+1
}
