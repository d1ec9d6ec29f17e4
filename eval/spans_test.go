package eval_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/alike-dev/alike/eval"
)

func ExampleSpans() {
	found := []eval.Span{{Document: "a", Start: 10, End: 20}, {Document: "b", Start: 0, End: 5}}
	truth := []eval.Span{{Document: "a", Start: 15, End: 25}}
	s := eval.Spans(found, truth)
	fmt.Println(s.Places.Right, "of", s.Places.Found, "right,", s.Places.Met, "of", s.Places.True, "met")
	fmt.Printf("bytes: precision %.3f recall %.3f\n", s.Bytes.Precision, s.Bytes.Recall)
	// Output:
	// 1 of 2 right, 1 of 1 met
	// bytes: precision 0.333 recall 0.500
}

// slowSpans scores by looking at every byte and at every pair of spans.
func slowSpans(found, truth []eval.Span) (s eval.SpanScores) {
	count := func(c *eval.PairScores, f, t bool) {
		switch {
		case f && t:
			c.TruePositives++
		case f:
			c.FalsePositives++
		case t:
			c.FalseNegatives++
		}
	}
	for _, d := range []string{"a", "b", "c"} {
		has := func(spans []eval.Span, at func(eval.Span) bool) bool {
			for _, s := range spans {
				if s.Document == d && at(s) {
					return true
				}
			}
			return false
		}
		any := func(eval.Span) bool { return true }
		count(&s.Documents, has(found, any), has(truth, any))
		for b := range uint64(40) {
			in := func(s eval.Span) bool { return s.Start <= b && b < s.End }
			count(&s.Bytes, has(found, in), has(truth, in))
		}
	}
	touching := func(spans, others []eval.Span) (n uint64) {
		for _, s := range spans {
			for _, o := range others {
				if s.Document == o.Document && s.Item == o.Item && max(s.Start, o.Start) < min(s.End, o.End) {
					n++
					break
				}
			}
		}
		return n
	}
	s.Places.Found, s.Places.True = uint64(len(found)), uint64(len(truth))
	s.Places.Right, s.Places.Met = touching(found, truth), touching(truth, found)
	return s
}

func TestSpansAreThoseOfTheSlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() (spans []eval.Span) {
		for range r.IntN(12) {
			start := r.Uint64N(30)
			spans = append(spans, eval.Span{Document: string("abc"[r.IntN(3)]), Item: string("xy"[r.IntN(2)]), Start: start, End: start + r.Uint64N(9)})
		}
		return spans
	}
	for range 3000 {
		found, truth := random(), random()
		got, want := eval.Spans(found, truth), slowSpans(found, truth)
		for _, s := range []struct{ got, want eval.PairScores }{{got.Documents, want.Documents}, {got.Bytes, want.Bytes}} {
			if s.got.TruePositives != s.want.TruePositives || s.got.FalsePositives != s.want.FalsePositives || s.got.FalseNegatives != s.want.FalseNegatives {
				t.Fatalf("%v in %v: %+v, not %+v", found, truth, s.got, s.want)
			}
		}
		p, q := got.Places, want.Places
		if p.Found != q.Found || p.Right != q.Right || p.True != q.True || p.Met != q.Met {
			t.Fatalf("%v in %v: %+v, not %+v", found, truth, p, q)
		}
		if len(found) == 0 && p.Precision != 1 || len(truth) == 0 && p.Recall != 1 || math.IsNaN(p.F1) {
			t.Fatalf("%+v", p)
		}
	}
}
