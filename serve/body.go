package serve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/alike-dev/alike/internal/bom"
)

var (
	errSlow     = errors.New("serve: the body came too slowly")
	errBroken   = errors.New("serve: the body cannot be read")
	errDraining = errors.New("serve: the server is ending")
)

// A pacedBody is the body of a request that must come at a least rate: a client may be behind it by the grace at most.
// Only time in which the server waits for the client counts. After the server has begun to drain, reads fail.
type pacedBody struct {
	body        io.Reader
	setDeadline func(time.Time) error // of reads; an error if there are none, or the connection has ended
	credit      time.Duration         // before the body is too slow
	limits      *Limits
	now         func() time.Time

	mu       sync.Mutex
	draining bool
}

func newPacedBody(setDeadline func(time.Time) error, body io.Reader, limits *Limits) *pacedBody {
	return &pacedBody{body: body, setDeadline: setDeadline, credit: limits.Grace, limits: limits, now: time.Now}
}

// drain ends reading.
func (b *pacedBody) drain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.draining = true
	_ = b.setDeadline(time.Unix(1, 0)) // a connection without deadlines ends with its client
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (n int, err error) {
	begun := b.now()
	b.mu.Lock()
	if b.draining {
		b.mu.Unlock()
		return 0, errDraining
	}
	err = b.setDeadline(begun.Add(b.credit))
	b.mu.Unlock()
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err = b.body.Read(p)
	b.credit -= b.now().Sub(begun)
	b.credit = min(b.credit+time.Duration(float64(n)/float64(b.limits.LeastRate)*float64(time.Second)), b.limits.Grace)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case errors.Is(err, io.EOF):
		_ = b.setDeadline(time.Time{}) // the answer may take longer; an error is that of the connection
	case err == nil && b.credit <= 0:
		err = errSlow
	case b.draining:
		err = errDraining
	case err != nil:
		err = fmt.Errorf("%w: %w", errBroken, err)
	}
	return n, err
}

// buffers are memory for bodies.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// mostKept is the largest buffer that is kept for another body.
const mostKept = 1 << 20

// readBody reads a body as a whole and calls use with it.
func readBody(w http.ResponseWriter, r *http.Request, limits *Limits, use func(body []byte) error) error {
	b := buffers.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= mostKept {
			b.Reset()
			buffers.Put(b)
		}
	}()
	if r.ContentLength > limits.Body {
		return &http.MaxBytesError{Limit: limits.Body}
	}
	body := newPacedBody(http.NewResponseController(w).SetReadDeadline, http.MaxBytesReader(w, r.Body, limits.Body), limits)
	if _, err := b.ReadFrom(body); err != nil {
		return err
	}
	text, _ := bom.Text(b.Bytes())
	return use(text)
}

// An unmarked is a body in UTF-8: without its byte order mark, and decoded if that says UTF-16.
type unmarked struct {
	io.Reader
	begun bool
}

// Read implements io.Reader.
func (u *unmarked) Read(p []byte) (int, error) {
	if u.begun {
		return u.Reader.Read(p)
	}
	u.begun = true
	start := make([]byte, 3) // the longest mark
	n, err := io.ReadFull(u.Reader, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	u.Reader = io.MultiReader(bytes.NewReader(start[:n]), u.Reader)
	if e, _ := bom.Of(start[:n], true); e != bom.None {
		u.Reader = bom.NewReader(u.Reader)
	}
	return u.Reader.Read(p)
}

// The types of bodies.
const (
	jsonType  = "application/json"
	ndjson    = "application/x-ndjson"
	plainText = "text/plain"
)

// Limits bound what requests may take. A zero field is its default.
type Limits struct {
	Body      int64         // bytes of a body that is not NDJSON; 16 MiB
	Line      int64         // bytes of a line of NDJSON; 16 MiB
	Table     int64         // bytes of the lines of a table; 4 GiB
	LeastRate int64         // bytes a second at which a body must come; 1024
	Grace     time.Duration // by which a body may be behind this rate; 20 s
	Write     time.Duration // in which a client must take an answer, or a piece of a long one; 30 s
	Reads     int           // most requests at once that change nothing; 512
	Writes    int           // most requests at once that do; 512
	Pages     int           // most requests at once for the page; 32
}

func (l *Limits) setDefaults() {
	l.Body, l.Line, l.Table = cmp.Or(l.Body, 16<<20), cmp.Or(l.Line, 16<<20), cmp.Or(l.Table, 4<<30)
	l.LeastRate, l.Grace, l.Write = cmp.Or(l.LeastRate, 1024), cmp.Or(l.Grace, 20*time.Second), cmp.Or(l.Write, 30*time.Second)
	l.Reads, l.Writes = cmp.Or(l.Reads, 512), cmp.Or(l.Writes, 512)
	l.Pages = cmp.Or(l.Pages, 32)
}

// How long connections wait for requests.
const (
	firstWait = 10 * time.Second // for the first request, as of net/http
	idleWait  = 2 * time.Minute  // for a later one
)
