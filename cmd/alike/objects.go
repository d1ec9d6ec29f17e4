package main

import (
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects"
)

// useObjects gives a command access to object stores for as long as it runs.
func useObjects(o *corpus.Options) {
	o.Buckets = new(objects.Store).Bucket
}
