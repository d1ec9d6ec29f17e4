package grow_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/grow"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	weeks := []string{
		`{"id":"a","text":"to be or not to be"}` + "\n",
		`{"id":"b","text":"To be, or not to be!"}` + "\n" + `{"id":"c","text":"that is the question"}` + "\n",
	}
	for i, records := range weeks {
		in := filepath.Join(dir, fmt.Sprintf("week-%d.jsonl", i))
		if err := os.WriteFile(in, []byte(records), 0o600); err != nil {
			panic(err)
		}
		c := dedup.Config{Inputs: []string{in}, Output: filepath.Join(dir, fmt.Sprintf("new-%d", i)), Decide: dedup.Similarity{Candidates: dedup.LSH{}}}
		r, err := c.Recipe()
		if err != nil {
			panic(err)
		}
		known := grow.New(filepath.Join(dir, "index"), grow.Options{Index: index.OpenOptions{Options: index.Options{Recipe: r}}})
		c.Survivors = dedup.NewTo{Known: known}
		s, err := dedup.Run(context.Background(), c)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d kept, %d removed, %d in the index\n", s.Kept, s.Removed, known.Index().Stats().Documents)
		if err := known.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// 1 kept, 0 removed, 1 in the index
	// 1 kept, 1 removed, 2 in the index
}
