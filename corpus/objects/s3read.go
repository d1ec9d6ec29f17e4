package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

func (b *s3Bucket) List(ctx context.Context, prefix string, each func(corpus.Object) error) error {
	in := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix}
	for {
		var page *s3.ListObjectsV2Output
		err := b.retry(ctx, requestTimeout, func(within context.Context) (err error) {
			page, err = b.client.ListObjectsV2(within, in)
			return b.failed(ctx, err)
		})
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			found := corpus.Object{
				Key: aws.ToString(o.Key), Size: aws.ToInt64(o.Size), ModTime: aws.ToTime(o.LastModified), Version: aws.ToString(o.ETag),
			}
			if err := each(found); err != nil {
				return err
			}
		}
		if in.ContinuationToken = page.NextContinuationToken; in.ContinuationToken == nil {
			return nil
		}
	}
}

func (b *s3Bucket) Stat(ctx context.Context, key string) (o corpus.Object, err error) {
	err = b.retry(ctx, requestTimeout, func(within context.Context) error {
		found, err := b.client.HeadObject(within, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
		if err != nil {
			return b.failed(ctx, err)
		}
		o = corpus.Object{
			Key: key, Size: aws.ToInt64(found.ContentLength), ModTime: aws.ToTime(found.LastModified), Version: aws.ToString(found.ETag),
		}
		return nil
	})
	return o, err
}

func (b *s3Bucket) Read(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: &o.Key, Range: aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))}
	if o.Version != "" {
		in.IfMatch = &o.Version
	}
	out, err := b.client.GetObject(ctx, in)
	if err != nil {
		return nil, b.failed(ctx, err)
	}
	if err := checkAnswer(out, o, offset); err != nil {
		_ = out.Body.Close() // none of its bytes are wanted
		return nil, err
	}
	return out.Body, nil
}

// checkAnswer checks the answer, because not every server supports conditions and ranges.
func checkAnswer(out *s3.GetObjectOutput, o corpus.Object, offset int64) error {
	if etag := aws.ToString(out.ETag); o.Version != "" && etag != "" && etag != o.Version {
		return errChanged(nil)
	}
	answered := aws.ToString(out.ContentRange) // bytes FIRST-LAST/SIZE
	if offset > 0 && !strings.HasPrefix(answered, fmt.Sprintf("bytes %d-", offset)) {
		return fault.Caused(fs.ErrInvalid, nil, "the server does not return the requested range of bytes; copy the data to a folder")
	}
	size := aws.ToInt64(out.ContentLength) // of the whole object, if the answer has no range
	if _, of, ranged := strings.Cut(answered, "/"); ranged {
		var err error
		if size, err = strconv.ParseInt(of, 10, 64); err != nil {
			size = o.Size // the server does not report it
		}
	}
	if size != o.Size || o.Version == "" && !aws.ToTime(out.LastModified).Equal(o.ModTime) {
		return errChanged(nil)
	}
	return nil
}

func (b *s3Bucket) Remove(ctx context.Context, key string) error {
	return b.retry(ctx, requestTimeout, func(within context.Context) error {
		_, err := b.client.DeleteObject(within, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
		if err = b.failed(ctx, err); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// failed adds a remedy to an error, unless the caller has ended the request.
func (b *s3Bucket) failed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Caused(corpus.ErrUnavailable, err, "no answer within %v; check the network and the endpoint", requestTimeout)
	}
	return explainS3(err)
}
