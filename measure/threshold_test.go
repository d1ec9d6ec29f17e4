package measure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func must(t testing.TB, m Measure, value float64) Threshold {
	t.Helper()
	th, err := NewThreshold(m, value)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func TestThresholdIsTheShortestDecimalForm(t *testing.T) {
	for _, c := range []struct {
		in       float64
		num, den uint64
		text     string
	}{
		{0.8, 4, 5, "0.8"},
		{1, 1, 1, "1"},
		{0.5, 1, 2, "0.5"},
		{0.05, 1, 20, "0.05"},
		{0.1, 1, 10, "0.1"},
		{0.999999999, 999999999, 1000000000, "0.999999999"},
		{1e-9, 1, 1000000000, "0.000000001"},
		{0.333333333, 333333333, 1000000000, "0.333333333"},
	} {
		for _, m := range All() {
			if m == Overlap {
				continue
			}
			got := must(t, m, c.in)
			if got != (Threshold{m, c.num, c.den}) {
				t.Errorf("%v of %v is %d/%d, want %d/%d", m, c.in, got.num, got.den, c.num, c.den)
			}
			if got.String() != m.String()+">="+c.text || got.Float() != c.in || got.Measure() != m {
				t.Errorf("%v of %v prints as %s and is %v", m, c.in, got, got.Float())
			}
		}
	}
}

func TestThresholdRefusesWhatItCannotHold(t *testing.T) {
	for _, c := range []struct {
		measure Measure
		in      float64
		want    string
	}{
		{Jaccard, 0, "out of range"},
		{Jaccard, math.Copysign(0, -1), "out of range"},
		{Cosine, -0.5, "out of range"},
		{Dice, 1.0000001, "out of range"},
		{Containment, math.NaN(), "out of range"},
		{Jaccard, math.Inf(1), "out of range"},
		{Jaccard, math.SmallestNonzeroFloat64, "at most 9"},
		{Jaccard, 0.30000000000000004, "has 17 decimals: round it to at most 9"},
		{MaxContainment, 1.5e-9, "has 10 decimals"},
		{Overlap, 0, "whole number from 1"},
		{Overlap, 0.8, "whole number from 1"},
		{Overlap, 2.5, "whole number from 1"},
		{Overlap, -3, "whole number from 1"},
		{Overlap, math.NaN(), "whole number from 1"},
		{Overlap, math.Inf(1), "whole number from 1"},
		{Overlap, 1 << 54, "whole number from 1"},
		{numberOfKinds << kindAt, 0.8, "unknown measure("},
	} {
		_, err := NewThreshold(c.measure, c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("NewThreshold(%v, %v): error %v, want one with %q", c.measure, c.in, err, c.want)
		}
	}
}

func TestThresholdsParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th, _ := anyThreshold(t)
		if !slices.Contains(All(), th.measure) {
			t.Skip("a measure without a name")
		}
		if got, err := ParseThreshold(th.String()); got != th || err != nil {
			t.Fatalf("%s parses to %v, %v", th, got, err)
		}
	})
	for line, want := range map[string]string{
		"":              "want a measure, >= and a number",
		"0.8":           "want a measure, >= and a number",
		"jaccard>0.8":   "want a measure, >= and a number",
		"like>=0.8":     "unknown measure \"like\": want one of jaccard",
		"jaccard>=x":    "\"x\" is not a number",
		"jaccard>=1.2":  "out of range",
		"overlap>=0.5":  "whole number",
		"jaccard>= 0.8": "not a number",
	} {
		if _, err := ParseThreshold(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", line, err, want)
		}
	}
}

func TestOnlyContainmentHasAnotherUndirectedThreshold(t *testing.T) {
	for _, m := range All() {
		th, want := must(t, m, 1), m
		if m == Containment {
			want = MaxContainment
		}
		if got := th.Undirected(); got != must(t, want, 1) {
			t.Errorf("%v undirected is %v", th, got)
		}
	}
}
