package advise

import (
	"bytes"

	"github.com/alike-dev/alike/shingle"
)

// Letters and posts that answer others quote these, in lines with a mark. An answer is no copy of what it quotes, and two
// answers to one letter are none of each other: what they share in quotations weighs nothing. A text whose own words are
// less than one part in ownShare, such as a letter passed on, is compared with all it has.
//
//	> Shall we meet on Friday?      quoted
//	Yes, at ten. I will bring …     its own
const (
	quotationMark = '>'
	ownShare      = 8
)

// runner makes the runs of texts, for one goroutine.
type runner struct {
	shingles *shingle.Shingler
	own      []byte // scratch
}

// read returns the runs of a text, those of its own words first. The other ones, from own on, stand in quotations.
func (r *runner) read(text []byte) (features []uint64, own int) {
	quoted := r.part(text)
	if len(quoted) == 0 {
		features = r.shingles.AppendFeatures(nil, text)
		return features, len(features)
	}
	features = r.shingles.AppendFeatures(nil, r.own)
	own = len(features)
	return r.shingles.AppendFeatures(features, quoted), own
}

// part returns the lines of a text that are quotations, none where nearly all are; own has the other ones.
func (r *runner) part(text []byte) (quoted []byte) {
	if bytes.IndexByte(text, quotationMark) < 0 {
		return nil
	}
	r.own = r.own[:0]
	for line := range bytes.Lines(text) {
		if rest := bytes.TrimLeft(line, " \t"); len(rest) > 0 && rest[0] == quotationMark {
			quoted = append(quoted, bytes.TrimLeft(rest, "> \t")...)
		} else {
			r.own = append(r.own, line...)
		}
	}
	if len(r.own)*ownShare < len(text) {
		return nil
	}
	return quoted
}
