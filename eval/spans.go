package eval

import (
	"cmp"
	"slices"
	"sort"

	"github.com/alike-dev/alike/internal/sorting"
)

// Span is a place in a document where something was found, or truly is: its bytes from Start to End. An Item names what
// it is; two spans are about the same only if they have the same one.
type Span struct {
	Document, Item string
	Start, End     uint64 // Start ≤ End
}

// SpanScores says how well found spans agree with true ones.
type SpanScores struct {
	Documents PairScores  `json:"documents"` // those that have a span, whatever its item
	Bytes     PairScores  `json:"bytes"`     // those that are in a span, whatever its item; each counts once
	Places    PlaceScores `json:"places"`    // the spans themselves
}

// PlaceScores counts spans that overlap. Several found ones may overlap one true one.
type PlaceScores struct {
	Precision float64 `json:"precision"` // Right / Found; 1 if nothing was found
	Recall    float64 `json:"recall"`    // Met / True; 1 if there is nothing to find
	F1        float64 `json:"f1"`        // harmonic mean of both
	Found     uint64  `json:"found"`
	Right     uint64  `json:"right"` // found spans that overlap a true one of the same document and item
	True      uint64  `json:"true"`
	Met       uint64  `json:"met"` // true spans that a found one overlaps
}

// Spans scores found spans against the truth. Empty spans overlap nothing. O(n log n) for n spans.
func Spans(found, truth []Span) SpanScores {
	var s SpanScores
	f, t := unions(found, false), unions(truth, false)
	for key, of := range f {
		both := overlap(of, t[key])
		s.Bytes.TruePositives += both
		s.Bytes.FalsePositives += length(of) - both
		if _, is := t[key]; is {
			s.Documents.TruePositives++
		} else {
			s.Documents.FalsePositives++
		}
	}
	for key, of := range t {
		s.Bytes.FalseNegatives += length(of) - overlap(of, f[key])
		if _, is := f[key]; !is {
			s.Documents.FalseNegatives++
		}
	}
	s.Documents.score()
	s.Bytes.score()
	p := &s.Places
	p.Found, p.True = uint64(len(found)), uint64(len(truth))
	p.Right, p.Met = touching(found, unions(truth, true)), touching(truth, unions(found, true))
	p.Precision, p.Recall = ratio(whole(p.Right), whole(p.Found)), ratio(whole(p.Met), whole(p.True))
	if sum := p.Precision + p.Recall; sum > 0 {
		p.F1 = 2 * p.Precision * p.Recall / sum
	}
	return s
}

// stretch is bytes from start to end.
type stretch struct{ start, end uint64 }

type about struct{ document, item string }

// unions returns the bytes that spans of a document, or of a document and item, cover: ascending and apart. It has
// documents that have only empty spans too.
func unions(spans []Span, byItem bool) map[about][]stretch {
	of := map[about][]stretch{}
	for _, s := range spans {
		key := about{document: s.Document}
		if byItem {
			key.item = s.Item
		}
		of[key] = append(of[key], stretch{s.Start, s.End})
	}
	for key, all := range of {
		all = slices.DeleteFunc(all, func(s stretch) bool { return s.start == s.end })
		sorting.Func(all, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
		joined := all[:0]
		for _, s := range all {
			if n := len(joined); n > 0 && s.start <= joined[n-1].end {
				joined[n-1].end = max(joined[n-1].end, s.end)
				continue
			}
			joined = append(joined, s)
		}
		of[key] = joined
	}
	return of
}

func length(of []stretch) (n uint64) {
	for _, s := range of {
		n += s.end - s.start
	}
	return n
}

// overlap returns the number of bytes that are in both.
func overlap(a, b []stretch) (n uint64) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if start, end := max(a[i].start, b[j].start), min(a[i].end, b[j].end); start < end {
			n += end - start
		}
		if a[i].end < b[j].end {
			i++
		} else {
			j++
		}
	}
	return n
}

// touching returns the number of spans that share a byte with what others cover.
func touching(spans []Span, others map[about][]stretch) (n uint64) {
	for _, s := range spans {
		of := others[about{s.Document, s.Item}]
		at := sort.Search(len(of), func(i int) bool { return of[i].end > s.Start })
		if at < len(of) && max(of[at].start, s.Start) < min(of[at].end, s.End) {
			n++
		}
	}
	return n
}
