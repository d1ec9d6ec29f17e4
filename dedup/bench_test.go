package dedup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// families writes texts of 150 words in families whose members differ from each
// other in one or two words, and returns the file.
func families(b *testing.B, number, size int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var lines strings.Builder
	for range number {
		words := make([]string, 150)
		for i := range words {
			words[i] = fmt.Sprintf("w%d", rng.IntN(50_000))
		}
		for range size {
			i := rng.IntN(len(words))
			word := words[i]
			words[i] = fmt.Sprintf("x%d", rng.IntN(1_000_000))
			fmt.Fprintf(&lines, "{\"text\":\"%s\"}\n", strings.Join(words, " "))
			words[i] = word
		}
	}
	path := filepath.Join(b.TempDir(), "families.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkFamilies finds the clusters of 20 families of 900 near-copies, by all
// candidate pairs and by those that can still join clusters.
func BenchmarkFamilies(b *testing.B) {
	path := families(b, 20, 900)
	for _, sparse := range []bool{false, true} {
		b.Run(fmt.Sprintf("sparse=%v", sparse), func(b *testing.B) {
			var pairs int64
			for b.Loop() {
				f := searched(b, Config{Inputs: []string{path}, Decide: Similarity{Candidates: LSH{}}}, sparse)
				if err := f.close(true); err != nil {
					b.Fatal(err)
				}
				pairs = f.account.Candidates
			}
			b.ReportMetric(float64(pairs), "pairs")
		})
	}
}
