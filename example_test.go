package alike_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/shingle"
)

// news writes a small corpus: the second story is the first with a few words
// changed, the third is another one.
func news() (path string, remove func()) {
	const lines = `{"id":"n1","text":"The harbour board said on Monday that work on the new lock will begin in May and that the old one stays open to small craft until the end of next year."}
{"id":"n2","text":"The harbour board said on Monday that work on the new lock will begin in June and that the old one stays open to small craft until the end of next year."}
{"id":"n3","text":"Rain kept the crowds away from the fair, but the brass bands played to the last and the prize for the best pumpkin went to a girl of nine."}
`
	dir, err := os.MkdirTemp("", "alike-example")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, "news.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

func ExampleDedup() {
	path, remove := news()
	defer remove()
	clean := filepath.Join(filepath.Dir(path), "clean")
	summary, err := alike.Dedup(context.Background(), alike.Config{
		Inputs: []string{path},
		Output: clean,
		Decide: alike.Similarity{Threshold: 0.6},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Read, "read,", summary.Kept, "kept,", summary.Removed, "removed")
	removed, err := os.ReadFile(filepath.Join(clean, "removed.csv"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(removed))
	// Output:
	// 3 read, 2 kept, 1 removed
	// id,kept_id,similarity
	// n2,n1,0.696970
}

func ExamplePairs() {
	path, remove := news()
	defer remove()
	_, err := alike.Pairs(context.Background(), alike.Config{Inputs: []string{path}, Decide: alike.Similarity{Threshold: 0.5}},
		func(p alike.Pair) error {
			fmt.Printf("%s %s %.6f\n", p.A, p.B, p.Similarity)
			return nil
		})
	if err != nil {
		log.Fatal(err)
	}
	// Output: n1 n2 0.696970
}

func ExampleCompare() {
	a := []byte("The cat sat on the mat, and the dog lay at the door of the old house by the sea.")
	b := []byte("Yesterday the dog lay at the door of the OLD house by the river.")
	c, err := alike.Compare(a, b, shingle.Options{}, alike.DefaultScheme())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f: %d of %d shingles\n", c.Jaccard, c.Intersection, c.Union)
	for _, p := range c.Passages {
		fmt.Printf("%d tokens, at byte %d and byte %d: %s\n", p.Tokens, p.A.Start, p.B.Start, p.Text)
	}
	// Output:
	// 0.444444: 8 of 18 shingles
	// 12 tokens, at byte 28 and byte 10: the dog lay at the door of the old house by the
}

func ExampleSketch() {
	path, remove := news()
	defer remove()
	_, err := alike.Sketch(context.Background(), alike.Config{Inputs: []string{path}}, func(f alike.Fingerprint) error {
		fmt.Printf("%s: %d components of %d features\n", f.ID, len(f.Signature), f.Features)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// n1: 128 components of 28 features
	// n2: 128 components of 28 features
	// n3: 128 components of 25 features
}

func ExampleTune() {
	t, err := alike.Tune(0.8, 0.99, 128, 32)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bands of %d rows: recall %.4f at similarity 0.8\n", t.Bands, t.Rows, t.ExpectedRecall)
	// Output: 16 bands of 6 rows: recall 0.9923 at similarity 0.8
}

func ExampleScorePairs() {
	dir, err := os.MkdirTemp("", "alike-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write := func(name, rows string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(rows), 0o644); err != nil {
			log.Fatal(err)
		}
		return path
	}
	found := write("pairs.csv", "a,b,similarity\n1,2,0.9\n3,4,0.8\n")
	truth := write("truth.csv", "id1,id2\n2,1\n5,6\n")
	s, err := alike.ScorePairs(found, truth, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("precision %.2f, recall %.2f, F1 %.2f\n", s.Precision, s.Recall, s.F1)
	// Output: precision 0.50, recall 0.50, F1 0.50
}
