package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/internal/ordered"
	"github.com/alike-dev/alike/vfs"
)

// Config configures a Server. The zero value serves collections in memory to this machine.
type Config struct {
	Dir        string     // folder of the collections; "": they are in memory, and Durability is Memory
	Durability Durability // "": Sync with a folder, else Memory
	Memory     int64      // ceiling for the memory of each collection in bytes; 0: none
	Stateless  bool       // only fingerprints, comparisons and probes: there are no collections, tables and page
	Tokens     *Tokens    // nil: everybody may do everything
	Limits     Limits
	Log        *slog.Logger // nil: slog.Default()
	FS         vfs.FS       // nil: that of the operating system
	Now        func() time.Time

	// Order, if set, is the log by which replicas share their collections, which are then in memory, and Durability is
	// Logged. Dir has the snapshots of this replica.
	Order ordered.Log
	// Replica is the name of this replica, which no other one has.
	Replica string
	// Snapshots is a bucket for snapshots beside Dir; nil: none.
	Snapshots ordered.Bucket

	rules         []rule // nil: all
	snapshotBytes int64  // of ordered.Config
}

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

// A Server answers requests. It is made by New, is an http.Handler, and is ended by Close.
//
// A check is idempotent as far as its answer can be: a document that was added, and whose answer was lost, is found by
// its id, and the same text gets the same answer as long as it is in the window. A duplicate is never stored; its check
// is decided anew, with the same result as long as the document that it is like is there.
type Server struct {
	config    Config
	store     *store
	tables    *tables
	sketchers sketchers
	metrics   *metrics
	mux       *http.ServeMux
	reads     *budget
	writes    *budget
	pages     *budget
	gate      *gate
	turns     chan struct{} // of blocks of lines
	date      dated
	http      *http.Server
	fronts    fronts

	drain   context.Context // done when no more lines are read
	drained context.CancelFunc
	failing atomic.Bool // readiness, once the server drains
	ended   chan struct{}
	stopRun context.CancelFunc
}

// New opens the collections of a folder and returns their server.
func New(c Config) (*Server, error) {
	c.Limits.setDefaults()
	c.Now = orDefault(c.Now, time.Now)
	c.FS = cmp.Or(c.FS, vfs.OS)
	c.Log = cmp.Or(c.Log, slog.Default())
	if err := c.setDurability(); err != nil {
		return nil, err
	}
	dir := c.Dir
	if c.Order != nil {
		dir = "" // the collections are in memory
	}
	st, err := openStore(c.FS, dir, c.Durability, c.Memory, c.Now)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	tables, err := openTables(c.FS, dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve: %w", err), st.close())
	}
	if c.Order != nil {
		if err := startMachine(&c, st); err != nil {
			return nil, errors.Join(fmt.Errorf("serve: %w", err), st.close())
		}
	}
	s := &Server{config: c, store: st, tables: tables, reads: newBudget(c.Limits.Reads), writes: newBudget(c.Limits.Writes),
		pages: newBudget(c.Limits.Pages), gate: newGate(c.places()),
		turns: make(chan struct{}, runtime.GOMAXPROCS(0)), ended: make(chan struct{})}
	s.metrics = newMetrics(s)
	s.drain, s.drained = context.WithCancel(context.Background())
	run, stop := context.WithCancel(context.Background())
	s.stopRun = stop
	go func() {
		defer close(s.ended)
		st.run(run)
	}()
	s.mux, s.http = s.routes(), s.httpServer()
	return s, nil
}

// places is how many requests work at once. Those that ask a log wait for it while they work.
func (c *Config) places() int {
	if c.Order != nil {
		return c.Limits.Reads + c.Limits.Writes
	}
	return 2 * runtime.GOMAXPROCS(0)
}

// setDurability fills in the durability, and is an error if it contradicts what else is set.
func (c *Config) setDurability() error {
	natural := Sync
	switch {
	case c.Stateless && (c.Dir != "" || c.Order != nil):
		return errors.New("serve: a server without collections has no folder and no log for them")
	case c.Order != nil:
		natural = Logged
	case c.Dir == "":
		natural = Memory
	}
	c.Durability = cmp.Or(c.Durability, natural)
	if fits := c.Durability == natural || natural == Sync && c.Durability == Interval; !fits {
		return fmt.Errorf("serve: durability %s: collections are kept in a folder, or in memory without one, or by a log", c.Durability)
	}
	return nil
}

func orDefault(f, other func() time.Time) func() time.Time {
	if f == nil {
		return other
	}
	return f
}

// Drain ends the reading of bodies: lines that were read are answered, and then their answers end. /readyz says that
// the server is ending.
func (s *Server) Drain() {
	s.failing.Store(true)
	s.drained()
}

// Close closes the collections when no request uses them any more.
func (s *Server) Close() error {
	s.Drain()
	s.store.machine.close()
	err := s.store.close()
	s.stopRun()
	<-s.ended
	return err
}

