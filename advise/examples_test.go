package advise

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// sampleWith is a sample of texts whose names are their numbers.
func sampleWith(texts []string) *Sample {
	c := NewCollector(0)
	for i, text := range texts {
		c.Add(fmt.Append(nil, i), []byte(text), uint64(i))
	}
	return c.Sample(1)
}

// Texts share between all and nothing with others, so the witness cannot part them. Whoever calls two texts the same
// that share most of their words can.
func TestExamplesDecideWhereTheDataDoNotTell(t *testing.T) {
	texts, kept := gradual(60)
	same := func(a, b string) bool {
		x, y := atoi(a), atoi(b)
		return x/len(kept) == y/len(kept) && min(kept[x%len(kept)], kept[y%len(kept)]) >= 75
	}
	s := sampleWith(texts)
	ctx := context.Background()
	before, err := Of(ctx, s, Options{Threads: 2})
	if err != nil || before.Told {
		t.Fatalf("%+v: %v", before, err)
	}
	o := Options{Threads: 2}
	for _, q := range before.Questions(40, func(_, _ string) bool { return false }) {
		o.Examples = append(o.Examples, Example{q.A, q.B, same(q.A, q.B)})
	}
	a, err := Of(ctx, s, o)
	if err != nil || !a.Told || a.Examples != 40 {
		t.Fatalf("%+v: %v", a, err)
	}
	var article []int // texts that are the same have one number
	for i := range texts {
		article = append(article, i)
		if kept[i%len(kept)] >= 75 {
			article[i] = -1 - i/len(kept)
		}
	}
	pairs, right, all := found(t, texts, article, a.Chosen)
	f1, row := fMeasure(float64(right)/float64(pairs), float64(right)/float64(all), 1), a.Rows[0]
	if f1 < 0.9 || row.F1From > row.F1 || row.F1To < row.F1 || f1 < row.F1From-0.05 || f1 > row.F1To+0.05 {
		t.Errorf("%s has F1 %.3f, expected %.3f (%.3f to %.3f)", a.Chosen, f1, row.F1, row.F1From, row.F1To)
	}
	if again, err := Of(ctx, s, o); err != nil || !reflect.DeepEqual(again.Rows, a.Rows) {
		t.Errorf("another time it says %+v, not %+v: %v", again.Rows, a.Rows, err)
	}
	o.Precision = 0.99
	strict, err := Of(ctx, s, o)
	if err != nil || !strict.Told || strict.Rows[0].Wrong > 0.01 {
		t.Errorf("%+v: %v", strict.Rows[0], err)
	}
}

// gradual makes texts that keep so many per cent of another one.
func gradual(articles int) (texts []string, kept []int) {
	kept = []int{100, 90, 80, 60, 50, 40}
	w := newWriter(5)
	for range articles {
		texts = append(texts, w.shares(kept)...)
	}
	return texts, kept
}

func TestTooFewExamplesLeaveItToTheWitness(t *testing.T) {
	texts, _ := corpusOf(7, 60, 0.12, 0)
	s := sampleWith(texts)
	want, err := Of(context.Background(), s, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Threads: 2, Examples: []Example{{"0", "1", true}, {"0", "2", false}, {"1", "5", false}, {"no such", "0", true}, {"3", "3", true}}}
	got, err := Of(context.Background(), s, o)
	if err != nil || got.Examples != 0 || !reflect.DeepEqual(got.Rows, want.Rows) {
		t.Errorf("%+v: %v", got, err)
	}
	if lacks := s.Lacks(o.Examples); !reflect.DeepEqual(lacks, []string{"no such"}) {
		t.Errorf("it lacks %q", lacks)
	}
}

func TestTheCurveOfExamplesIsThatTheyWereDrawnFrom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	want := curve{0.4, 0.1, []float64{0, 1.5}}
	var x []float64
	var same []bool
	for range 5000 {
		x = append(x, random.Float64())
		same = append(same, random.Float64() < want.at(x[len(x)-1]))
	}
	got, _ := fitCurve(x, same)
	for _, at := range []float64{0.1, 0.3, 0.4, 0.5, 0.9} {
		if math.Abs(got.at(at)-want.at(at)) > 0.03 {
			t.Errorf("at %v it is %.3f, want %.3f", at, got.at(at), want.at(at))
		}
	}
	parted, _ := fitCurve([]float64{0.1, 0.2, 0.3, 0.7, 0.8, 0.9}, []bool{false, false, false, true, true, true})
	if p := parted.at(0.5); math.Abs(p-0.5) > 0.01 || parted.at(0.2) > 0.2 || parted.at(0.8) < 0.8 {
		t.Errorf("%+v", parted)
	}
}
