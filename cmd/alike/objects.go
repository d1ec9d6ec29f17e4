package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects"
)

// useObjects gives a command access to object stores for as long as it runs.
func useObjects(cmd *cobra.Command, o *corpus.Options) {
	o.Buckets = new(objects.Store).Bucket
	o.Context = cmd.Context()
}

// createObject opens an output in an object store.
func createObject(cmd *cobra.Command, url string, inputs []string) (*outputFile, error) {
	for _, input := range inputs {
		if corpus.InsideURL(url, input) {
			return nil, fmt.Errorf("output %s is or lies inside the input %s: name another place", url, input)
		}
	}
	var o corpus.Options
	useObjects(cmd, &o)
	file, err := corpus.CreateObject(cmd.Context(), url, o, 0)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return &outputFile{Writer: file, file: file, path: url}, nil
}
