// Package objects opens the buckets of object stores for package corpus: Amazon S3 and
// compatible servers, and Google Cloud Storage.
//
//	var store objects.Store
//	defer store.Close()
//	options.Buckets = store.Bucket
//	sources, skipped, err := corpus.Find([]string{"s3://bucket/prefix"}, options)
//
// Use it when texts are in a bucket and should be read, or results written, without a copy
// on disk. Package corpus does not import it, so that programs that only read files need not
// link the clients of the stores.
//
// # s3://bucket
//
// Credentials, region and endpoint come from the usual places of AWS tools:
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE and the files in ~/.aws, a web
// identity, or the role of the container or machine; AWS_REGION (us-east-1 if it is not
// set); AWS_ENDPOINT_URL for another server, which is then used in path style and without
// checksums that only AWS knows. The query of the URL can override this: region=, profile=,
// role= (an ARN, to be assumed), endpoint=, anonymous=true (public buckets),
// use_path_style=, dualstack=, fips= and request_checksum_calculation= (when_supported or
// when_required). Profiles of single sign-on need another one with credential_process = aws
// configure export-credentials --profile NAME.
//
// # gs://bucket
//
// Application default credentials: GOOGLE_APPLICATION_CREDENTIALS, the credentials stored by
// gcloud auth application-default login, or the account of the machine; anonymous=true in
// the query for public buckets. STORAGE_EMULATOR_HOST names another server.
//
// # Other stores
//
// Package cloudblob, a module of its own, makes a Bucket of any bucket of gocloud.dev/blob.
//
// URLs, settings and the conditions under which an object counts as changed stay
// compatible; the sizes of requests do not.
package objects

import (
	"context"
	"io/fs"
	"net/url"
	"sync"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// A Store opens buckets, each one once. The zero value is ready to use. It is safe for
// concurrent use.
type Store struct {
	mu      sync.Mutex
	buckets map[string]openBucket
}

// openBucket is a bucket that holds connections.
type openBucket interface {
	corpus.BucketWriter
	close() error
}

// Bucket opens the bucket of a URL such as s3://bucket?region=eu-west-1, for
// corpus.Options.Buckets. It looks for credentials, which may take some seconds, but does
// not check whether the bucket exists. The Bucket is valid until the Store is closed.
func (s *Store) Bucket(ctx context.Context, bucketURL string) (corpus.Bucket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[bucketURL]; b != nil {
		return b, nil
	}
	u, err := url.Parse(bucketURL)
	if err != nil || u.Host == "" {
		return nil, fault.Caused(fs.ErrInvalid, err, "not the URL of a bucket; write it as s3://bucket")
	}
	var b openBucket
	switch u.Scheme {
	case "s3":
		b, err = openS3(ctx, u)
	case "gs":
		b, err = openGS(ctx, u)
	default:
		err = fault.Caused(fs.ErrInvalid, nil, "there is no access to %s://; use s3:// or gs://, or copy the data to a folder", u.Scheme)
	}
	if err != nil {
		return nil, err
	}
	if s.buckets == nil {
		s.buckets = map[string]openBucket{}
	}
	s.buckets[bucketURL] = b
	return b, nil
}

// Close closes the connections of all buckets.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first error
	for _, b := range s.buckets {
		if err := b.close(); err != nil && first == nil {
			first = err
		}
	}
	s.buckets = nil
	return first
}
