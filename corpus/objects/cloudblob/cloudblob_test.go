package cloudblob

import (
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects/internal/buckettest"
)

func TestABucketInMemory(t *testing.T) {
	buckettest.Run(t, func(t *testing.T) corpus.BucketWriter { return tested(t, memblob.OpenBucket(nil), nil) })
}

func TestABucketOfFiles(t *testing.T) {
	buckettest.Run(t, func(t *testing.T) corpus.BucketWriter {
		b, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{Metadata: fileblob.MetadataDontWrite})
		return tested(t, b, err)
	})
}

// tested makes a bucket that lives as long as its test.
func tested(t *testing.T, b *blob.Bucket, err error) corpus.BucketWriter {
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(b)
}
