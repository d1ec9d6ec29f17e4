package advise

import (
	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/text"
)

// A text of a few blocks, such as a title or a post, is one that a passage fills: blocks do not tell a copy of it from a
// sentence that both have. It is compared as a whole: the share of the longer text that need not be edited to get the
// other one. Noise, and words that one adds, take a part of that; of a sentence that stands in a longer text, or of another
// sentence of the same length, little is left.
const (
	blocksTell   = places.BlocksTell   // a text of fewer is compared as a whole,
	longerAtMost = places.LongerAtMost // if the other one is at most so many times as long
)

// edits compares short texts, for one goroutine.
type edits struct {
	reader runner
	chars  *text.Tokenizer
	digits map[uint64]bool
	a, b   []uint64
	by     places.Edits
}

func newEdits(o text.Options) *edits {
	chars, err := text.New(places.Options(o).Text)
	if err != nil {
		panic("advise: options that are valid are not: " + err.Error())
	}
	e := &edits{chars: chars, digits: map[uint64]bool{}}
	for _, digit := range chars.AppendHashes(nil, []byte("0123456789")) {
		e.digits[digit] = true
	}
	return e
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
	changed, within := e.by.Distance(shorter, longer)
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
