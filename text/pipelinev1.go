package text

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// pipelineV1 is the pipeline of text/v1. It differs from steps in three ways: it folds
// after composing, with x/text/cases, which exchanges the cases of Cherokee; it
// normalises with x/text, which breaks up more than 30 marks in a row; and it ignores
// nothing.
type pipelineV1 struct {
	form        norm.Form
	normalise   bool
	fold        bool
	strip       bool
	folder      cases.Caser
	segments    norm.Iter
	front, back []byte // the current piece, and where the next step writes it
}

func newPipelineV1(o Options) *pipelineV1 {
	return &pipelineV1{
		form:      o.Normalize.form(),
		normalise: o.Normalize != None,
		fold:      !o.NoFold,
		strip:     o.StripDiacritics,
		folder:    cases.Fold(),
	}
}

func (p *pipelineV1) apply(piece []byte) []byte {
	p.front = append(p.front[:0], piece...)
	if p.normalise {
		p.renormalise(p.form)
	}
	if p.fold {
		p.foldCase()
	}
	if p.strip {
		p.renormalise(norm.NFD)
		p.front = dropMarks(p.front)
		p.renormalise(norm.NFC)
	}
	return p.front
}

func (p *pipelineV1) renormalise(f norm.Form) {
	// An Iter, because Form.Append allocates its working memory at every call.
	p.back = p.back[:0]
	for p.segments.Init(f, p.front); !p.segments.Done(); {
		p.back = append(p.back, p.segments.Next()...)
	}
	p.front, p.back = p.back, p.front
}

// maxFoldGrowth bounds by how much folding makes a text longer: ΐ, two bytes, becomes
// three code points of two bytes each.
const maxFoldGrowth = 3

func (p *pipelineV1) foldCase() {
	if need := maxFoldGrowth*len(p.front) + utf8.UTFMax; cap(p.back) < need {
		p.back = make([]byte, 2*need)
	}
	p.back = p.back[:cap(p.back)]
	n, _, err := p.folder.Transform(p.back, p.front, true)
	if err != nil {
		panic("text: case folding grew a text more than Unicode allows: " + err.Error())
	}
	p.front, p.back = p.back[:n], p.front
}

// dropMarks removes the non-spacing marks of b in place.
func dropMarks(b []byte) []byte {
	n := 0
	for i := 0; i < len(b); {
		r, w := utf8.DecodeRune(b[i:])
		if !unicode.Is(unicode.Mn, r) {
			n += copy(b[n:], b[i:i+w])
		}
		i += w
	}
	return b[:n]
}
