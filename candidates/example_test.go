package candidates_test

import (
	"context"
	"fmt"
	"log"

	"github.com/alike-dev/alike/candidates"
	"github.com/alike-dev/alike/measure"
)

// Four firms by the words of their names: 0 acme, 1 tools, 2 ltd, 3 berlin. Which of them is
// most alike to each other one?
func ExampleFind() {
	firms := candidates.NewStore(nil, "firms", 0)
	for _, words := range [][]uint32{{0, 1, 2}, {2, 3}, {0, 2}, {1, 2, 3}} {
		weights := make([]uint32, len(words))
		for i, w := range words {
			weights[i] = []uint32{90, 50, 10, 80}[w]
		}
		if err := firms.Append(words, weights); err != nil {
			log.Fatal(err)
		}
	}
	if err := firms.Finish(); err != nil {
		log.Fatal(err)
	}
	pairs, _, err := candidates.Find(context.Background(), candidates.Config{Measure: measure.Cosine, K: 1}, firms, nil)
	if err != nil {
		log.Fatal(err)
	}
	for p, err := range pairs.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.A, p.B, "mutual:", p.Mutual)
	}
	if err := pairs.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0 2 mutual: true
	// 1 3 mutual: true
}
