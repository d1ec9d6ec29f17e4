package simjoin

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/alike-dev/alike/internal/shareddata"
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
	shingler, err := shingle.New(shingle.Options{N: 3, Hash: s.ShingleHash()})
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
				return half.Reached(n, len(narrow[i])+len(narrow[j])-n)
			})
			run("threshold", func(i, j int) bool { _, ok := Verify(narrow[i], narrow[j], half); return ok })
		} else {
			run("plain", func(i, j int) bool {
				n := Intersection(wide[i], wide[j])
				return half.Reached(n, len(wide[i])+len(wide[j])-n)
			})
			run("threshold", func(i, j int) bool { _, ok := Verify(wide[i], wide[j], half); return ok })
		}
		b.Run(line+"/join", func(b *testing.B) {
			hits := 0
			for b.Loop() {
				hits = len(SelfJoin(wide, half))
			}
			report(b, hits)
		})
	}
}
