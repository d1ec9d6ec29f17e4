package objects

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/internal/patience"
	"github.com/alike-dev/alike/corpus/objects/internal/buckettest"
	"github.com/alike-dev/alike/internal/bucketserver"
)

func TestMain(m *testing.M) {
	patience.Usual.Pause, patience.Usual.Longest = time.Microsecond, time.Millisecond
	goleak.VerifyTestMain(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func setEnv(t testing.TB, env map[string]string) {
	for name, value := range env {
		t.Setenv(name, value)
	}
}

// newStore returns a store that lives as long as the test.
func newStore(t testing.TB) *Store {
	s := &Store{}
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// open opens a bucket for the test.
func open(t testing.TB, url string) corpus.BucketWriter {
	t.Helper()
	b, err := newStore(t).Bucket(t.Context(), url)
	must(t, err)
	return b.(corpus.BucketWriter)
}

// smallPart is the size of parts and chunks in tests.
const smallPart = buckettest.Part

// These are the helpers of the tests that all buckets pass.
var (
	noise   = buckettest.Noise
	put     = buckettest.Put
	list    = buckettest.List
	content = buckettest.Content
)

func TestABucketOfS3(t *testing.T) {
	buckettest.Run(t, func(t *testing.T) corpus.BucketWriter {
		setEnv(t, bucketserver.StartS3(t, "bucket").Env())
		b := open(t, "s3://bucket").(*s3Bucket)
		b.filePart, b.streamPart = smallPart, smallPart
		return b
	})
}

func TestABucketOfGoogle(t *testing.T) {
	buckettest.Run(t, func(t *testing.T) corpus.BucketWriter {
		server := bucketserver.StartGS(t)
		server.Page = 400
		setEnv(t, server.Env())
		b := open(t, "gs://bucket").(*gsBucket)
		b.chunk = smallPart
		return b
	})
}
