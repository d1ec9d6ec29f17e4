package measure_test

import (
	"math"
	"strings"
	"testing"

	"github.com/alike-dev/alike/measure"
)

func TestNamesParseBack(t *testing.T) {
	for _, m := range measure.All() {
		if got, err := measure.Parse(m.String()); got != m || err != nil {
			t.Errorf("%v parses to %v, %v", m, got, err)
		}
	}
	_, err := measure.Parse("tanimoto")
	if err == nil || !strings.Contains(err.Error(), `"tanimoto": want one of jaccard, containment, max-containment, cosine, dice, overlap, weighted-jaccard`) {
		t.Errorf("error %v does not list the measures", err)
	}
	if got := measure.Measure(200).String(); got != "measure(200)" {
		t.Errorf("an unknown measure prints as %q", got)
	}
}

func TestOnlyContainmentIsDirected(t *testing.T) {
	for _, m := range measure.All() {
		if m.Symmetric() == (m == measure.Containment) {
			t.Errorf("%v is symmetric: %v", m, m.Symmetric())
		}
		if m.Symmetric() != (m.Similarity(2, 4, 5) == m.Similarity(2, 5, 4)) {
			t.Errorf("%v of 2 in 4 and 5, and of 2 in 5 and 4: %v, %v", m, m.Similarity(2, 4, 5), m.Similarity(2, 5, 4))
		}
	}
}

func TestSimilaritiesByHand(t *testing.T) {
	p := measure.Match{A: 3, B: 1, Intersection: 6, SizeA: 9, SizeB: 16}
	for m, want := range map[measure.Measure]float64{
		measure.Jaccard: 6. / 19, measure.WeightedJaccard: 6. / 19, measure.Containment: 6. / 9,
		measure.MaxContainment: 6. / 9, measure.Cosine: 0.5, measure.Dice: 12. / 25, measure.Overlap: 6,
	} {
		if got := p.Similarity(m); math.Abs(got-want) > 1e-15 {
			t.Errorf("%v is %v, want %v", m, got, want)
		}
		if got := m.Similarity(0, 0, 0); got != 0 {
			t.Errorf("%v of empty sets is %v", m, got)
		}
	}
	if got := measure.Containment.Similarity(6, 16, 9); got != 6./16 {
		t.Errorf("containment of the larger set is %v", got)
	}
}
