package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/durable"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/remote"
	"github.com/alike-dev/alike/vfs"
)

// writable is a bucket that tasks can write to.
type writable interface {
	corpus.Bucket
	Create(ctx context.Context, key string) (corpus.Destination, error)
}

// folder is a local folder as a bucket. Keys are slash paths below it. It neither writes through links nor reads what
// is no regular file; the folder itself may be a link, because the user has named it.
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
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
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
	info, err := os.Lstat(f.path(key))
	if err != nil {
		return corpus.Object{}, fault.File(err)
	}
	if err := durable.CheckRegular(f.path(key), info); err != nil {
		return corpus.Object{}, err
	}
	return corpus.Object{Key: key, Size: info.Size(), ModTime: info.ModTime()}, nil
}

// Read implements corpus.Bucket.
func (f folder) Read(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	if _, err := f.Stat(ctx, o.Key); err != nil {
		return nil, err
	}
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
	for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
		if err := durable.CheckDir(vfs.OS, f.path(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	to, err := filelock.Create(vfs.OS, f.path(key))
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

// place is a folder, or the objects of a bucket whose keys begin with a prefix. Names in it are slash paths. They may
// come from a plan or an object, so each is checked here: none leads out of the place.
type place struct {
	at     writable
	prefix string
}

// openPlace opens the place that a path or URL names. volatile: see folder.
func openPlace(ctx context.Context, where string, buckets Buckets, volatile bool) (p place, err error) {
	if !bucketurl.Is(where) {
		return place{at: folder{bucketurl.LocalPath(where), volatile}}, nil
	}
	at, u, err := remote.Bucket(ctx, where, buckets)
	if p.prefix = strings.Trim(u.Key, "/"); p.prefix != "" {
		p.prefix += "/"
	}
	p.at = at
	return p, err
}

var errOutside = errors.New("not a name below its folder")

// checkName refuses names that lead out of a place. On Windows backslashes, names of drives and those of devices count.
func checkName(name string) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) == "." {
		return fmt.Errorf("%.100q is %w", name, errOutside)
	}
	return nil
}

func (p place) create(ctx context.Context, name string) (corpus.Destination, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return p.at.Create(ctx, p.prefix+name)
}

func (p place) stat(ctx context.Context, name string) (corpus.Object, error) {
	if err := checkName(name); err != nil {
		return corpus.Object{}, err
	}
	return p.at.Stat(ctx, p.prefix+name)
}

func (p place) openRange(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	if length == 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	r, err := p.at.Read(ctx, o, offset, length)
	if err != nil {
		return nil, &corpus.Problem{Path: o.Key, Err: err}
	}
	return r, nil
}

func (p place) read(ctx context.Context, o corpus.Object, offset, length int64) ([]byte, error) {
	r, err := p.openRange(ctx, o, offset, length)
	if err != nil {
		return nil, err
	}
	b := make([]byte, length)
	_, err = io.ReadFull(r, b)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, &corpus.Problem{Path: o.Key, Err: err}
	}
	return b, nil
}
