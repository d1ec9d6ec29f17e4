package corpus

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus/internal/patience"
	"github.com/alike-dev/alike/corpus/internal/ranges"
	"github.com/alike-dev/alike/internal/fault"
)

// memBucket is a bucket in memory that fails as it is told to.
type memBucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	version map[string]int
	// fault is asked before each request for bytes, whose number counts from 1: how
	// many bytes to give, and the error after them. Without an error all are given.
	fault    func(request int, offset, length int64) (give int64, err error)
	requests int
	open     int   // requests under way
	most     int   // of open at once
	asked    int64 // bytes of all requests
}

// errHang as a fault: nothing more comes until the context ends.
var errHang = errors.New("hang")

func newMemBucket(keys ...string) *memBucket {
	b := &memBucket{objects: map[string][]byte{}, version: map[string]int{}}
	for _, key := range keys {
		b.put(key, []byte(key))
	}
	return b
}

func (b *memBucket) put(key string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[key] = data
	b.version[key]++
}

// options returns o with the bucket behind every URL.
func (b *memBucket) options(o Options) Options {
	o.Buckets = func(context.Context, string) (Bucket, error) { return b, nil }
	return o
}

func (b *memBucket) object(key string) Object {
	return Object{Key: key, Size: int64(len(b.objects[key])), ModTime: time.Unix(1, 0), Version: strconv.Itoa(b.version[key])}
}

// bytes are those of an object.
func (b *memBucket) bytes(key string) ranges.Object {
	o := object{bucket: b, Object: b.object(key)}
	return o.bytes()
}

func (b *memBucket) List(_ context.Context, prefix string, each func(Object) error) error {
	b.mu.Lock()
	var objects []Object
	for key := range b.objects { // in no order
		if strings.HasPrefix(key, prefix) {
			objects = append(objects, b.object(key))
		}
	}
	b.mu.Unlock()
	for _, o := range objects {
		if err := each(o); err != nil {
			return err
		}
	}
	return nil
}

func (b *memBucket) Stat(_ context.Context, key string) (Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.objects[key]; !ok {
		return Object{}, fault.Because(fs.ErrNotExist, "no such object")
	}
	return b.object(key), nil
}

func (b *memBucket) Read(ctx context.Context, o Object, offset, length int64) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.objects[o.Key]
	switch {
	case !ok:
		return nil, fault.Because(fs.ErrNotExist, "no such object any more")
	case b.object(o.Key).Version != o.Version:
		return nil, fault.Because(ErrChanged, "the object was changed")
	case offset < 0 || length <= 0 || offset+length > int64(len(data)):
		return nil, errors.New("a range beyond the object")
	}
	b.requests++
	b.asked += length
	r := &memReader{b: b, ctx: ctx, left: data[offset : offset+length]}
	if b.fault != nil {
		give, err := b.fault(b.requests, offset, length)
		if err != nil && give == 0 && err != errHang {
			return nil, err
		}
		if err != nil {
			r.left, r.err = r.left[:give], err
		}
	}
	b.open++
	b.most = max(b.most, b.open)
	return r, nil
}

type memReader struct {
	b    *memBucket
	ctx  context.Context
	left []byte
	err  error
}

func (r *memReader) Read(p []byte) (int, error) {
	if len(r.left) > 0 {
		n := copy(p, r.left[:min(len(r.left), 70_000)])
		r.left = r.left[n:]
		return n, nil
	}
	if r.err == errHang {
		<-r.ctx.Done()
		return 0, r.ctx.Err()
	}
	if r.err != nil {
		return 0, r.err
	}
	return 0, io.EOF
}

func (r *memReader) Close() error {
	r.b.mu.Lock()
	r.b.open--
	r.b.mu.Unlock()
	return nil
}

// impatient makes waiting short for a test.
func impatient(t *testing.T) {
	usual, idle := patience.Usual, ranges.Idle
	t.Cleanup(func() { patience.Usual, ranges.Idle = usual, idle })
	patience.Usual.Pause, patience.Usual.Longest = time.Microsecond, time.Microsecond
}
