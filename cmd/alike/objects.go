package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects"
)

// useObjects gives a command access to object stores for as long as it runs.
func useObjects(cmd *cobra.Command, o *corpus.Options) {
	o.Buckets = new(objects.Store).Bucket
}
