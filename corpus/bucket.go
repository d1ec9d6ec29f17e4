package corpus

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/alike-dev/alike/internal/setting"
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
	// ctx holds until then.
	Create(ctx context.Context, key string) (Destination, error)
	// Remove removes an object; that there is none is no error.
	Remove(ctx context.Context, key string) error
}

// context returns the context of reading objects.
func (o Options) context() context.Context {
	if o.Context != nil {
		return o.Context
	}
	return context.Background()
}

// location is a URL of an object store, taken apart: scheme://bucket/key?query.
// The key is taken as it stands, without percent-decoding.
type location struct {
	scheme, bucket, key string
	query               string // settings for who opens the bucket
}

var (
	schemePattern = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+)://`)
	// queryPattern tells a query from the ? of a glob: a name and an equals sign
	// follow it.
	queryPattern = regexp.MustCompile(`\?[A-Za-z][A-Za-z0-9_.-]*=`)
)

// parseURL takes a URL apart; ok is false for a path.
func parseURL(s string) (at location, ok bool) {
	m := schemePattern.FindStringSubmatch(s)
	if m == nil {
		return at, false
	}
	rest := s[len(m[0]):]
	if i := queryPattern.FindStringIndex(rest); i != nil {
		rest, at.query = rest[:i[0]], rest[i[0]+1:]
	}
	at.scheme = strings.ToLower(m[1])
	at.bucket, at.key, _ = strings.Cut(rest, "/")
	return at, true
}

// IsURL reports whether an input or output names a place in an object store,
// such as s3://bucket/prefix. A file:// URL names a path (see LocalPath).
func IsURL(s string) bool {
	at, ok := parseURL(s)
	return ok && at.scheme != "file"
}

// LocalPath returns the path that a file:// URL names; every other name is
// returned as it is. file:///a/b and file://localhost/a/b are /a/b, file://./a is
// a below the working folder, and file:///c:/a is c:\a on Windows.
func LocalPath(s string) string {
	at, ok := parseURL(s)
	if !ok || at.scheme != "file" {
		return s
	}
	path := "/" + at.key
	if at.bucket == "." || runtime.GOOS == "windows" {
		path = at.key
	}
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	return filepath.FromSlash(path)
}

// path is the URL as ids and messages name it, without the query.
func (l location) path() string {
	if l.key == "" {
		return l.scheme + "://" + l.bucket
	}
	return l.scheme + "://" + l.bucket + "/" + l.key
}

// bucketURL is what the bucket is opened by.
func (l location) bucketURL() string {
	s := l.scheme + "://" + l.bucket
	if l.query != "" {
		s += "?" + l.query
	}
	return s
}

// open opens the bucket.
func (l location) open(ctx context.Context, o Options) (Bucket, error) {
	switch {
	case o.Buckets == nil:
		return nil, because(ErrUnsupported, "no access to object storage is set up (Options.Buckets); copy the data to a folder")
	case l.bucket == "":
		return nil, because(fs.ErrInvalid, "no bucket in the URL; write it as %s://bucket/prefix", l.scheme)
	}
	return o.Buckets(ctx, l.bucketURL())
}

// InsideURL reports whether the object that a URL names is, or lies in, what an
// input URL names, so that a later reader of the input would find it.
func InsideURL(object, input string) bool {
	at, ok := parseURL(object)
	in, inOK := parseURL(input)
	if !ok || !inOK || at.scheme != in.scheme || at.bucket != in.bucket {
		return false
	}
	if at.key == in.key {
		return true
	}
	_, inside := matchKey(in.key, at.key)
	return inside
}

// unsafe reports whether a character cannot stand in the name of a file.
func unsafe(r rune) bool {
	if runtime.GOOS == "windows" {
		return r < ' ' || strings.ContainsRune(`<>:"|?*\`, r)
	}
	return r == 0
}

// nameParts returns the names on the way to an object, each one that a file can
// have: a key may hold anything, "../../etc" too.
func (l location) nameParts() []string {
	parts := []string{l.scheme, l.bucket}
	if l.key == "" {
		return parts
	}
	for name := range strings.SplitSeq(l.key, "/") {
		if name == "" || name == "." || name == ".." {
			name = strings.Repeat("_", max(1, len(name)))
		}
		parts = append(parts, strings.Map(func(r rune) rune {
			if unsafe(r) {
				return '_'
			}
			return r
		}, name))
	}
	return parts
}

// objectError marks an error of an object store among those of decoders.
type objectError struct{ error }

func (e *objectError) Unwrap() error { return e.error }

// IsOutage reports whether an error of Open or Next tells of the way to an object
// store and not of what lies there: it is out of reach, or access or the context
// has ended. The records that are missing are there for another run, so that
// it is better to fail than to count them as skipped.
func IsOutage(err error) bool {
	var of *objectError
	return errors.As(err, &of) && !errors.Is(of, ErrChanged) && !errors.Is(of, fs.ErrNotExist) && !errors.Is(of, fs.ErrInvalid)
}

// unavailable is the error when all tries were in vain.
func unavailable(tries int, err error) error {
	return &reason{kind: ErrUnavailable, cause: err, text: setting.Textf(
		"the object storage does not deliver (%v; tried %d times); check the network and run again", err, tries)}
}
