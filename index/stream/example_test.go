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

// A consumer decides about a batch, sends what passes, and then acknowledges all of it. Here the
// first batch was decided and never sent, so that its messages come again.
func ExampleFilter() {
	threshold, _ := measure.ParseThreshold("jaccard>=0.8")
	r, err := recipe.New(recipe.Options{Threshold: threshold})
	if err != nil {
		panic(err)
	}
	x, err := index.New(index.Options{Recipe: r, Window: index.Window{Docs: 1000}, Columns: []string{stream.DeliveryColumn}})
	if err != nil {
		panic(err)
	}
	defer x.Close()
	filter, err := stream.NewFilter(x)
	if err != nil {
		panic(err)
	}
	batch := []stream.Message{
		{Delivery: []byte("articles/0/17"), ID: []byte("a"), Text: []byte("to be or not to be")},
		{Delivery: []byte("articles/0/18"), ID: []byte("b"), Text: []byte("To be, or not to be?")},
	}
	for range 2 {
		decisions, err := filter.Decide(batch)
		if err != nil {
			panic(err)
		}
		for i, d := range decisions {
			fmt.Printf("%s: pass %t, again %t, like %q\n", batch[i].ID, d.Pass, d.Again, d.Of)
		}
	}
	// Output:
	// a: pass true, again false, like ""
	// b: pass false, again false, like "a"
	// a: pass true, again true, like ""
	// b: pass false, again false, like "a"
}
