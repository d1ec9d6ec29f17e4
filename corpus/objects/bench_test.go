package objects

import (
	"bytes"
	"io"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketserver"
)

// The server runs in this process and takes most of the time: what is measured
// is a lower bound.

func BenchmarkReadFromS3(b *testing.B) {
	server := bucketserver.StartS3(b, "bucket")
	setEnv(b, server.Env())
	line := append(bytes.Repeat([]byte("some words "), 90), '\n')
	data := bytes.Repeat(line, 64<<20/len(line))
	server.Put("bucket", "lines.txt", data)
	o := corpus.Options{Buckets: newStore(b).Bucket, Format: corpus.Lines}
	sources, _, err := corpus.Find(b.Context(), []string{"s3://bucket/lines.txt"}, o)
	must(b, err)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f, err := corpus.Open(b.Context(), sources[0], o)
		must(b, err)
		var block corpus.Block
		for err == nil {
			err = f.Next(&block)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		must(b, f.Close())
	}
}

func BenchmarkUploadToS3(b *testing.B) {
	setEnv(b, bucketserver.StartS3(b, "bucket").Env())
	bucket := open(b, "s3://bucket")
	data := noise(64 << 20)
	b.Run("file", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			put(b, bucket, "k", data)
		}
	})
	b.Run("stream", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			w, err := bucket.Create(b.Context(), "k")
			must(b, err)
			_, err = w.Write(data)
			must(b, err)
			must(b, w.Commit())
		}
	})
}
