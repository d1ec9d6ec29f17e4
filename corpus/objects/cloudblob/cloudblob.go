// Package cloudblob lets package corpus read and write the buckets of gocloud.dev/blob,
// for example of azureblob: the stores that package objects has no client for.
//
//	bucket, err := blob.OpenBucket(ctx, "azblob://container")
//	options.Buckets = func(context.Context, string) (corpus.Bucket, error) { return cloudblob.New(bucket), nil }
//
// It is a module of its own because gocloud.dev/blob brings gRPC and OpenTelemetry along, with 200 modules.
package cloudblob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// requestTimeout is for a request that moves little data.
const requestTimeout = time.Minute

// contentType is that of all outputs; without it, drivers would guess from the bytes.
const contentType = "application/octet-stream"

type bucket struct{ *blob.Bucket }

// New makes a Bucket of any bucket of gocloud.dev/blob, with any driver. An object counts as changed when its
// size or modification time differs. Only the driver retries failed requests. The caller closes b.
func New(b *blob.Bucket) corpus.BucketWriter { return bucket{b} }

func (b bucket) List(ctx context.Context, prefix string, each func(corpus.Object) error) error {
	objects := b.Bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		within, cancel := context.WithTimeout(ctx, requestTimeout)
		o, err := objects.Next(within)
		cancel()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return failed(ctx, err)
		}
		if err := each(corpus.Object{Key: o.Key, Size: o.Size, ModTime: o.ModTime}); err != nil {
			return err
		}
	}
}

func (b bucket) Stat(ctx context.Context, key string) (corpus.Object, error) {
	within, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	a, err := b.Attributes(within, key)
	if err != nil {
		return corpus.Object{}, failed(ctx, err)
	}
	return corpus.Object{Key: key, Size: a.Size, ModTime: a.ModTime}, nil
}

func (b bucket) Read(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	r, err := b.NewRangeReader(ctx, o.Key, offset, length, nil)
	if err != nil {
		return nil, failed(ctx, err)
	}
	if !o.AnyVersion() && (r.Size() != o.Size || !r.ModTime().Equal(o.ModTime)) {
		_ = r.Close() // none of its bytes are wanted
		return nil, changed(nil)
	}
	return r, nil
}

func (b bucket) Upload(ctx context.Context, key string, r io.ReaderAt, size int64) error {
	w, err := b.Create(ctx, key)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.Copy(w, io.NewSectionReader(r, 0, size)); err != nil {
		return err
	}
	return w.Commit()
}

func (b bucket) Create(ctx context.Context, key string) (corpus.Destination, error) {
	within, cancel := context.WithCancel(ctx)
	w, err := b.NewWriter(within, key, &blob.WriterOptions{ContentType: contentType})
	if err != nil {
		cancel()
		return nil, failed(ctx, err)
	}
	return &destination{ctx: ctx, w: w, cancel: cancel}, nil
}

func (b bucket) Remove(ctx context.Context, key string) error {
	within, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := b.Delete(within, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return failed(ctx, err)
}

// destination is an object that appears when its writer is closed before its context ends.
type destination struct {
	ctx    context.Context
	w      *blob.Writer
	cancel context.CancelFunc
	ended  bool
}

func (d *destination) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	return n, failed(d.ctx, err)
}

func (d *destination) Commit() error {
	d.ended = true
	defer d.cancel()
	return failed(d.ctx, d.w.Close())
}

func (d *destination) Abort() {
	if !d.ended {
		d.ended = true
		d.cancel()
		_ = d.w.Close() // it fails, as intended
	}
}

// failed adds a remedy to an error, by the codes that all drivers have, unless the caller has ended the
// request.
func failed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Caused(corpus.ErrUnavailable, err, "no answer within %v; check the network and the endpoint", requestTimeout)
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return fault.Caused(fs.ErrNotExist, err, "no such bucket or object; check the name")
	case gcerrors.PermissionDenied:
		return fault.Caused(fs.ErrPermission, err, "access denied; check the credentials and their permissions")
	case gcerrors.FailedPrecondition:
		return changed(err)
	}
	return err
}

// changed is the error of reading an object that is not the one found before.
func changed(cause error) error {
	return fault.Caused(corpus.ErrChanged, cause, "the object was changed after it was found; run again when nothing writes to it")
}
