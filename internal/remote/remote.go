// Package remote writes to object stores: folders of files, and single objects.
package remote

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/vfs"
)

// A Prefix is a place in an object store to which output is written: all keys that begin with the
// key of its URL and a slash. It corresponds to a folder of a file system, except that several
// objects cannot appear at once: write the object last that says that all are there.
type Prefix struct {
	bucket corpus.BucketWriter
	at     bucketurl.URL
	marked bool // the URL ends in a slash
}

// Buckets opens the bucket of a URL without its key, see corpus.Options.
type Buckets = func(ctx context.Context, url string) (corpus.Bucket, error)

// Bucket opens the bucket of a URL for writing. The error is a *corpus.Problem.
func Bucket(ctx context.Context, url string, buckets Buckets) (bucket corpus.BucketWriter, at bucketurl.URL, err error) {
	at, ok := bucketurl.Parse(url)
	if !ok {
		return nil, at, &corpus.Problem{Path: url, Err: fault.Because(fs.ErrInvalid, "not a URL of an object store; write it as s3://bucket/prefix")}
	}
	found, err := bucketurl.Open(ctx, at, buckets)
	if err != nil {
		return nil, at, &corpus.Problem{Path: at.String(), Err: err}
	}
	if bucket, ok = found.(corpus.BucketWriter); !ok {
		return nil, at, &corpus.Problem{Path: at.String(), Err: fault.Because(corpus.ErrUnsupported, "this bucket can only be read; write to another one")}
	}
	return bucket, at, nil
}

// Open opens the place that a URL names. The error is a *corpus.Problem.
func Open(ctx context.Context, url string, buckets Buckets) (*Prefix, error) {
	bucket, at, err := Bucket(ctx, url, buckets)
	if err != nil {
		return nil, err
	}
	p := &Prefix{bucket: bucket, at: at}
	p.at.Key, p.marked = strings.CutSuffix(at.Key, "/")
	return p, nil
}

// URL returns the URL of the object name, or of the prefix itself for "".
func (p *Prefix) URL(name string) string {
	at := p.at
	at.Key = p.key(name)
	return strings.TrimSuffix(at.String(), "/")
}

func (p *Prefix) key(name string) string {
	if p.at.Key == "" {
		return name
	}
	return p.at.Key + "/" + name
}

func (p *Prefix) problem(name string, err error) error {
	if err == nil {
		return nil
	}
	return &corpus.Problem{Path: p.URL(name), Err: err}
}

// List calls each for the names and sizes of the objects below the prefix, in the order of the
// store. An error of each ends it and is returned unchanged.
func (p *Prefix) List(ctx context.Context, each func(name string, size int64) error) error {
	var own error
	prefix := p.key("")
	err := p.bucket.List(ctx, prefix, func(o corpus.Object) error {
		own = each(o.Key[len(prefix):], o.Size)
		return own
	})
	if own != nil {
		return own
	}
	return p.problem("", err)
}

// First returns the name of an object below the prefix, "" if there is none; it serves to refuse an
// output place that is not empty. A mark of the folder itself, as consoles make, does not count.
func (p *Prefix) First(ctx context.Context) (name string, err error) {
	err = p.List(ctx, func(n string, _ int64) error {
		if n == "" {
			return nil
		}
		name = n
		return io.EOF
	})
	if err == io.EOF {
		err = nil
	}
	return name, err
}

// Upload writes the size bytes of r to the object name, a slash path below the prefix. The object
// is there, whole, when Upload has returned nil. Safe for concurrent use; the bytes are not kept in
// memory.
func (p *Prefix) Upload(ctx context.Context, name string, r io.ReaderAt, size int64) error {
	return p.problem(name, p.bucket.Upload(ctx, p.key(name), r, size))
}

