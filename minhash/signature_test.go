package minhash

import (
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Signatures are part of the format; they must never change.
func TestSignaturesArePinned(t *testing.T) {
	sets := [][]uint64{{1, 2, 3}, {}, nil}
	for x := range uint64(3000) {
		sets[2] = append(sets[2], x<<32)
	}
	for _, c := range []struct {
		line string
		want [3]string
	}{
		{"oph k=6", [3]string{
			"d812937d8cfbf277253149470bfe21e3f1027d4a17f493f6",
			"ffffffffffffffffffffffffffffffffffffffffffffffff",
			"02e02bff06711abc2a19907b4a5f80e9a6c5d37c4f38845b",
		}},
		{"oph k=128 bits=1", [3]string{
			"a4b886ccbd049aefa299f0249f83a8ad",
			"ffffffffffffffffffffffffffffffff",
			"049c197033291c61fefe1d98dc9337ac",
		}},
		{"oph k=16 bits=8 seed=2", [3]string{
			"b99bf9c4b5d10e0482f5086ad9d17b30",
			"ffffffffffffffffffffffffffffffff",
			"81173246b8f907462e3dafb96ed4ed66",
		}},
		{"oph k=700 bits=1", [3]string{
			"a6da2ac5592f8fc0ea89b8d5759c70a10f922758703df9e63c27e942560e84678ae5d5ed4a730b7beaa8028ddcda03e22e5a3a7466c55dd59595e37b40a3d8d3a8cac59ea9c057e48b4621d60f44bb6a8bb82b383c78fa07",
			"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0f",
			"640d88357664e4f2250f9d0704c7440a0482d1ca75d9e290f02857fb5218a5cbed4e982cdb1140d81dca9c02cffeb4e3eb67b2c7ad665f15fb70a5fdae84ea23f40fc3e1e767f04fd9410fb15555a68c8945c71a14257903",
		}},
		{"kmins k=6", [3]string{
			"7419b28f9057370ed0e2fe91b70258108c7f350105b04e8e",
			"ffffffffffffffffffffffffffffffffffffffffffffffff",
			"803cf42bae4f59f036013fbdc08c6ded6f7c4e8a2f223231",
		}},
		{"kmins k=20 bits=4 seed=2", [3]string{
			"6774f46d49afc082949e",
			"ffffffffffffffffffff",
			"825689b3f32ac7539cf5",
		}},
		{"kmins k=6 family=xor", [3]string{
			"74d4f9a950013efe02302be58d77aea8ca83e2508261c46d",
			"ffffffffffffffffffffffffffffffffffffffffffffffff",
			"267ab0aacd9a18af5928414207c1b5cda0251b0c9bcdb5be",
		}},
		{"kmins k=20 bits=4 seed=2 family=xor", [3]string{
			"968fdaf7df35293a6960",
			"ffffffffffffffffffff",
			"16eefd2f7b80e5347c32",
		}},
	} {
		s := mustParse(t, c.line)
		sk, sig := s.NewSketcher(), make([]uint32, s.K())
		for i, set := range sets {
			sk.Sketch(sig, set)
			if got := hex.EncodeToString(s.AppendBinary(nil, sig)); got != c.want[i] {
				t.Errorf("%s, set %d:\n got %s\nwant %s", c.line, i, got, c.want[i])
			}
		}
	}
}

func TestSketchDependsOnTheSetOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheme(t, 200)
		features := drawFeatures(t, 300)
		other := slices.Clone(features)
		for range rapid.IntRange(0, 20).Draw(t, "repeats") {
			if len(features) > 0 {
				other = append(other, rapid.SampledFrom(features).Draw(t, "repeat"))
			}
		}
		slices.Reverse(other)
		a, b := make([]uint32, s.K()), make([]uint32, s.K())
		sk := s.NewSketcher()
		sk.Sketch(a, features)
		before := slices.Clone(other)
		sk.Sketch(b, other)
		if s.Equal(a, b) != s.K() {
			t.Fatalf("%s: order or repeats of %d features change the signature", s, len(features))
		}
		if !slices.Equal(other, before) {
			t.Fatalf("%s: the features were changed", s)
		}
	})
}

func TestFewBitsAreTheLowBitsOfMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheme(t, 100)
		full := s
		full.bits = 32
		features := drawFeatures(t, 300)
		few, many := make([]uint32, s.K()), make([]uint32, s.K())
		s.NewSketcher().Sketch(few, features)
		full.NewSketcher().Sketch(many, features)
		for i := range many {
			if few[i] != many[i]&s.mask() {
				t.Fatalf("%s: component %d is %x, want the low bits of %x", s, i, few[i], many[i])
			}
		}
	})
}

