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

// openObject opens an output in an object store.
func (o *outputFile) openObject(cmd *cobra.Command, url string) error {
	var options corpus.Options
	useObjects(cmd, &options)
	file, err := corpus.CreateObject(cmd.Context(), url, options, 0)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	o.Writer, o.file = file, file
	return nil
}
