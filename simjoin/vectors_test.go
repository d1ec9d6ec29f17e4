package simjoin

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/measure"
	"pgregory.net/rapid"
)

// naiveOverlap is the definition.
func naiveOverlap(a, b Vector, m measure.Measure) (n uint64) {
	for i, f := range a.Features {
		k := slices.Index(b.Features, f)
		if k < 0 {
			continue
		}
		v, w := uint64(a.Weights[i]), uint64(b.Weights[k])
		if m == measure.Cosine {
			n += v * w
		} else {
			n += min(v, w)
		}
	}
	return n
}

func TestOverlapOfVectorsEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		most := rapid.SampledFrom([]uint32{1, 100, 1 << 26}).Draw(t, "weights up to")
		draw := func() (v Vector) {
			dense := 1 + r.IntN(20)
			for f := range uint32(r.IntN(300)) {
				if r.IntN(dense) == 0 {
					v.Features, v.Weights = append(v.Features, f), append(v.Weights, 1+r.Uint32N(most))
				}
			}
			return v
		}
		a, b := draw(), draw()
		for _, m := range []measure.Measure{measure.Cosine, measure.WeightedJaccard} {
			if got, want := Overlap(a, b, m), naiveOverlap(a, b, m); got != want {
				t.Errorf("%v: %d, want %d", m, got, want)
			}
			if got, want := Overlap(a, a, m), a.Size(m); got != want {
				t.Errorf("%v with itself: %d, but its size is %d", m, got, want)
			}
		}
	})
}

func TestVectorsHoldWhatWasAppended(t *testing.T) {
	var v Vectors
	for range 2 {
		all := []Vector{{[]uint32{1, 5}, []uint32{10, 20}}, {}, {[]uint32{0}, []uint32{math.MaxInt32}}}
		for _, one := range all {
			if err := v.Append(one.Features, one.Weights); err != nil {
				t.Fatal(err)
			}
		}
		if v.Len() != 3 || v.Features() != 3 {
			t.Errorf("%d vectors with %d features", v.Len(), v.Features())
		}
		for i, one := range all {
			if got := v.At(i); !slices.Equal(got.Features, one.Features) || !slices.Equal(got.Weights, one.Weights) {
				t.Errorf("vector %d is %v, want %v", i, got, one)
			}
		}
		v.Reset()
	}
}

func someVectors(t interface{ Fatal(...any) }) *Vectors {
	v := new(Vectors)
	for _, one := range []Vector{{[]uint32{1, 5}, []uint32{10, 20}}, {}, {[]uint32{0}, []uint32{7}}} {
		if err := v.Append(one.Features, one.Weights); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func TestStoredVectorsAreTheSame(t *testing.T) {
	v, again := someVectors(t), someVectors(t)
	b, err := v.AppendBinary([]byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.UnmarshalBinary(b[len("before"):]); err != nil {
		t.Fatal(err)
	}
	if again.Len() != 3 || !slices.Equal(again.At(0).Weights, []uint32{10, 20}) || len(again.At(1).Features) != 0 || again.At(2).Weights[0] != 7 {
		t.Errorf("read as %v", again)
	}
	for i := range b[len("before"):] {
		bad := slices.Clone(b[len("before"):])
		bad[i] ^= 4
		if err := again.UnmarshalBinary(bad); !errors.Is(err, ErrCorrupt) || again.Len() != 0 {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
}

func FuzzUnmarshalVectors(f *testing.F) {
	b, _ := someVectors(f).AppendBinary(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > vectorsSum { // with a right checksum more is reached
			body := b[:len(b)-vectorsSum]
			b = binary.LittleEndian.AppendUint32(slices.Clone(body), crc32.Checksum(body, castagnoli))
		}
		var v Vectors
		if err := v.UnmarshalBinary(b); err != nil {
			return
		}
		if again, _ := v.AppendBinary(nil); !slices.Equal(again, b) {
			t.Error("stored again it is not the same")
		}
	})
}

func TestSlicesAreTheSameVectors(t *testing.T) {
	v := someVectors(t)
	for from := range 4 {
		for to := from; to <= 3; to++ {
			s := v.Slice(from, to)
			if s.Len() != to-from {
				t.Fatalf("%d vectors from %d to %d", s.Len(), from, to)
			}
			features := 0
			for i := range s.Len() {
				if got, want := s.At(i), v.At(from+i); !slices.Equal(got.Features, want.Features) || !slices.Equal(got.Weights, want.Weights) {
					t.Errorf("from %d to %d: vector %d is %v, want %v", from, to, i, got, want)
				}
				features += len(s.At(i).Features)
			}
			if s.Features() != features {
				t.Errorf("from %d to %d: %d features, want %d", from, to, s.Features(), features)
			}
		}
	}
}

func TestVectorsRefuseWhatJoinsCannotUse(t *testing.T) {
	for _, c := range []struct {
		features, weights []uint32
		want              string
	}{
		{[]uint32{1, 2}, []uint32{1}, "2 features with 1 weights"},
		{[]uint32{1, 2}, []uint32{1, 0}, "feature 2 has weight 0"},
		{[]uint32{2, 2}, []uint32{1, 1}, "must ascend"},
		{[]uint32{2, 1}, []uint32{1, 1}, "must ascend"},
		{[]uint32{1, 2}, []uint32{1 << 31, 1}, "use smaller weights"},
		{[]uint32{1, 2}, []uint32{math.MaxUint32, math.MaxUint32}, "use smaller weights"},
	} {
		var v Vectors
		if err := v.Append(c.features, c.weights); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v with %v: %v, want %q", c.features, c.weights, err, c.want)
		}
		if v.Len() != 0 || v.Features() != 0 {
			t.Errorf("%v with %v: was appended in part", c.features, c.weights)
		}
	}
	var v Vectors
	if err := v.Append([]uint32{7}, []uint32{1 << 31}); err != nil {
		t.Errorf("the largest weight: %v", err)
	}
}
