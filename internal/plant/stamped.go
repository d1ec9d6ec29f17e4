package plant

import (
	"math/rand/v2"
	"strconv"
)

// Stamped writes texts in place, one after the other, for streams of any length at no cost. A text
// has random words, and each fifth word is a number, its stamp. Texts share shingles of five words
// only where stamps are the same. It belongs to one goroutine.
type Stamped struct {
	text   []byte
	stamps []int // their offsets
}

// NewStamped returns a maker of texts of size bytes, or a few more: always the same one.
func NewStamped(size int) *Stamped {
	s, random := &Stamped{}, rand.New(rand.NewPCG(1, 1))
	for i := 0; len(s.text) < size; i++ {
		if i%5 == 0 {
			s.stamps = append(s.stamps, len(s.text))
			s.text = append(s.text, "000000000 "...)
			continue
		}
		for range 2 + random.IntN(8) {
			s.text = append(s.text, 'a'+byte(random.IntN(26)))
		}
		s.text = append(s.text, ' ')
	}
	return s
}

// Text writes number n, from 0 on and below 900 million, into a share of the stamps; the others
// keep their initial values. The text is valid until the next call.
func (s *Stamped) Text(n int, share float64) []byte {
	digits := strconv.AppendInt(nil, int64(n)+100_000_000, 10)
	for _, at := range s.stamps[:int(share*float64(len(s.stamps)))] {
		copy(s.text[at:], digits)
	}
	return s.text
}
