package objects

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/sorting"
)

// S3 takes an object in one request, or in up to 10 000 parts of at least 5 MiB each,
// which become an object when a last request completes the upload. The parts of an
// abandoned upload are removed: they would stay stored, invisible, and be charged.
const (
	s3MaxParts   = 10_000
	s3FilePart   = 16 << 20 // for files, whose parts are read directly and take no memory
	s3StreamPart = 5 << 20  // for streams
	s3Parallel   = 4        // parts of a file in flight
	s3Sending    = 2        // parts of a stream in flight; one more is being filled
	abortTimeout = 30 * time.Second
)

// Upload makes an object of the bytes of r. It sends 4 parts at a time directly from r,
// and takes no memory beyond that of the connections.
func (b *s3Bucket) Upload(ctx context.Context, key string, r io.ReaderAt, size int64) error {
	if size <= int64(b.filePart) {
		return b.put(ctx, key, r, size)
	}
	part := max(int64(b.filePart), (size+s3MaxParts-1)/s3MaxParts)
	m, err := b.begin(ctx, key)
	if err != nil {
		return err
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(s3Parallel)
	for number := 1; int64(number-1)*part < size; number++ {
		start := int64(number-1) * part
		group.Go(func() error {
			return m.send(within, number, r, start, min(part, size-start))
		})
	}
	if err := group.Wait(); err != nil {
		m.abort(ctx)
		return err
	}
	return m.complete(ctx)
}

// put makes an object in one request.
func (b *s3Bucket) put(ctx context.Context, key string, r io.ReaderAt, size int64) error {
	return retry(ctx, 0, func(ctx context.Context) error {
		_, err := b.call(ctx, &s3Request{method: http.MethodPut, key: key, header: http.Header{"Content-Type": {contentType}},
			body: io.NewSectionReader(r, 0, size)}, nil)
		return err
	})
}

// s3Parts is an upload in parts.
type s3Parts struct {
	b   *s3Bucket
	key string
	id  string

	mu    sync.Mutex
	size  int64 // of the parts sent so far
	parts []s3Part
}

// s3Part is a part as the server knows it.
type s3Part struct {
	PartNumber     int
	ETag           string
	ChecksumSHA256 string `xml:",omitempty"`
}

func (b *s3Bucket) begin(ctx context.Context, key string) (*s3Parts, error) {
	header := http.Header{"Content-Type": {contentType}}
	if b.checksum {
		header["X-Amz-Checksum-Algorithm"] = []string{"SHA256"}
	}
	var begun struct{ UploadId string }
	err := retry(ctx, requestTimeout, func(ctx context.Context) error {
		_, err := b.call(ctx, &s3Request{method: http.MethodPost, key: key, query: url.Values{"uploads": {""}}, header: header}, &begun)
		return err
	})
	return &s3Parts{b: b, key: key, id: begun.UploadId}, err
}

// send sends one part; numbers start at 1. Safe for concurrent use.
func (m *s3Parts) send(ctx context.Context, number int, r io.ReaderAt, start, size int64) error {
	q := &s3Request{
		method: http.MethodPut, key: m.key, body: io.NewSectionReader(r, start, size),
		query: url.Values{"partNumber": {strconv.Itoa(number)}, "uploadId": {m.id}},
	}
	var header http.Header
	err := retry(ctx, 0, func(ctx context.Context) (err error) {
		header, err = m.b.call(ctx, q, nil)
		return err
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size += size
	m.parts = append(m.parts, s3Part{number, header.Get("ETag"), q.checksum})
	return nil
}

// complete turns the parts into an object, or removes them.
func (m *s3Parts) complete(ctx context.Context) error {
	sorting.Func(m.parts, func(a, b s3Part) int { return cmp.Compare(a.PartNumber, b.PartNumber) })
	body, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUpload"`
		Part    []s3Part
	}{Part: m.parts})
	if err != nil {
		return err
	}
	tries := 0
	err = retry(ctx, 0, func(ctx context.Context) error {
		tries++
		_, err := m.b.call(ctx, &s3Request{
			method: http.MethodPost, key: m.key, query: url.Values{"uploadId": {m.id}},
			body: io.NewSectionReader(bytes.NewReader(body), 0, int64(len(body))),
		}, &struct{}{})
		var told *s3Error
		if tries > 1 && errors.As(err, &told) && told.Code == "NoSuchUpload" && m.isThere(ctx) {
			return nil // only the answer to the first try was lost
		}
		return err
	})
	if err != nil {
		m.abort(ctx)
	}
	return err
}

// isThere reports whether the object has as many bytes, and parts, as were sent. With AWS
// the ETag ends in the number of parts; not all servers report it.
func (m *s3Parts) isThere(ctx context.Context) bool {
	o, err := m.b.Stat(ctx, m.key)
	_, parts, told := strings.Cut(strings.Trim(o.Version, `"`), "-")
	return err == nil && o.Size == m.size && (!told || parts == strconv.Itoa(len(m.parts)))
}

// abort removes the parts, even if ctx has ended.
func (m *s3Parts) abort(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	// The caller reports the error that led here.
	_, _ = m.b.call(ctx, &s3Request{method: http.MethodDelete, key: m.key, query: url.Values{"uploadId": {m.id}}}, nil)
}

// Create begins an object of unknown size, at most 50 GiB. It takes up to 15 MiB of
// memory, but not more than is written.
func (b *s3Bucket) Create(ctx context.Context, key string) (corpus.Destination, error) {
	w := &s3Writer{b: b, key: key, ctx: ctx}
	w.within, w.cancel = context.WithCancelCause(ctx)
	w.free = make(chan []byte, s3Sending)
	for range s3Sending {
		w.free <- nil
	}
	return w, nil
}

// s3Writer sends parts while the next one is being filled. An object that fits in
// one part is sent in one request by Commit.
type s3Writer struct {
	b      *s3Bucket
	key    string
	ctx    context.Context
	within context.Context // ends with the first error
	cancel context.CancelCauseFunc

	buf   []byte
	parts *s3Parts // nil: nothing sent yet
	next  int      // number of the last part
	free  chan []byte
	wg    sync.WaitGroup
	ended bool
}

func (w *s3Writer) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if w.ended {
			return n, fs.ErrClosed
		}
		if len(w.buf) == w.b.streamPart {
			if err := w.flush(); err != nil {
				return n, err
			}
		}
		m := min(len(p)-n, w.b.streamPart-len(w.buf))
		w.buf = append(w.buf, p[n:n+m]...)
		n += m
	}
	return n, w.err()
}

