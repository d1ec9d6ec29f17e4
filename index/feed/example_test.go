package feed_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/feed"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

func Example() {
	threshold, _ := measure.ParseThreshold("jaccard>=0.8")
	r, err := recipe.New(recipe.Options{Threshold: threshold})
	if err != nil {
		panic(err)
	}
	x, err := index.New(index.Options{Recipe: r, ByID: true})
	if err != nil {
		panic(err)
	}
	defer x.Close()
	o := corpus.Options{Stdin: strings.NewReader(`{"id":"a","text":"to be or not to be"}` + "\n" + `{"id":"b","text":"that is the question"}` + "\n")}
	sources, _, err := corpus.Find(context.Background(), []string{"-"}, o)
	if err != nil {
		panic(err)
	}
	s, err := feed.Run(context.Background(), feed.Config{Index: x, Sources: sources, Corpus: o})
	fmt.Println(s.Added, "added", err)
	matches, err := x.NewSearcher().Search([]byte("To be, or not to be?"), index.SearchOptions{})
	fmt.Printf("%s %.1f %v\n", matches[0].ID, matches[0].Similarity, err)
	// Output:
	// 2 added <nil>
	// a 1.0 <nil>
}
