package advise

import (
	"context"

	"github.com/alike-dev/alike/internal/places"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/simjoin"
	"github.com/alike-dev/alike/text"
)

// In a short text that fills a template blocks do not tell: one has words of the text and words of the template, and noise in
// these looks like words of its own. There two texts are laid beside each other, character by character, and what stands
// beside something that many texts have, in either of them, does not count:
//
//	A   SMITH, Mary, of Leeds, passed awav peacefully at home
//	B   SMITH, Marv, of Leeds, passed away peacefully at home
//	    xxxxxxxxxxx    xxxxx                                      count; awav stands beside away
//
// Many are as many as elsewhere, or a quarter of the texts: where values are of short lists, all of them are in many texts,
// and those of a pair together tell. Values are short: what many texts have in longFrame characters and more is of one of
// several templates, as of shops. The smaller share is taken of those of which enough counts.
const (
	framedMost = 2048 // characters of such a text
	framedFrom = 0.33 // share of the runs of a text, on average, that many texts have, or half of those of one of two texts
	ownLeast   = 24   // that count, of which a share tells
	mostOf     = 4    // one in so many texts has what the template of most of them has
	longFrame  = 64   // characters that many texts have, one after the other, of which fewer than one in mostOf is of most

	digitsLeast = 6   // digits that tell,
	digitsSame  = 0.5 // if fewer are the same: of a series each one has its own number, date and price, and the same words

	meetFrom = 0.15 // Jaccard similarity of what is rare in two such texts, from which on they are looked at

	ownApart = 0.6 // share of them that are the same, below which two texts are none of each other,
	ownSure  = 0.8 // and from which on they are
)

// Bits of a character that stands in a run that many texts have.
const (
	ofMany = 1 << iota
	ofMost
	ofNone
	ofRelated // in one that enough of the texts have that are like this one
	masks     = 2
)

// framedBy tells of each character of a text, of such features, in which runs it stands: in all but those that are rare.
func framedBy(features []uint64, rare []run, most filter) []uint8 {
	starts := make([]uint8, len(features)) // of runs
	for _, r := range rare {
		starts[r.at] = ofNone
	}
	of := make([]uint8, len(features)+places.Chars-1)
	for at, is := range starts {
		if is == ofNone {
			continue
		}
		if is = ofMany; most.has(packed(features[at], 0) >> docBits) {
			is |= ofMost
		}
		for i := range places.Chars {
			of[at+i] |= is
		}
	}
	for at := 0; at < len(of); {
		end := at + 1
		for end < len(of) && (of[end] == 0) == (of[at] == 0) {
			end++
		}
		frame(of[at:end])
		at = end
	}
	return of
}

// frame marks the characters of a stretch that many texts have, if it is long and few of them are of most texts.
func frame(stretch []uint8) {
	few := 0
	for _, is := range stretch {
		if is == ofMany {
			few++
		}
	}
	if few < longFrame || few*mostOf < len(stretch)*(mostOf-1) {
		return
	}
	for i := range stretch {
		stretch[i] |= ofMost
	}
}

// templated tells whether a pair is of short texts of which a template is much.
func (w *witness) templated(p *pair) bool {
	return w.framed[p.a] != nil && w.framed[p.b] != nil && (w.someTemplates() || w.filled[p.a] || w.filled[p.b])
}

// someTemplates tells whether some of the texts is what many of them have.
func (w *witness) someTemplates() bool { return w.common >= framedFrom }

// alike counts characters that are laid beside each other, and the same.
type alike struct{ same, ofA, ofB, all int }

func (n *alike) add(same bool, beside places.Beside) {
	if n.all++; same {
		n.same++
	}
	if beside != places.OnlyB {
		n.ofA++
	}
	if beside != places.OnlyA {
		n.ofB++
	}
}

// cover returns the cover of two texts by their own characters.
func (n *alike) cover() float64 {
	share, shorter, longer := float64(n.same)/float64(n.all), min(n.ofA, n.ofB), max(n.ofA, n.ofB)
	switch {
	case share >= ownSure:
		return surely + (1-surely)*(share-ownSure)/(1-ownSure)
	case share >= ownApart:
		return noCopy + (surely-noCopy)*(share-ownApart)/(ownSure-ownApart)
	case shorter >= ownLeast && 2*shorter >= longer && float64(n.same) >= ownSure*float64(shorter): // a cut, perhaps
		return noCopy + (doubt-noCopy)*float64(shorter)/float64(longer)
	}
	return noCopy * share / ownApart
}

// besideEachOther lays two short texts beside each other, if neither is shorter than a run: visit gets two characters, whether
// they are the same, and in which runs either stands.
func (e *edits) besideEachOther(w *witness, p *pair, visit func(i, j int, same bool, in uint8, beside places.Beside)) {
	e.a, e.b = e.append(e.a[:0], w.texts[p.a]), e.append(e.b[:0], w.texts[p.b])
	inA, inB := w.framed[p.a], w.framed[p.b]
	if len(inA) != len(e.a) || len(inB) != len(e.b) {
		return
	}
	e.by.Align(e.a, e.b, func(i, j int, beside places.Beside) {
		visit(i, j, beside == places.Both && e.a[i] == e.b[j], inA[i]|inB[j], beside)
	})
}

// own returns the cover of two short texts by what is not of a template. told: enough is not.
func (e *edits) own(w *witness, p *pair) (cover float64, told bool) {
	var own [masks]alike
	var digits alike
	e.besideEachOther(w, p, func(i, j int, same bool, in uint8, beside places.Beside) {
		for m := range masks {
			if in>>m&1 == 0 {
				own[m].add(same, beside)
			}
		}
		if in&ofMost == 0 && (e.digits[e.a[i]] || e.digits[e.b[j]]) {
			digits.add(same, beside)
		}
	})
	cover = 1
	for _, n := range own {
		if n.all >= ownLeast {
			cover, told = min(cover, n.cover()), true
		}
	}
	if digits.all >= digitsLeast && float64(digits.same) < digitsSame*float64(digits.all) {
		cover = min(cover, noCopy)
	}
	return cover, told
}

// met returns the pairs, and those of short texts of a template that share what is rare in them: they may have too few runs
// that are rare to be found by these. Pairs are ascending.
func (w *witness) met(ctx context.Context, s *Sample, pairs []pair, threads int) ([]pair, error) {
	c := cut{tokens: text.Chars, n: 5, strip: w.strip}
	sets, err := setsOf(ctx, w.texts[:len(s.Documents)], c, threads)
	if err == nil {
		err = keepRare(ctx, s, c, sets, threads)
	}
	if err != nil {
		return nil, err
	}
	t, err := measure.NewThreshold(measure.Jaccard, meetFrom)
	if err != nil {
		return nil, err
	}
	known := len(pairs)
	for m := range simjoin.SelfJoin(sets, t) {
		p := pair{a: uint32(min(m.A, m.B)), b: uint32(max(m.A, m.B)), weight: 1}
		if w.framed[p.a] == nil || w.framed[p.b] == nil {
			continue
		}
		if _, is := find(pairs[:known], p.a, p.b); !is {
			pairs = append(pairs, p)
		}
	}
	sorting.Func(pairs, byDocuments)
	return pairs, nil
}
