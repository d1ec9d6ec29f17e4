package minhash

import (
	"fmt"
	"testing"

	"github.com/alike-dev/alike/internal/hashing"
)

// randomSet returns n random features.
func randomSet(n int, seed uint64) []uint64 {
	set := make([]uint64, n)
	for i := range set {
		set[i] = hashing.Mix(seed ^ hashing.Mix(uint64(i)))
	}
	return set
}

// benchmarkSketch reports bytes of features a second and nanoseconds a feature.
// The sets change from call to call, so that branch predictors learn none of
// them by heart.
func benchmarkSketch(b *testing.B, s Scheme, n int) {
	b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
		sets := make([][]uint64, max(1, 1<<17/n))
		for i := range sets {
			sets[i] = randomSet(n, uint64(i))
		}
		sk, sig := s.NewSketcher(), make([]uint32, s.K())
		b.SetBytes(int64(8 * n))
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			sk.Sketch(sig, sets[i])
			if i++; i == len(sets) {
				i = 0
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/feature")
	})
}

func benchmarkScheme(b *testing.B, line string, sizes ...int) {
	s, err := ParseScheme(line)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(line, func(b *testing.B) {
		for _, n := range sizes {
			benchmarkSketch(b, s, n)
		}
	})
}

func BenchmarkOPH(b *testing.B) {
	benchmarkScheme(b, "oph", 1, 5, 20, 50, 100, 200, 500, 5000, 50000)
	benchmarkScheme(b, "oph k=200", 200, 5000)
	benchmarkScheme(b, "oph k=1024", 200, 5000)
}

func BenchmarkKMins(b *testing.B) {
	benchmarkScheme(b, "kmins", 50, 500, 5000)
	benchmarkScheme(b, "kmins family=xor", 50, 500, 5000, 50000)
	benchmarkScheme(b, "kmins k=200 family=xor", 5000, 40000)
	benchmarkScheme(b, "kmins k=200 family=plainxor", 5000, 40000)
}
