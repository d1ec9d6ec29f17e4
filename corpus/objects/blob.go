package objects

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// blobBucket is a bucket of gocloud.dev/blob.
type blobBucket struct {
	bucket *blob.Bucket
	patience
	// explain gives an error a remedy.
	explain func(error) error
	// found completes an object that was listed or looked up.
	found func(as func(any) bool, o *corpus.Object)
	// ask prepares the request for a range, answered checks its answer.
	ask      func(as func(any) bool, o corpus.Object) error
	answered func(as func(any) bool, o corpus.Object, offset int64) error
}

// FromBlob makes a Bucket of any bucket of gocloud.dev/blob, whose driver need
// not be known here: for example of azureblob. An object counts as changed when
// its size or time of change is another. The caller closes b.
func FromBlob(b *blob.Bucket) corpus.BucketWriter { return newBlobBucket(b) }

func newBlobBucket(b *blob.Bucket) *blobBucket {
	return &blobBucket{
		bucket:   b,
		patience: patience{tries: 1}, // drivers have their own
		explain:  explainCode,
		found:    func(func(any) bool, *corpus.Object) {},
		ask:      func(func(any) bool, corpus.Object) error { return nil },
		answered: func(func(any) bool, corpus.Object, int64) error { return nil },
	}
}

// explainCode goes by the codes that all drivers have.
func explainCode(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return fault.Caused(fs.ErrNotExist, err, "no such bucket or object; check the name")
	case gcerrors.PermissionDenied:
		return fault.Caused(fs.ErrPermission, err, "access denied; check the credentials and what they are allowed to")
	case gcerrors.FailedPrecondition:
		return errChanged(err)
	}
	return err
}

func (b *blobBucket) List(ctx context.Context, prefix string, each func(corpus.Object) error) error {
	objects := b.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		var o *blob.ListObject
		err := b.retry(ctx, requestTimeout, func(within context.Context) (err error) {
			if o, err = objects.Next(within); err == io.EOF {
				return nil
			}
			return b.failed(ctx, err)
		})
		if err != nil || o == nil {
			return err
		}
		object := corpus.Object{Key: o.Key, Size: o.Size, ModTime: o.ModTime}
		b.found(o.As, &object)
		if err := each(object); err != nil {
			return err
		}
	}
}

func (b *blobBucket) Stat(ctx context.Context, key string) (corpus.Object, error) {
	var a *blob.Attributes
	err := b.retry(ctx, requestTimeout, func(within context.Context) (err error) {
		a, err = b.bucket.Attributes(within, key)
		return b.failed(ctx, err)
	})
	if err != nil {
		return corpus.Object{}, err
	}
	o := corpus.Object{Key: key, Size: a.Size, ModTime: a.ModTime}
	b.found(a.As, &o)
	return o, nil
}

func (b *blobBucket) Read(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	r, err := b.bucket.NewRangeReader(ctx, o.Key, offset, length, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error { return b.ask(as, o) },
	})
	if err != nil {
		return nil, b.failed(ctx, err)
	}
	err = b.answered(r.As, o, offset)
	if err == nil && (r.Size() != o.Size || o.Version == "" && !r.ModTime().Equal(o.ModTime)) {
		err = errChanged(nil)
	}
	if err != nil {
		_ = r.Close() // nothing of it is wanted
		return nil, err
	}
	return r, nil
}

// failed gives an error a remedy, unless the caller has ended the request.
func (b *blobBucket) failed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Caused(corpus.ErrUnavailable, err, "no answer within %v; check the network and the endpoint", requestTimeout)
	}
	return b.explain(err)
}

func (b *blobBucket) Upload(ctx context.Context, key string, r io.ReaderAt, size int64) error {
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

func (b *blobBucket) Create(ctx context.Context, key string) (corpus.Destination, error) {
	within, cancel := context.WithCancel(ctx)
	w, err := b.bucket.NewWriter(within, key, &blob.WriterOptions{ContentType: contentType})
	if err != nil {
		cancel()
		return nil, b.failed(ctx, err)
	}
	return &blobDestination{b: b, ctx: ctx, w: w, cancel: cancel}, nil
}

// contentType is that of all outputs; without one, drivers would look at the
// bytes and guess.
const contentType = "application/octet-stream"

// blobDestination is an object that is there when its writer is closed with its
// context still standing.
type blobDestination struct {
	b      *blobBucket
	ctx    context.Context
	w      *blob.Writer
	cancel context.CancelFunc
	ended  bool
}

func (d *blobDestination) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	if err != nil {
		err = d.b.failed(d.ctx, err)
	}
	return n, err
}

func (d *blobDestination) Commit() error {
	d.ended = true
	defer d.cancel()
	if err := d.w.Close(); err != nil {
		return d.b.failed(d.ctx, err)
	}
	return nil
}

func (d *blobDestination) Abort() {
	if !d.ended {
		d.ended = true
		d.cancel()
		_ = d.w.Close() // fails, as is wanted
	}
}

func (b *blobBucket) Remove(ctx context.Context, key string) error {
	return b.retry(ctx, requestTimeout, func(within context.Context) error {
		err := b.bucket.Delete(within, key)
		if gcerrors.Code(err) == gcerrors.NotFound {
			return nil
		}
		return b.failed(ctx, err)
	})
}

func (b *blobBucket) close() error { return b.bucket.Close() }
