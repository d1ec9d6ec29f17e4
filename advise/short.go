package advise

import (
	"math"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/text"
)

// A text of a few blocks, such as a title or a post, is one that a passage fills: blocks do not tell a copy of it from a
// sentence that both have. It is compared as a whole: the share of the longer text that need not be edited to get the
// other one. Noise, and words that one adds, take a part of that; of a sentence that stands in a longer text, or of another
// sentence of the same length, little is left.
const (
	blocksTell   = 6 // a text of fewer is compared as a whole,
	longerAtMost = 4 // if the other one is at most so many times as long
)

// edits compares short texts, for one goroutine.
type edits struct {
	reader runner
	chars  *text.Tokenizer
	a, b   []uint64

	stands map[uint64][]uint64 // where a character stands in the shorter text, as bits
	up     []uint64            // by place of the shorter text: the distance rises by one from the place before,
	down   []uint64            // or falls
	none   []uint64
}

func newEdits(o text.Options) *edits {
	chars, err := text.New(places.Options(o).Text)
	if err != nil {
		panic("advise: options that are valid are not: " + err.Error())
	}
	return &edits{chars: chars, stands: map[uint64][]uint64{}}
}

// cover returns the cover of a pair. Half of two texts in one language is the same by chance, or by one sentence that both
// have. A text that is half of a longer one, or more, may be cut from it, or a sentence of it: that is doubtful, the more so
// the less of the longer one it is.
func (e *edits) cover(a, b []byte) float64 {
	e.a, e.b = e.append(e.a[:0], a), e.append(e.b[:0], b)
	shorter, longer := e.a, e.b
	if len(longer) < len(shorter) {
		shorter, longer = longer, shorter
	}
	if len(shorter)*longerAtMost < len(longer) || len(shorter) == 0 {
		return 0
	}
	changed, within := e.distance(shorter, longer)
	same := 1 - float64(changed)/float64(len(longer))
	cover := same * noCopy / halfSame
	if same >= halfSame {
		cover = min(noCopy+(same-halfSame)*(surely-noCopy)/(surely-halfSame), 1)
	}
	if 2*len(shorter) >= len(longer) && 1-float64(within)/float64(len(shorter)) >= withinSame {
		cover = max(cover, noCopy+(doubt-noCopy)*float64(len(shorter))/float64(len(longer)))
	}
	return cover
}

const (
	halfSame   = 0.5
	withinSame = 0.6 // share of a text that is the same in a part of another one, of which it may be a cut
)

func (e *edits) append(dst []uint64, text []byte) []uint64 {
	if len(e.reader.part(text)) > 0 {
		text = e.reader.own
	}
	return e.chars.AppendHashes(dst, text)
}

// distance returns how many characters are put in, left out or changed, at least, between two texts, and between a and the
// part of b that is most like it. It is Myers's algorithm in the form of Hyyrö: bits say whether the distance rises or
// falls from one place of a to the next, for 64 places at once. O(len(a) · len(b) / 64).
func (e *edits) distance(a, b []uint64) (whole, part int) {
	return e.by(a, b, 1), e.by(a, b, 0)
}

// by returns the distance if so much, 0 or 1, is counted for each character of b before a part of it; and if that is 0, none
// behind it.
func (e *edits) by(a, b []uint64, before uint64) int {
	words := (len(a) + 63) / 64
	clear(e.stands)
	for i, c := range a {
		if e.stands[c] == nil {
			e.stands[c] = make([]uint64, words)
		}
		e.stands[c][i/64] |= 1 << (i % 64)
	}
	e.none, e.up, e.down = zeros(e.none, words), zeros(e.up, words), zeros(e.down, words)
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
