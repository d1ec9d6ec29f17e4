package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects"
	"github.com/alike-dev/alike/internal/remote"
)

// useObjects gives a command access to object stores for as long as it runs.
func useObjects(cmd *cobra.Command, o *corpus.Options) {
	o.Buckets = new(objects.Store).Bucket
}

// openObject opens an output in an object store.
func (o *outputFile) openObject(cmd *cobra.Command, url string) error {
	file, err := remote.Create(cmd.Context(), url, new(objects.Store).Bucket, 0)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	o.Writer, o.file = file, file
	return nil
}
