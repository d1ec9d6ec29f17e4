package corpus

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/alike-dev/alike/internal/fault"
)

// An object is read front to back by requests for ranges, of which several are
// under way at once, because one connection rarely carries what the network
// can:
//
//	object  ├─1─┼──2──┼────3────┼────4────┼─ …
//	         read  ready  …coming  …coming   not asked for yet
//
// An object of up to a quarter of the read-ahead is one range. Those of a larger
// one begin small and few, so that reading just a header costs little, and
// double up to that size, four at a time. Memory of an open
// object: at most the read-ahead (8 MiB by default). A range that breaks off
// is continued where it broke, by another request for the rest, for as long as
// requests bring bytes.
//
// Each range is fetched by a goroutine of its own, which the reader's context
// ends; Close waits for them.

const (
	defaultReadAhead = 8 << 20
	rangesAhead      = 4
	firstRange       = 256 << 10
)

// patience is how long a request is waited for, and how often it is repeated.
type patience struct {
	tries          int           // in a row without a byte
	pause, longest time.Duration // before the second try, doubling up to longest
	idle           time.Duration // without a byte, until a request is given up
}

var defaultPatience = patience{tries: 8, pause: 200 * time.Millisecond, longest: 5 * time.Second, idle: 30 * time.Second}

// objectFetcher reads ranges of one object. It is safe for concurrent use.
type objectFetcher struct {
	bucket Bucket
	object Object
	patience
}

var errIdle = errors.New("no data for too long")

// fetch fills buf with the bytes from offset on. The error is an *fault.Unread.
func (f *objectFetcher) fetch(ctx context.Context, offset int64, buf []byte) error {
	have, pause := 0, f.pause
	for try := 1; ; try++ {
		n, err := f.request(ctx, offset+int64(have), buf[have:])
		have += n
		switch {
		case have == len(buf):
			return nil
		case ctx.Err() != nil:
			return &fault.Unread{Err: ctx.Err()}
		case isFinal(err):
			return &fault.Unread{Err: err}
		case n > 0: // it goes on
			try, pause = 1, f.pause
		case try == f.tries:
			return &fault.Unread{Err: fault.Caused(ErrUnavailable, err,
				"the object storage does not deliver (%v; tried %d times); check the network and run again", err, f.tries)}
		}
		select {
		case <-ctx.Done():
			return &fault.Unread{Err: ctx.Err()}
		case <-time.After(max(pause/2+rand.N(pause/2+1), askedPause(err))):
		}
		pause = min(2*pause, f.longest)
	}
}

// askedPause returns how long an error says that the server asks to wait.
func askedPause(err error) time.Duration {
	var asks interface{ RetryAfter() time.Duration }
	if errors.As(err, &asks) {
		return asks.RetryAfter()
	}
	return 0
}

// isFinal reports whether another try would give the same error.
func isFinal(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) ||
		errors.Is(err, ErrChanged)
}

// request makes one request and returns how many bytes of buf it has filled. It
// gives up when no byte comes for a while.
func (f *objectFetcher) request(ctx context.Context, offset int64, buf []byte) (have int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(f.idle, func() { cancel(errIdle) })
	defer watch.Stop()
	body, err := f.bucket.Read(ctx, f.object, offset, int64(len(buf)))
	if err == nil {
		defer body.Close()
	}
	for err == nil && have < len(buf) {
		var n int
		n, err = body.Read(buf[have:])
		if n > 0 {
			have += n
			watch.Reset(f.idle)
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return have, err
}

// objectReader reads an object front to back. It belongs to one goroutine.
type objectReader struct {
	objectFetcher
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // of the goroutines that fetch

	queue []*objectRange // in the order of the object; the first is being read
	pos   int            // read of the first
	asked int64          // bytes of the object that ranges were made for
	size  int            // of the next range
	most  int            // bytes of a range
	ahead int            // ranges that may be in the queue
	free  [][]byte       // buffers of ranges that were read
	err   error          // of all further calls
}

type objectRange struct {
	data  []byte
	ready chan error // one value, when data is full or cannot be
	here  bool
}

// newObjectReader begins to read an object.
func newObjectReader(ctx context.Context, f objectFetcher, readAhead int) *objectReader {
	if readAhead == 0 {
		readAhead = defaultReadAhead
	}
	r := &objectReader{objectFetcher: f, most: max(readAhead/rangesAhead, 1), ahead: 1}
	r.size = min(firstRange, r.most)
	if f.object.Size <= int64(r.most) {
		r.size = r.most // one request is all that it takes
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.ask()
	return r
}

// ask begins to fetch as many ranges as may be under way.
func (r *objectReader) ask() {
	for len(r.queue) < r.ahead && r.asked < r.object.Size {
		offset := r.asked
		q := &objectRange{data: r.buffer(int(min(int64(r.size), r.object.Size-offset))), ready: make(chan error, 1)}
		r.wg.Go(func() { q.ready <- r.fetch(r.ctx, offset, q.data) })
		r.queue = append(r.queue, q)
		r.asked += int64(len(q.data))
		r.size = min(2*r.size, r.most)
	}
}

func (r *objectReader) buffer(n int) []byte {
	for i, b := range r.free {
		if cap(b) >= n {
			r.free = append(r.free[:i], r.free[i+1:]...)
			return b[:n]
		}
	}
	r.free = nil // too small for what comes now
	return make([]byte, n)
}

func (r *objectReader) Read(p []byte) (int, error) {
	for r.err == nil {
		if len(r.queue) == 0 {
			r.err = io.EOF
			break
		}
		head := r.queue[0]
		if !head.here {
			if r.err = <-head.ready; r.err != nil {
				r.cancel()
				break
			}
			head.here = true
		}
		if r.pos < len(head.data) {
			n := copy(p, head.data[r.pos:])
			r.pos += n
			return n, nil
		}
		r.queue, r.pos = r.queue[1:], 0
		r.free = append(r.free, head.data)
		r.ahead = min(r.ahead+1, rangesAhead)
		r.ask()
	}
	return 0, r.err
}

// Close ends all requests and waits for their goroutines.
func (r *objectReader) Close() error {
	r.cancel()
	r.wg.Wait()
	r.queue, r.free, r.err = nil, nil, fs.ErrClosed
	return nil
}

// A lazyDecoder makes its decoder when it is read first: decoders read the start
// of their stream at once, and opening a source shall not wait for a network.
type lazyDecoder struct {
	r io.Reader
	c Compression
	decoder
	err error
}

func (l *lazyDecoder) Read(p []byte) (int, error) {
	if l.decoder == nil && l.err == nil {
		l.decoder, l.err = newDecoder(l.r, l.c)
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.decoder.Read(p)
}

func (l *lazyDecoder) release() {
	if l.decoder != nil {
		l.decoder.release()
	}
}
