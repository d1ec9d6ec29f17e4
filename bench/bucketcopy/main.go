// Command bucketcopy copies a folder to a prefix of an object store, or a prefix
// to a folder, for the benchmarks that need data in a bucket:
//
//	bucketcopy FOLDER s3://bucket/prefix
//	bucketcopy s3://bucket/prefix FOLDER
//	bucketcopy -make s3://bucket
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/objects"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/remote"
	"github.com/alike-dev/alike/vfs"
)

func main() {
	create := flag.Bool("make", false, "make the bucket of a URL")
	flag.Parse()
	if err := run(context.Background(), *create, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "bucketcopy: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, create bool, args []string) (err error) {
	var store objects.Store
	defer func() { err = errors.Join(err, store.Close()) }()
	o := corpus.Options{Buckets: store.Bucket, Format: corpus.Text}
	switch {
	case create && len(args) == 1:
		return makeBucket(ctx, strings.TrimPrefix(args[0], "s3://"))
	case len(args) != 2 || bucketurl.Is(args[0]) == bucketurl.Is(args[1]):
		return errors.New("name a folder and a URL, in the order from and to")
	case bucketurl.Is(args[1]):
		to, err := remote.Open(ctx, args[1], o.Buckets)
		if err != nil {
			return err
		}
		return to.UploadFolder(ctx, vfs.OS, args[0], "")
	}
	sources, _, err := corpus.Find(ctx, args[:1], o)
	if err != nil {
		return err
	}
	for _, s := range sources {
		if err := download(ctx, s, o, filepath.Join(args[1], filepath.FromSlash(s.Name))); err != nil {
			return err
		}
	}
	return nil
}

// makeBucket makes a bucket on the server and with the keys of the environment.
func makeBucket(ctx context.Context, name string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, os.Getenv("AWS_ENDPOINT_URL")+"/"+name, nil)
	if err != nil {
		return err
	}
	keys := aws.Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY")}
	sum := fmt.Sprintf("%x", sha256.Sum256(nil)) // of the empty body
	r.Header.Set("X-Amz-Content-Sha256", sum)
	if err := v4.NewSigner().SignHTTP(ctx, keys, r, sum, "s3", cmp.Or(os.Getenv("AWS_REGION"), "us-east-1"), time.Now()); err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("making bucket %s: %s", name, answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}

func download(ctx context.Context, s corpus.Source, o corpus.Options, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	from, err := s.OpenAt(ctx, o)
	if err != nil {
		return err
	}
	to, err := os.Create(path)
	if err != nil {
		return errors.Join(err, from.Close())
	}
	_, err = io.CopyBuffer(to, io.NewSectionReader(from, 0, from.Size()), make([]byte, 1<<20))
	return errors.Join(err, from.Close(), to.Close())
}
