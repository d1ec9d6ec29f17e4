package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/corpus/internal/patience"
	"github.com/alike-dev/alike/internal/fault"
)

// Google Cloud Storage takes an object in a resumable upload: a POST begins it and
// answers with an address, to which PUTs send the bytes in order. When a PUT breaks off,
// the server is asked how much it has, and the next PUT continues from there. The object
// does not exist until the last byte has arrived; an unfinished upload disappears after a
// week, or by a DELETE.

// gsPutTries is how many PUTs in a row may succeed without delivering a byte.
const gsPutTries = 6

// gsUpload is one resumable upload.
type gsUpload struct {
	b       *gsBucket
	session string
	at      int64 // bytes that the server has
}

func (b *gsBucket) begin(ctx context.Context, key string) (*gsUpload, error) {
	query := url.Values{"uploadType": {"resumable"}, "name": {key}}
	u := &gsUpload{b: b}
	err := retry(ctx, requestTimeout, func(ctx context.Context) error {
		r, err := b.do(ctx, http.MethodPost, b.server+"/upload/storage/v1/b/"+url.PathEscape(b.name)+"/o?"+query.Encode(),
			http.Header{"X-Upload-Content-Type": {contentType}, "Content-Length": {"0"}}, nil)
		if err != nil {
			return err
		}
		u.session = r.Header.Get("Location")
		return r.Body.Close()
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.Caused(fs.ErrNotExist, err, "no such bucket; check its name")
	}
	if err == nil && u.session == "" {
		err = fault.Caused(corpus.ErrUnavailable, nil, "the server does not begin the upload; check STORAGE_EMULATOR_HOST")
	}
	return u, err
}

// send sends the bytes of r from u.at to end. total is the size of the object, or -1 when
// it is not known yet.
func (u *gsUpload) send(ctx context.Context, r io.ReaderAt, end, total int64) error {
	for try, without := 1, 0; without < gsPutTries; try++ {
		before := u.at
		done, err := u.put(ctx, io.NewSectionReader(r, before, end-before), end, total)
		if err == nil && (done || total < 0 && u.at == end) {
			return nil
		}
		if err != nil {
			if ctx.Err() != nil || !errors.Is(err, corpus.ErrUnavailable) {
				return err
			}
			if err := patience.Usual.Wait(ctx, try, err); err != nil {
				return err
			}
			if done, err = u.ask(ctx, total); err != nil || done || total < 0 && u.at == end {
				return err
			}
		} else {
			without++
		}
		if u.at > before {
			try, without = 0, 0
		}
	}
	return fault.Caused(corpus.ErrUnavailable, nil, "the server accepts no more bytes; try again later")
}

// put makes one PUT. done: the object is complete.
func (u *gsUpload) put(ctx context.Context, body *io.SectionReader, end, total int64) (done bool, err error) {
	size := "*"
	if total >= 0 {
		size = strconv.FormatInt(total, 10)
	}
	header := http.Header{"Content-Length": {strconv.FormatInt(body.Size(), 10)}}
	if body.Size() == 0 {
		header["Content-Range"] = []string{"bytes */" + size}
		return u.request(ctx, header, nil)
	}
	header["Content-Range"] = []string{fmt.Sprintf("bytes %d-%d/%s", u.at, end-1, size)}
	return u.request(ctx, header, io.NopCloser(body))
}

// ask asks how many bytes the server has.
func (u *gsUpload) ask(ctx context.Context, total int64) (done bool, err error) {
	size := "*"
	if total >= 0 {
		size = strconv.FormatInt(total, 10)
	}
	err = retry(ctx, requestTimeout, func(ctx context.Context) error {
		var err error
		done, err = u.request(ctx, http.Header{"Content-Range": {"bytes */" + size}, "Content-Length": {"0"}}, nil)
		return err
	})
	return done, err
}

// request makes a PUT and records how many bytes the server has: until the object is
// whole it answers 308 with the range that it has.
func (u *gsUpload) request(ctx context.Context, header http.Header, body io.Reader) (done bool, err error) {
	r, err := u.b.do(ctx, http.MethodPut, u.session, header, body)
	if err != nil {
		return false, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusPermanentRedirect {
		return true, nil
	}
	u.at = 0
	if _, last, ok := strings.Cut(r.Header.Get("Range"), "-"); ok {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			return false, fault.Caused(corpus.ErrUnavailable, err, "the server sends an invalid Range header (%s); try again later", r.Header.Get("Range"))
		}
		u.at = n + 1
	}
	return false, nil
}

// abort discards what was sent, even if ctx has ended.
func (u *gsUpload) abort(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	// The caller reports the error that led here; success is answered with status 499.
	if r, err := u.b.do(ctx, http.MethodDelete, u.session, http.Header{"Content-Length": {"0"}}, nil); err == nil {
		_ = r.Body.Close()
	}
}

// Upload makes an object of the bytes of r, sent directly from r.
func (b *gsBucket) Upload(ctx context.Context, key string, r io.ReaderAt, size int64) error {
	u, err := b.begin(ctx, key)
	if err != nil {
		return err
	}
	if err := u.send(ctx, r, size, size); err != nil {
		u.abort(ctx)
		return err
	}
	return nil
}

// Create begins an object of unknown size. It takes 8 MiB of memory.
func (b *gsBucket) Create(ctx context.Context, key string) (corpus.Destination, error) {
	u, err := b.begin(ctx, key)
	if err != nil {
		return nil, err
	}
	return &gsWriter{ctx: ctx, u: u}, nil
}

// gsWriter sends each chunk when it is full.
type gsWriter struct {
	ctx   context.Context
	u     *gsUpload
	start int64 // of buf in the object
	buf   []byte
	ended bool
}

// chunkAt is a chunk at its place in the object.
type chunkAt struct {
	*bytes.Reader
	start int64
}

func (c chunkAt) ReadAt(p []byte, off int64) (int, error) { return c.Reader.ReadAt(p, off-c.start) }

func (w *gsWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if w.ended {
			return n, fs.ErrClosed
		}
		if len(w.buf) == w.u.b.chunk {
			if err := w.flush(-1); err != nil {
				return n, err
			}
		}
		m := min(len(p)-n, w.u.b.chunk-len(w.buf))
		w.buf = append(w.buf, p[n:n+m]...)
		n += m
	}
	return n, nil
}

