package simjoin

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/alike-dev/alike/internal/shareddata"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
)

// fingerprints returns the bottom-k fingerprints, K = 3, N = 128, of the texts in the
// folder that ALIKE_TEXTS names, else of real ones.
func fingerprints(b *testing.B, line string) (wide [][]uint64, narrow [][]uint32) {
	s, err := minhash.ParseScheme(line)
	if err != nil {
		b.Fatal(err)
	}
	shingler, err := shingle.New(shingle.Options{N: 3, Hash: shingle.Hash(s.FeatureHash())})
	if err != nil {
		b.Fatal(err)
	}
	sketcher := s.NewBottomKSketcher()
	for _, text := range benchmarkTexts(b) {
		sketcher.Reset()
		sketcher.Add(shingler.AppendFeatures(nil, text))
		wide = append(wide, sketcher.Append64(nil))
		if s.Bits() == 32 {
			narrow = append(narrow, sketcher.Append32(nil))
		}
	}
	return wide, narrow
}

func benchmarkTexts(b *testing.B) (texts [][]byte) {
	folder := os.Getenv("ALIKE_TEXTS")
	if folder == "" {
		return shareddata.Texts(b, 0, "wiki_long_en", "docs.jsonl.zst")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}

func TestFingerprintsAreJoinedAndSearchedAsComparingAllWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SampledFrom([]int{32, 64}).Draw(t, "bits")
		s, err := minhash.BottomK(minhash.XXH3, rapid.IntRange(1, 60).Draw(t, "k"), bits, 1)
		if err != nil {
			t.Fatal(err)
		}
		sketcher := s.NewBottomKSketcher()
		sets := make([][]uint64, rapid.IntRange(2, 30).Draw(t, "documents"))
		for i := range sets {
			sketcher.Reset()
			from := rapid.Uint64Range(0, 300).Draw(t, "from")
			for x := range rapid.Uint64Range(0, 200).Draw(t, "features") {
				sketcher.Add([]uint64{from + x})
			}
			sets[i] = sketcher.Append64(nil)
		}
		half, err := measure.NewThreshold(measure.Jaccard, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		pairs := map[[2]uint64]bool{}
		for p := range SelfJoin(sets, half) {
			pairs[[2]uint64{p.A, p.B}] = true
		}
		last := len(sets) - 1
		x := NewSearchIndex(sets[:last], half)
		found := map[uint32]bool{}
		for _, m := range x.Search(new(Prober), sets[last]) {
			for _, member := range x.Members(m.Group) {
				found[member] = true
			}
		}
		for b := range sets {
			for a := range b {
				want := reached(half, sets[a], sets[b])
				if pairs[[2]uint64{uint64(a), uint64(b)}] != want {
					t.Fatalf("%x and %x: joined %v", sets[a], sets[b], !want)
				}
				if b == last && found[uint32(a)] != want {
					t.Fatalf("%x and %x: found %v", sets[a], sets[b], !want)
				}
			}
		}
	})
}

// BenchmarkFingerprints compares all fingerprints with all, and joins them.
func BenchmarkFingerprints(b *testing.B) {
	half := threshold(b, 0.5)
	for _, line := range []string{"bottomk bits=32 hash=fnv1a-listing", "bottomk bits=64"} {
		wide, narrow := fingerprints(b, line)
		pairs := len(wide) * (len(wide) - 1) / 2
		report := func(b *testing.B, hits int) {
			b.ReportMetric(float64(pairs*b.N)/b.Elapsed().Seconds()/1e6, "M/s")
			b.ReportMetric(float64(hits), "hits")
		}
		run := func(name string, hit func(i, j int) bool) {
			b.Run(fmt.Sprintf("%s/%s", line, name), func(b *testing.B) {
				hits := 0
				for b.Loop() {
					hits = 0
					for i := range wide {
						for j := range i {
							if hit(i, j) {
								hits++
							}
						}
					}
				}
				report(b, hits)
			})
		}
		if narrow != nil {
			run("plain", func(i, j int) bool {
				n := Intersection(narrow[i], narrow[j])
				return half.Reached(uint64(n), uint64(len(narrow[i])), uint64(len(narrow[j])))
			})
			run("threshold", func(i, j int) bool { _, ok := Verify(narrow[i], narrow[j], half); return ok })
		} else {
			run("plain", func(i, j int) bool {
				n := Intersection(wide[i], wide[j])
				return half.Reached(uint64(n), uint64(len(wide[i])), uint64(len(wide[j])))
			})
			run("threshold", func(i, j int) bool { _, ok := Verify(wide[i], wide[j], half); return ok })
		}
		b.Run(line+"/join", func(b *testing.B) {
			hits := 0
			for b.Loop() {
				hits = len(selfJoin(wide, half))
			}
			report(b, hits)
		})
	}
}
