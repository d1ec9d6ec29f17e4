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
	// Version is another one after every change of the object, such as its ETag
	// or generation; "" if the store has none.
	Version string
}

// A Bucket is what an object store must offer to be read. Package
// corpus/objects has those of S3 and Google Cloud Storage. Its methods are safe
// for concurrent use, and end soon after their context does.
//
// Errors read as a reason and a remedy. They are fs.ErrNotExist for what is not
// there, fs.ErrPermission for missing or refused credentials, fs.ErrInvalid for
// a wrong setting, and ErrChanged for an object that is another version: these
// are final. Any other error is worth another try; if it has a method
// RetryAfter() time.Duration, that tells how long to wait before.
type Bucket interface {
	// List calls each for every object whose key begins with prefix.
	List(ctx context.Context, prefix string, each func(Object) error) error
	// Stat returns the object of a key.
	Stat(ctx context.Context, key string) (Object, error)
	// Read opens length > 0 bytes of the object from offset on, if it is still
	// the one that List or Stat has returned.
	Read(ctx context.Context, o Object, offset, length int64) (io.ReadCloser, error)
}

// A BucketWriter is a Bucket that can be written to.
type BucketWriter interface {
	Bucket
	// Upload makes the object of a key from the size bytes of r. It is there when
	// Upload has returned nil; after an error the key is as before.
	Upload(ctx context.Context, key string, r io.ReaderAt, size int64) error
	// Create begins an object of unknown size, which is there when it is committed.
	// ctx holds until then. NewWriter compresses what is written to it.
	Create(ctx context.Context, key string) (Destination, error)
	// Remove removes an object; that there is none is no error.
	Remove(ctx context.Context, key string) error
}

// A Destination takes the bytes of one output, which is there when it is whole.
type Destination interface {
	io.Writer
	// Commit makes the output durable and visible. After an error nothing is there
	// that was not there before. Called once.
	Commit() error
	// Abort leaves nothing behind. After Commit, or a second time, it does nothing.
	Abort()
}