func (w *gsWriter) flush(total int64) error {
	end := w.start + int64(len(w.buf))
	chunk := &lent{from: chunkAt{bytes.NewReader(w.buf), w.start}}
	err := w.u.send(w.ctx, chunk, end, total)
	chunk.takeBack()
	if err != nil {
		return err
	}
	w.start, w.buf = end, w.buf[:0]
	return nil
}

func (w *gsWriter) Commit() error {
	if w.ended {
		return fs.ErrClosed
	}
	if err := w.flush(w.start + int64(len(w.buf))); err != nil {
		w.Abort()
		return err
	}
	w.ended = true
	return nil
}

func (w *gsWriter) Abort() {
	if !w.ended {
		w.ended = true
		w.u.abort(w.ctx)
	}
}

// lent is memory that a request may read until takeBack. The HTTP client may still read a
// body when the answer has arrived, since a server may answer before it has read
// everything.
type lent struct {
	mu   sync.RWMutex
	from io.ReaderAt
}

// ReadAt reads the lent memory; after takeBack it returns an error.
func (l *lent) ReadAt(p []byte, off int64) (int, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.from == nil {
		return 0, fs.ErrClosed
	}
	return l.from.ReadAt(p, off)
}

// takeBack waits for a read in progress and prevents further ones: then the memory may be
// overwritten.
func (l *lent) takeBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.from = nil
}