func (p *Prefix) Download(ctx context.Context, name string, to io.Writer) (err error) {
	o, err := p.bucket.Stat(ctx, p.key(name))
	if err != nil || o.Size == 0 {
		return p.problem(name, err)
	}
	from, err := p.bucket.Read(ctx, o, 0, o.Size)
	if err != nil {
		return p.problem(name, err)
	}
	_, err = io.Copy(to, from)
	return p.problem(name, errors.Join(err, from.Close()))
}

// Remove removes the object name; a missing object is no error.
func (p *Prefix) Remove(ctx context.Context, name string) error {
	return p.problem(name, p.bucket.Remove(ctx, p.key(name)))
}

// Create begins to write the object that a URL names; it appears when the Writer is committed. It
// is compressed if its name says so, by threads at once (0 = GOMAXPROCS). Create checks that the
// bucket exists; whether it may be written to is not known before the first bytes are sent. The
// error is a *corpus.Problem.
func Create(ctx context.Context, url string, buckets Buckets, threads int) (*corpus.Writer, error) {
	p, err := Open(ctx, url, buckets)
	if err != nil {
		return nil, err
	}
	if p.at.Key == "" || p.marked {
		return nil, p.problem("", fault.Because(fs.ErrInvalid, "names no object; write it as s3://bucket/name"))
	}
	err = p.bucket.List(ctx, p.at.Key, func(corpus.Object) error { return io.EOF })
	if err != nil && err != io.EOF && !errors.Is(err, fs.ErrPermission) { // the right to write does not imply the right to list
		return nil, p.problem("", err)
	}
	to, err := p.bucket.Create(ctx, p.at.Key)
	if err != nil {
		return nil, p.problem("", err)
	}
	_, c, _ := corpus.NameFormat(p.at.Key)
	return corpus.NewWriter(&namedDestination{to, p}, c, threads)
}

// namedDestination names the object in its errors.
type namedDestination struct {
	corpus.Destination
	at *Prefix
}

func (d *namedDestination) Write(p []byte) (int, error) {
	n, err := d.Destination.Write(p)
	return n, d.at.problem("", err)
}

func (d *namedDestination) Commit() error { return d.at.problem("", d.Destination.Commit()) }

// filesAtOnce is how many files of a folder are uploaded at once.
const filesAtOnce = 4

// UploadFolder uploads all files of a folder under their slash paths in it. The file last, if it
// exists, is uploaded after all others: it says that all are there. After an error some objects may
// remain; another call replaces them and RemoveFolder removes them.
func (p *Prefix) UploadFolder(ctx context.Context, on vfs.FS, folder, last string) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(filesAtOnce)
	final := false
	err := walkFiles(on, folder, "", func(name, path string) error {
		if name == last {
			final = true
			return nil
		}
		group.Go(func() error { return p.uploadFile(within, on, path, name) })
		return within.Err()
	})
	if uploaded := group.Wait(); uploaded != nil {
		return uploaded // err only follows from it
	}
	if err != nil || !final {
		return err
	}
	return p.uploadFile(ctx, on, filepath.Join(folder, last), last)
}

func (p *Prefix) uploadFile(ctx context.Context, on vfs.FS, path, name string) error {
	file, err := on.Open(path)
	if err != nil {
		return err
	}
	st, err := file.Stat()
	if err == nil {
		err = p.Upload(ctx, name, file, st.Size())
	}
	return errors.Join(err, file.Close())
}

// RemoveFolder removes the objects that UploadFolder may have made of a folder.
func (p *Prefix) RemoveFolder(ctx context.Context, on vfs.FS, folder string) error {
	return walkFiles(on, folder, "", func(name, _ string) error { return p.Remove(ctx, name) })
}

// walkFiles calls each for all files below a folder, in the order of their names. prefix is
// prepended to their slash paths.
func walkFiles(on vfs.FS, folder, prefix string, each func(name, path string) error) error {
	names, err := on.List(folder)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(folder, name)
		st, err := on.Stat(path)
		if err != nil {
			return err
		}
		if st.IsDir() {
			err = walkFiles(on, path, prefix+name+"/", each)
		} else {
			err = each(prefix+name, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
