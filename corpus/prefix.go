package corpus

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
)

// A Prefix is a place in an object store that output is written to: all keys
// that begin with the key of its URL and a slash. It is what a folder is in a
// file system, except that nothing makes several objects appear at once:
// write last what says that all is there.
type Prefix struct {
	bucket BucketWriter
	at     location
	marked bool // the URL ends in a slash
}

// OpenPrefix opens the place that a URL names. The error is a *Problem.
func OpenPrefix(ctx context.Context, url string, o Options) (*Prefix, error) {
	at, ok := parseURL(url)
	if !ok {
		return nil, &Problem{Path: url, Err: because(fs.ErrInvalid, "not a URL of an object store; write it as s3://bucket/prefix")}
	}
	p := &Prefix{at: at}
	p.at.key, p.marked = strings.CutSuffix(at.key, "/")
	bucket, err := at.open(ctx, o)
	if err != nil {
		return nil, p.problem("", err)
	}
	p.bucket, ok = bucket.(BucketWriter)
	if !ok {
		return nil, p.problem("", because(ErrUnsupported, "this bucket can only be read; write to another one"))
	}
	return p, nil
}

// URL returns the URL of the object name, or of the prefix itself for "".
func (p *Prefix) URL(name string) string {
	at := p.at
	at.key = p.key(name)
	return strings.TrimSuffix(at.path(), "/")
}

func (p *Prefix) key(name string) string {
	if p.at.key == "" {
		return name
	}
	return p.at.key + "/" + name
}

func (p *Prefix) problem(name string, err error) error {
	if err == nil {
		return nil
	}
	return &Problem{Path: p.URL(name), Err: err}
}

// List calls each for the names and sizes of the objects below the prefix, in
// the order of the store. An error of each ends it and is returned as it is.
func (p *Prefix) List(ctx context.Context, each func(name string, size int64) error) error {
	var own error
	prefix := p.key("")
	err := p.bucket.List(ctx, prefix, func(o Object) error {
		own = each(o.Key[len(prefix):], o.Size)
		return own
	})
	if own != nil {
		return own
	}
	return p.problem("", err)
}

// First returns the name of an object below the prefix, "" if there is none: to
// refuse an output place that is not empty. A mark of the folder itself, as
// consoles make, does not count.
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

// Upload writes the size bytes of r to the object name, a slash path below the
// prefix. It is there, whole, when Upload has returned nil. Safe for concurrent
// use; the bytes are not kept in memory.
func (p *Prefix) Upload(ctx context.Context, name string, r io.ReaderAt, size int64) error {
	return p.problem(name, p.bucket.Upload(ctx, p.key(name), r, size))
}

// Remove removes the object name; that there is none is no error.
func (p *Prefix) Remove(ctx context.Context, name string) error {
	return p.problem(name, p.bucket.Remove(ctx, p.key(name)))
}

// CreateObject is Create for the object that a URL names, which is there when
// the Writer is committed. It is compressed when its name says so. Whether the
// bucket is there is asked at once, whether it may be written to is not known
// before the first bytes are sent. The error is a *Problem.
func CreateObject(ctx context.Context, url string, o Options, threads int) (*Writer, error) {
	p, err := OpenPrefix(ctx, url, o)
	if err != nil {
		return nil, err
	}
	if p.at.key == "" || p.marked {
		return nil, p.problem("", because(fs.ErrInvalid, "names no object; write it as s3://bucket/name"))
	}
	err = p.bucket.List(ctx, p.at.key, func(Object) error { return io.EOF })
	if err != nil && err != io.EOF && !errors.Is(err, fs.ErrPermission) { // who may write need not be allowed to list
		return nil, p.problem("", err)
	}
	to, err := p.bucket.Create(ctx, p.at.key)
	if err != nil {
		return nil, p.problem("", err)
	}
	_, c, _ := NameFormat(p.at.key)
	return NewWriter(&namedDestination{to, p}, c, threads)
}

// namedDestination names the object in its errors.
type namedDestination struct {
	Destination
	at *Prefix
}

func (d *namedDestination) Write(p []byte) (int, error) {
	n, err := d.Destination.Write(p)
	return n, d.at.problem("", err)
}

func (d *namedDestination) Commit() error { return d.at.problem("", d.Destination.Commit()) }
