package stream_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

func Example() {
	threshold, _ := measure.ParseThreshold("jaccard>=0.8")
	r, err := recipe.New(recipe.Options{Threshold: threshold})
	if err != nil {
		panic(err)
	}
	x, err := index.New(index.Options{Recipe: r, Window: index.Window{Docs: 1000}})
	if err != nil {
		panic(err)
	}
	defer x.Close()
	o := corpus.Options{Format: corpus.Lines, Stdin: strings.NewReader("to be or not to be\nthat is the question\nTo be, or not to be?\n")}
	sources, _, err := corpus.Find(context.Background(), []string{"-"}, o)
	if err != nil {
		panic(err)
	}
	s, err := stream.Run(context.Background(), stream.Config{Index: x, Source: sources[0], Corpus: o, Out: os.Stdout})
	fmt.Println(s.Kept, "kept,", s.Dropped, "dropped", err)
	// Output:
	// to be or not to be
	// that is the question
	// 2 kept, 1 dropped <nil>
}
