package shingle

import (
	"math"
	"slices"
	"testing"
)

func TestWeightsAreRoundedLogarithms(t *testing.T) {
	for _, n := range []uint64{2, 3, 10, 1000, 1_000_003, 1 << 40, math.MaxUint64} {
		r := NewRarities(n)
		for _, df := range []uint64{1, 2, 3, 7, n / 100, n / 3, n - 1, n} {
			if df == 0 {
				continue
			}
			exact := MostWeight * math.Log(float64(n)/float64(df)) / math.Log(float64(n))
			if _, half := math.Modf(exact); math.Abs(half-0.5) < 1e-9 {
				continue // floats do not tell
			}
			if want := max(1, math.Round(exact)); float64(r.Weight(df)) != want {
				t.Errorf("%d of %d documents: weight %d, want %v", df, n, r.Weight(df), want)
			}
		}
	}
	r := NewRarities(1)
	if w := r.Weight(1); w < 1 || w > MostWeight {
		t.Errorf("the only document's features weigh %d", w)
	}
}

func TestAFeatureStandsInTheSetAsOftenAsItWeighs(t *testing.T) {
	weights := &Weights{Name: "some", Of: func(feature uint64) uint8 { return uint8(feature % (MostWeight + 1)) }}
	plain, err := New(Options{N: 2})
	if err != nil {
		t.Fatal(err)
	}
	weighed, err := New(Options{N: 2, Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("one two three one two four five six one two three seven")
	want := 0
	set := Set(plain.AppendFeatures(nil, text))
	for _, f := range set {
		want += int(weights.Of(f))
	}
	got := Set(weighed.AppendFeatures(nil, text))
	if len(got) != want {
		t.Errorf("%d features, want the sum of all weights, %d", len(got), want)
	}
	for _, f := range set {
		if slices.Contains(got, f) != (weights.Of(f) > 0) {
			t.Errorf("feature %x of weight %d: is it among its copies?", f, weights.Of(f))
		}
	}
	if line := (Options{N: 2, Weights: weights}).String(); line != "text/v2 nfkc fold words n=2 idf=some unicode="+line[len(line)-len("15.0.0"):] {
		t.Errorf("line %q", line)
	}
	if _, err := ParseOptions("text/v2 nfkc fold words n=2 idf=exact"); err == nil {
		t.Error("a line with weights was read, which it does not hold")
	}
	if err := (Options{Hash: FNV1a32, Weights: weights}).Validate(); err == nil {
		t.Error("weights of sets hashed for another program were accepted")
	}
}

func TestCommonFeaturesCountNextToNothing(t *testing.T) {
	for documents, want := range map[uint64]uint64{0: 32, 1: 32, 3299: 32, 3300: 33, 1_000_000: 10_000} {
		if most := RareMost(documents); most != want {
			t.Errorf("%d documents: rare up to %d, want %d", documents, most, want)
		}
	}
	if RareWeight(1, RarestMost, RarestMost) != 1 {
		t.Error("what eight documents have is not rarest")
	}
	kept := 0
	for feature := range uint64(32_000) {
		if RareWeight(feature, 32, 32) != 1 {
			t.Fatalf("feature %d of 32 documents is not rare", feature)
		}
		kept += int(RareWeight(feature, 33, 32))
	}
	if kept < 800 || kept > 1200 {
		t.Errorf("%d of 32000 common features count, want about one in 32", kept)
	}
}
