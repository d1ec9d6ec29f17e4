package index_test

import (
	"fmt"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

func Example() {
	threshold, err := measure.ParseThreshold("jaccard>=0.6")
	if err != nil {
		panic(err)
	}
	r, err := recipe.New(recipe.Options{Threshold: threshold})
	if err != nil {
		panic(err)
	}
	x, err := index.New(index.Options{Recipe: r, Window: index.Window{Docs: 1000}})
	if err != nil {
		panic(err)
	}
	defer x.Close()
	for id, text := range []string{
		"The quick brown fox jumps over the lazy dog and runs into the wood.",
		"It will rain tomorrow in the north, and in the south on Sunday.",
		"A quick brown fox jumps over the lazy dog and runs into the wood!",
	} {
		v, err := x.CheckOne(index.Document{ID: fmt.Append(nil, id), Text: []byte(text)})
		if err != nil {
			panic(err)
		}
		if v.New {
			fmt.Println(id, "is new")
		} else {
			fmt.Printf("%d is like %s: %.2f\n", id, v.Of, v.Similarity)
		}
	}
	// Output:
	// 0 is new
	// 1 is new
	// 2 is like 0: 0.82
}
