package advise

import (
	"context"

	"github.com/alike-dev/alike/internal/places"
)

// newWitness reads the texts of a sample as they are or, to strip them, without diacritics. O(bytes · log bytes).
func newWitness(ctx context.Context, s *Sample, strip bool, threads int) (*witness, error) {
	texts := s.texts()
	features, own, err := readRuns(ctx, texts, strip, threads)
	if err != nil {
		return nil, err
	}
	fair, rare := s.counted()
	counted := features[:len(s.Documents)]
	if fair != nil {
		if counted, _, err = readRuns(ctx, fair, strip, threads); err != nil {
			return nil, err
		}
	}
	many, most := commonFeatures(counted, rare, len(counted)/mostOf)
	common, ofMost := newFilter(many), newFilter(most)
	w := &witness{
		texts: texts, strip: strip, filled: make([]bool, len(texts)),
		runs: make([][]run, len(texts)), blocks: make([][]int, len(texts)), quoted: make([][]run, len(texts)), framed: make([][]uint8, len(texts)),
		numbers: make([]numbers, len(texts)),
		common:  commonShare(features, common),
	}
	err = each(ctx, len(texts), threads, func() func(int) {
		var scratch []uint64
		words := wordsOf(reading(strip))
		return func(i int) {
			w.numbers[i] = numbersOf(words, texts[i])
			w.runs[i], scratch = rareRuns(features[i][:own[i]], common, scratch)
			w.quoted[i], scratch = rareRuns(features[i][own[i]:], common, scratch)
			w.block(i, own[i])
			w.filled[i] = 2*len(w.runs[i]) < own[i]
			if own[i] <= framedMost {
				w.framed[i] = framedBy(features[i][:own[i]], w.runs[i], ofMost)
			}
			features[i] = nil
		}
	})
	return w, err
}

// look sets the cover of each pair.
func (w *witness) look(ctx context.Context, pairs []pair, threads int) error {
	return each(ctx, len(pairs), threads, func() func(int) {
		whole, inside := newEdits(reading(w.strip)), new(insides)
		var a, b []places.Hits
		var shares []float64
		return func(i int) {
			p := &pairs[i]
			a, b = places.Zeros(a, len(w.blocks[p.a])), places.Zeros(b, len(w.blocks[p.b]))
			hits(w.runs[p.a], w.runs[p.b], a, b)
			ofA, ofB := places.Covered(a, w.blocks[p.a], true, &shares), places.Covered(b, w.blocks[p.b], true, &shares)
			p.stands = max(places.Covered(a, w.blocks[p.a], false, &shares), places.Covered(b, w.blocks[p.b], false, &shares)) >= places.Stands
			p.cover = min(ofMore*max(ofA, ofB)+ofLess*min(ofA, ofB), 1)
			if w.templated(p) {
				if cover, told := whole.own(w, p); told {
					p.cover, p.own = cover, true
					return
				}
			}
			if min(len(a), len(b)) < blocksTell {
				p.cover = whole.cover(w.texts[p.a], w.texts[p.b])
				if w.filled[p.a] || w.filled[p.b] { // the same may be a template
					p.cover = min(p.cover, doubt)
				}
			}
			if p.cover > doubt && (numbersDiffer(&w.numbers[p.a], &w.numbers[p.b]) || inside.differ(w.runs[p.a], w.runs[p.b])) {
				p.cover = doubt
			}
		}
	})
}
