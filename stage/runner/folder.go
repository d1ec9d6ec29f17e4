package runner

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/remote"
)

// writable is a bucket that tasks can write to.
type writable interface {
	corpus.Bucket
	Create(ctx context.Context, key string) (corpus.Destination, error)
}

// folder is a local folder as a bucket. Keys are slash paths below it.
type folder struct {
	root string
	// volatile: files need not survive a power failure, because they can be made again.
	volatile bool
}

func (f folder) path(key string) string { return filepath.Join(f.root, filepath.FromSlash(key)) }

// List implements corpus.Bucket for prefixes that end in a slash.
func (f folder) List(ctx context.Context, prefix string, each func(corpus.Object) error) error {
	root := f.path(prefix)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // a temporary file that another process has just renamed
			return nil
		}
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return errors.Join(ctx.Err(), each(corpus.Object{Key: prefix + filepath.ToSlash(below), Size: info.Size(), ModTime: info.ModTime()}))
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Stat implements corpus.Bucket.
func (f folder) Stat(_ context.Context, key string) (corpus.Object, error) {
	info, err := os.Stat(f.path(key))
	if err != nil {
		return corpus.Object{}, fault.File(err)
	}
	return corpus.Object{Key: key, Size: info.Size(), ModTime: info.ModTime()}, nil
}

// Read implements corpus.Bucket.
func (f folder) Read(_ context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	file, err := os.Open(f.path(o.Key))
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(file, offset, length), file}, nil
}

// Create implements writable.
func (f folder) Create(_ context.Context, key string) (corpus.Destination, error) {
	to, err := filelock.Create(vfs.Default, f.path(key))
	if err == nil {
		to.Volatile = f.volatile
	}
	return to, err
}

// splitName splits the last part from a path or from the key of a URL.
func splitName(where string) (folder, name string) {
	at, ok := bucketurl.Parse(where)
	if !ok || at.Scheme == "file" {
		where = bucketurl.LocalPath(where)
		return filepath.Dir(where), filepath.Base(where)
	}
	i := strings.LastIndexByte(at.Key, '/')
	name, at.Key = at.Key[i+1:], at.Key[:max(i, 0)]
	return at.Address(), name
}

// Buckets opens buckets of object stores. See corpus.Options.
type Buckets = func(ctx context.Context, url string) (corpus.Bucket, error)

// place opens a folder, or a bucket and the prefix of keys in it.
func place(ctx context.Context, where string, buckets Buckets) (at writable, prefix string, err error) {
	if !bucketurl.Is(where) {
		return folder{root: bucketurl.LocalPath(where)}, "", nil
	}
	at, u, err := remote.Bucket(ctx, where, buckets)
	if prefix = strings.Trim(u.Key, "/"); prefix != "" {
		prefix += "/"
	}
	return at, prefix, err
}