// IsLoopback tells whether an address to listen on is one of this machine only.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// httpServer returns the server of net/http for s, with the limits of headers and idle connections.
func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: firstWait, IdleTimeout: idleWait, WriteTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug), ConnContext: withHanded,
	}
}

// Serve answers requests on a listener until Shutdown. Its error is then http.ErrServerClosed.
func (s *Server) Serve(on net.Listener) error { return s.http.Serve(s.fronts.add(newFront(s, on))) }

// Shutdown ends Serve: lines that were read are answered, requests under way too. Those that are not when the context
// ends are cut, which is an error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	err := s.http.Shutdown(ctx)
	if e := s.fronts.end(ctx); err == nil {
		err = e
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("serve: requests were cut: %w", err), s.http.Close())
	}
	return err
}

// The types of bodies.
const (
	jsonType  = "application/json"
	ndjson    = "application/x-ndjson"
	plainText = "text/plain"
)

// bodyType returns the type of a body, jsonType if it is not told.
func bodyType(r *http.Request) (string, error) {
	if r.Header.Get("Content-Encoding") != "" {
		return "", &Problem{Status: http.StatusUnsupportedMediaType, Detail: "send the body without a Content-Encoding"}
	}
	of := r.Header.Get("Content-Type")
	if of == "" {
		return jsonType, nil
	}
	kind, _, err := mime.ParseMediaType(of)
	if err == nil {
		switch kind {
		case jsonType, plainText:
			return kind, nil
		case ndjson, "application/ndjson", "application/jsonl":
			return ndjson, nil
		}
	}
	return "", &Problem{Status: http.StatusUnsupportedMediaType, Detail: "take " + strings.Join([]string{jsonType, ndjson, plainText}, ", ")}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	out := &observedWriter{ResponseWriter: w}
	pattern, err := s.handle(out, r)
	if err != nil {
		p, unexpected := asProblem(err)
		if unexpected && r.Context().Err() == nil {
			s.config.Log.Error("request failed", "route", pattern, "error", redacted(err))
		}
		if !out.begun {
			if p.Status == http.StatusRequestTimeout || p.Status == http.StatusRequestEntityTooLarge {
				out.Header().Set("Connection", "close")
			}
			p.send(out)
		}
	}
	s.metrics.observe(pattern, out.status(), time.Since(begun))
	if s.config.Log.Enabled(r.Context(), slog.LevelDebug) {
		s.config.Log.Debug("request", "route", pattern, "status", out.status(), "seconds", time.Since(begun).Seconds())
	}
	if err != nil && !out.problem {
		panic(http.ErrAbortHandler) // what was sent is not whole
	}
}

// redacted is an error for the log. Those of requests, which may have pieces of a text, do not come here.
func redacted(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// handle answers a request and returns the pattern of its route.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) (pattern string, err error) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	handler, pattern := s.mux.Handler(r)
	if pattern == "" || !isClean(r.URL.EscapedPath()) {
		return "none", s.noRoute(handler, r)
	}
	if returned(r) || len(r.TransferEncoding) > 0 { // whoever took such a body for one with a length sees other requests
		h.Set("Connection", "close")
	}
	call := &call{Server: s, w: w, r: r}
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, call))
	s.mux.ServeHTTP(w, r)
	return pattern, call.err
}

// isClean tells whether a path is one that http.ServeMux does not lead to another one: here those are no paths.
func isClean(p string) bool {
	clean := path.Clean(p)
	return p == clean || p == clean+"/"
}

// noRoute is the problem of a path without a route, or a route without the method.
func (s *Server) noRoute(handler http.Handler, r *http.Request) error {
	var told statusOnly
	handler.ServeHTTP(&told, r)
	if told.code == http.StatusMethodNotAllowed {
		return &Problem{Status: told.code, Detail: "this path takes " + told.Header().Get("Allow"), allow: told.Header().Get("Allow")}
	}
	return &Problem{Status: http.StatusNotFound, Detail: "there is no such path"}
}

// statusOnly is a writer that keeps status and header.
type statusOnly struct {
	header http.Header
	code   int
}

func (s *statusOnly) Header() http.Header {
	if s.header == nil {
		s.header = http.Header{}
	}
	return s.header
}
func (s *statusOnly) WriteHeader(code int)           { s.code = code }
func (s *statusOnly) Write(body []byte) (int, error) { return len(body), nil }

// observedWriter knows what was sent.
type observedWriter struct {
	http.ResponseWriter
	code    int
	begun   bool
	problem bool
}

// Unwrap is for http.ResponseController.
func (o *observedWriter) Unwrap() http.ResponseWriter { return o.ResponseWriter }

func (o *observedWriter) WriteHeader(code int) {
	o.begun, o.code = true, code
	o.problem = o.Header().Get("Content-Type") == problemType
	o.ResponseWriter.WriteHeader(code)
}

func (o *observedWriter) Write(body []byte) (int, error) {
	o.begun = true
	return o.ResponseWriter.Write(body)
}

func (o *observedWriter) status() int { return cmp.Or(o.code, http.StatusOK) }