func TestSketchDoesNotAllocateOnceWarm(t *testing.T) {
	for _, line := range []string{"oph", "oph k=600", "kmins", "kmins family=xor"} {
		s := mustParse(t, line)
		sk, sig := s.NewSketcher(), make([]uint32, s.K())
		repeated := slices.Repeat(randomSet(3, 1), 1000)
		sets := [][]uint64{randomSet(3000, 1), nil, randomSet(1, 2), randomSet(40, 3), randomSet(400, 4), repeated}
		sketch := func() {
			for _, set := range sets {
				sk.Sketch(sig, set)
			}
		}
		sketch()
		if n := testing.AllocsPerRun(20, sketch); n != 0 {
			t.Errorf("%s: %g allocations", line, n)
		}
	}
}

func TestEstimateCorrectsForAccidents(t *testing.T) {
	for _, c := range []struct {
		line  string
		equal int
		want  float64
	}{
		{"oph k=10", 8, 0.8},
		{"oph k=10", 0, 0},
		{"oph k=10", 10, 1},
		{"oph k=100 bits=1", 50, 0},
		{"oph k=100 bits=1", 30, 0}, // clipped
		{"oph k=100 bits=1", 75, 0.5},
		{"oph k=100 bits=1", 100, 1},
		{"oph k=64 bits=2", 40, 0.5},
	} {
		if got := mustParse(t, c.line).Estimate(c.equal); got != c.want {
			t.Errorf("%s: %d agree, estimate %g, want %g", c.line, c.equal, got, c.want)
		}
	}
}

func TestStandardErrorOfFewBitsIsLarger(t *testing.T) {
	if got, want := mustParse(t, "oph k=100").StandardError(0.5), 0.05; math.Abs(got-want) > 1e-12 {
		t.Errorf("32 bits: %g, want %g", got, want)
	}
	// p = 3/4: √(3/16 / 100) / (1/2)
	if got, want := mustParse(t, "oph k=100 bits=1").StandardError(0.5), math.Sqrt(3)/20; math.Abs(got-want) > 1e-12 {
		t.Errorf("1 bit: %g, want %g", got, want)
	}
}

func TestMinEqualIsTheFewestThatReachTheThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheme(t, 300)
		threshold := rapid.OneOf(rapid.Float64Range(-0.1, 1.1), rapid.SampledFrom([]float64{0, 0.5, 0.8, 1})).Draw(t, "threshold")
		want := 0
		for want <= s.K() && s.Estimate(want) < threshold {
			want++
		}
		if got := s.MinEqual(threshold); got != want {
			t.Fatalf("%s at %g: %d, want %d", s, threshold, got, want)
		}
	})
}

func TestMinEqualIsExactForDecimalThresholds(t *testing.T) {
	for k := 10; k <= 1000; k += 10 {
		s, err := OPH(k, 32, 1)
		if err != nil {
			t.Fatal(err)
		}
		for tenth := range 11 {
			if got, want := s.MinEqual(float64(tenth)/10), k/10*tenth; got != want {
				t.Errorf("k=%d at %d/10: %d, want %d", k, tenth, got, want)
			}
		}
	}
}

func TestASignatureDecodesFromItsPackedForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheme(t, 70)
		sig := rapid.SliceOfN(rapid.Uint32Range(0, s.mask()), s.K(), s.K()).Draw(t, "sig")
		packed := s.AppendBinary([]byte("x"), sig)[1:]
		if len(packed) != s.BinarySize() {
			t.Fatalf("%d bytes, BinarySize %d", len(packed), s.BinarySize())
		}
		for i, c := range sig { // bit by bit
			for b := range s.Bits() {
				at := i*s.Bits() + b
				if uint32(packed[at/8])>>(at%8)&1 != c>>b&1 {
					t.Fatalf("bit %d of component %d is not at bit %d", b, i, at)
				}
			}
		}
		back, err := s.DecodeBinary([]uint32{9}, packed)
		if err != nil || !slices.Equal(back[1:], sig) {
			t.Fatalf("decoded %x, %v; want %x", back, err, sig)
		}
	})
}

func TestDecodeBinaryRejectsWhatNoSignaturePacksTo(t *testing.T) {
	s := mustParse(t, "oph k=5 bits=1")
	for _, src := range [][]byte{nil, {0, 0}, {0b100000}} {
		if _, err := s.DecodeBinary(nil, src); err == nil {
			t.Errorf("%x decodes", src)
		}
	}
}

func TestASignatureOfTheWrongLengthPanics(t *testing.T) {
	s := mustParse(t, "oph k=5")
	good, bad := make([]uint32, 5), make([]uint32, 6)
	for name, f := range map[string]func(){
		"Equal":        func() { s.Equal(good, bad) },
		"AppendBinary": func() { s.AppendBinary(nil, bad) },
		"Sketch":       func() { s.NewSketcher().Sketch(bad, []uint64{1}) },
		"Sketch kmins": func() { mustParse(t, "kmins k=5").NewSketcher().Sketch(bad, []uint64{1}) },
		"Sketch xor":   func() { mustParse(t, "kmins family=xor k=5").NewSketcher().Sketch(bad, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s takes %d components for 5", name, len(bad))
				}
			}()
			f()
		}()
	}
}
