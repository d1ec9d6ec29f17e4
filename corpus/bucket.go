package corpus

import (
	"context"
	"io"
	"time"
)

// An Object is one object of a bucket.
type Object struct {
	Key     string
	Size    int64 // bytes
	ModTime time.Time
	// Version changes with every change of the object, such as its ETag or generation; "" if
	// the store has none.
	Version string
}

// AnyVersion tells whether nothing but the key of the object is known.
func (o Object) AnyVersion() bool { return o.Size == 0 && o.ModTime.IsZero() && o.Version == "" }

// A Bucket gives read access to an object store. Package corpus/objects has
// implementations for S3 and Google Cloud Storage. Its methods are safe for concurrent
// use, and end soon after their context does.
//
// Errors read as a reason and a remedy. fs.ErrNotExist for a missing object,
// fs.ErrPermission for missing or refused credentials, fs.ErrInvalid for a wrong setting,
// and ErrChanged for another version of the object are final. Any other error is worth
// another try; if it has a method RetryAfter() time.Duration, that tells how long to wait
// first.
type Bucket interface {
	// List calls each for every object whose key begins with prefix.
	List(ctx context.Context, prefix string, each func(Object) error) error
	// Stat returns the object of a key.
	Stat(ctx context.Context, key string) (Object, error)
	// Read opens length > 0 bytes of the object from offset on, if its version is still the
	// one that List or Stat has returned; of an object with nothing but a key, any version.
	Read(ctx context.Context, o Object, offset, length int64) (io.ReadCloser, error)
}

// A BucketWriter is a Bucket that can be written to.
type BucketWriter interface {
	Bucket
	// Upload makes the object of a key from the size bytes of r. The object exists once
	// Upload has returned nil; after an error the key is as before.
	Upload(ctx context.Context, key string, r io.ReaderAt, size int64) error
	// Create begins an object of unknown size, which exists once it is committed. ctx must
	// stay valid until then. Use NewWriter to compress what is written.
	Create(ctx context.Context, key string) (Destination, error)
	// Remove removes an object; it is no error if there is none.
	Remove(ctx context.Context, key string) error
}

// A Destination takes the bytes of one output, which appears when it is whole.
type Destination interface {
	io.Writer
	// Commit makes the output durable and visible. After an error nothing new is visible. It
	// is called once.
	Commit() error
	// Abort leaves nothing behind. After Commit, or a second time, it does nothing.
	Abort()
}