// err returns the first error, that of a part or of the context.
func (w *s3Writer) err() error {
	if w.within.Err() == nil {
		return nil
	}
	return context.Cause(w.within)
}

// flush sends the buffer as a part, once fewer than s3Sending are in flight.
func (w *s3Writer) flush() (err error) {
	if w.parts == nil {
		if w.parts, err = w.b.begin(w.within, w.key); err != nil {
			w.cancel(err)
			return err
		}
	}
	if w.next == s3MaxParts {
		return fault.Caused(errors.ErrUnsupported, nil,
			"the output is longer than %d GiB, too long for an object of unknown size; write it to a file, or compressed (.zst)",
			s3MaxParts*w.b.streamPart>>30)
	}
	var empty []byte
	select {
	case empty = <-w.free:
	case <-w.within.Done():
		return w.err()
	}
	full := w.buf
	w.buf = empty[:0]
	w.next++
	number := w.next
	w.wg.Go(func() {
		part := &lent{from: bytes.NewReader(full)}
		if err := w.parts.send(w.within, number, part, 0, int64(len(full))); err != nil {
			w.cancel(err)
		}
		part.takeBack()
		w.free <- full
	})
	return nil
}

// Commit sends the rest. After an error there is no object.
func (w *s3Writer) Commit() error {
	if w.ended {
		return fs.ErrClosed
	}
	defer w.Abort()
	if w.parts == nil {
		if err := w.err(); err != nil {
			return err
		}
		return w.b.put(w.ctx, w.key, bytes.NewReader(w.buf), int64(len(w.buf)))
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.wg.Wait()
	if err := w.err(); err != nil {
		return err
	}
	parts := w.parts
	w.parts = nil
	return parts.complete(w.ctx)
}

// Abort cancels requests in flight and removes the parts.
func (w *s3Writer) Abort() {
	w.ended = true
	w.cancel(nil)
	w.wg.Wait()
	if w.parts != nil {
		w.parts.abort(w.ctx)
		w.parts = nil
	}
	w.buf = nil
}
