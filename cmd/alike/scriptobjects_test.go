package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/alike-dev/alike/internal/bucketserver"
)

// stores are the object stores of the scripts, all of which use the same two. A
// bucket belongs to the script that is called like it.
type stores struct {
	s3 *bucketserver.S3
	gs *bucketserver.GS
}

func startStores(t *testing.T) *stores {
	return &stores{bucketserver.StartS3(t), bucketserver.StartGS(t)}
}

// setEnv makes a script's programs find the stores, and nothing else in the
// network.
func (s *stores) setEnv(e *testscript.Env) {
	for _, env := range []map[string]string{s.s3.Env(), s.gs.Env()} {
		for name, value := range env {
			e.Setenv(name, value)
		}
	}
}

// commands are the commands of scripts about objects.
func (s *stores) commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"bucket": s.cmdBucket, "upload": s.cmdUpload, "stored": s.cmdStored, "keys-of": s.cmdKeysOf, "download": s.cmdDownload,
	}
}

// parts takes scheme://bucket/key apart.
func parts(ts *testscript.TestScript, url string) (scheme, bucket, key string) {
	scheme, rest, ok := strings.Cut(url, "://")
	need(ts, ok && (scheme == "s3" || scheme == "gs"), "a URL s3://bucket/key or gs://bucket/key")
	bucket, key, _ = strings.Cut(rest, "/")
	return scheme, bucket, key
}

// bucket NAME: make a bucket of S3; those of gs:// are all there.
func (s *stores) cmdBucket(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "bucket NAME")
	s.s3.CreateBucket(args[0])
}

// upload FILE URL: make an object of a file.
func (s *stores) cmdUpload(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "upload FILE URL")
	data := []byte(ts.ReadFile(args[0]))
	scheme, bucket, key := parts(ts, args[1])
	if scheme == "s3" {
		s.s3.Put(bucket, key, data)
	} else {
		s.gs.Put(bucket, key, data)
	}
}

func (s *stores) get(ts *testscript.TestScript, url string) []byte {
	scheme, bucket, key := parts(ts, url)
	get := s.s3.Get
	if scheme == "gs" {
		get = s.gs.Get
	}
	data, ok := get(bucket, key)
	if !ok {
		ts.Fatalf("there is no %s", url)
	}
	return data
}

// stored URL FILE: the object has the bytes of the file.
func (s *stores) cmdStored(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "stored URL FILE")
	if got := s.get(ts, args[0]); !bytes.Equal(got, []byte(ts.ReadFile(args[1]))) {
		ts.Fatalf("%s holds:\n%s", args[0], got)
	}
}

// download URL FILE: make a file of an object.
func (s *stores) cmdDownload(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "download URL FILE")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), s.get(ts, args[0]), 0o666))
}

// keys-of URL KEY...: below the bucket or prefix are exactly these keys, in byte
// order, and no upload is left half-way.
func (s *stores) cmdKeysOf(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 1, "keys-of URL KEY...")
	scheme, bucket, prefix := parts(ts, args[0])
	keys, uploads := s.gs.Keys, s.gs.Uploads
	if scheme == "s3" {
		keys, uploads = s.s3.Keys, func() int { return s.s3.Uploads(bucket) }
	}
	var got []string
	for _, key := range keys(bucket) {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			got = append(got, rest)
		}
	}
	if !slices.Equal(got, args[1:]) {
		ts.Fatalf("keys are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(args[1:], "\n"))
	}
	if n := uploads(); n != 0 {
		ts.Fatalf("%d uploads are left", n)
	}
}
