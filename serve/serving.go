package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/alike-dev/alike/vfs"
)

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
	var m *machine
	if c.Order != nil {
		if m, err = startMachine(&c, st); err != nil {
			return nil, errors.Join(fmt.Errorf("serve: %w", err), st.close())
		}
	}
	s := &Server{config: c, store: st, machine: m, tables: tables, reads: newBudget(c.Limits.Reads), writes: newBudget(c.Limits.Writes),
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

// Drain ends the reading of bodies: lines that were read are answered, and then their answers end. /readyz says that
// the server is ending.
func (s *Server) Drain() {
	s.failing.Store(true)
	s.drained()
}

// Close closes the collections when no request uses them any more.
func (s *Server) Close() error {
	s.Drain()
	s.machine.close()
	err := s.store.close()
	s.stopRun()
	<-s.ended
	return err
}

// httpServer returns the server of net/http for s, with the limits of headers and idle connections.
func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: firstWait, IdleTimeout: idleWait, WriteTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug), ConnContext: withHanded,
	}
}

// Serve answers requests on a listener until Shutdown. Its error is then http.ErrServerClosed.
func (s *Server) Serve(on net.Listener) error {
	f := newFront(s, on)
	s.fronts.add(f)
	return s.http.Serve(f)
}

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

func (s *statusOnly) WriteHeader(code int) { s.code = code }

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

// Metrics answers what GET /metrics does, for an address of its own without tokens.
func (s *Server) Metrics() http.Handler { return s.metrics.handler }

func newMetrics(s *Server) *metrics {
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "alike_http_request_duration_seconds", Help: "Time from a request's header to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(100e-6, 2.5, 14),
		}, []string{"route", "code"}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "alike_http_requests_shed_total", Help: "Requests that were turned away before their body was read.",
		}),
	}
	m.hot = map[string]prometheus.Observer{}
	for _, r := range slices.Concat(inCollection, beside) {
		m.hot[r.pattern] = m.requests.WithLabelValues(r.pattern, strconv.Itoa(http.StatusOK))
	}
	admitted := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "alike_http_admitted_ratio", Help: "Share of requests that is admitted, so that they do not wait too long for a processor: 1 is all.",
	}, s.gate.admitted)
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.shed, admitted, &collectionMetrics{s.store},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if s.machine != nil {
		registry.MustRegister(s.machine.metrics()...)
	}
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}
