// Package bucketserver runs object stores in the process of a test: an S3 server (gofakes3) and a
// small server of Google Cloud Storage's JSON API. Both keep their objects in memory and inject the
// faults that a test asks for.
package bucketserver

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// S3 is a running S3 server.
type S3 struct {
	URL     string
	Traffic Traffic
	backend *s3mem.Backend
	fault   atomic.Pointer[Fault]
	t       testing.TB
}

// A Fault stands in front of a server: it answers a request itself or passes it to next.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// StartS3 starts a server with these buckets, until the test ends.
func StartS3(t testing.TB, buckets ...string) *S3 {
	t.Helper()
	s := &S3{backend: s3mem.New(), t: t}
	for _, bucket := range buckets {
		s.CreateBucket(bucket)
	}
	s.URL = start(t, &s.fault, &s.Traffic, kindOfS3, gofakes3.New(s.backend).Server())
	return s
}

// start serves a handler behind a fault, and records the traffic.
func start(t testing.TB, fault *atomic.Pointer[Fault], traffic *Traffic, kindOf func(*http.Request) (Kind, string), handler http.Handler) string {
	faulty := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := fault.Load(); f != nil {
			(*f)(w, r, handler)
			return
		}
		handler.ServeHTTP(w, r)
	})
	server := httptest.NewUnstartedServer(traffic.before(faulty, kindOf))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // tests cut connections on purpose
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// Fail puts f in front of the server; nil removes it.
func (s *S3) Fail(f Fault) { setFault(&s.fault, f) }

func setFault(at *atomic.Pointer[Fault], f Fault) {
	if f == nil {
		at.Store(nil)
		return
	}
	at.Store(&f)
}

// Env returns the environment variables by which a client finds this server, and empties those of
// the machine.
func (s *S3) Env() map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL":            s.URL,
		"AWS_ACCESS_KEY_ID":           "test",
		"AWS_SECRET_ACCESS_KEY":       "test",
		"AWS_SESSION_TOKEN":           "",
		"AWS_REGION":                  "us-east-1",
		"AWS_PROFILE":                 "",
		"AWS_CONFIG_FILE":             os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_EC2_METADATA_DISABLED":   "true",
	}
}

// CreateBucket makes a bucket.
func (s *S3) CreateBucket(name string) {
	s.t.Helper()
	if err := s.backend.CreateBucket(name); err != nil {
		s.t.Error(err)
	}
}

// Put stores an object.
func (s *S3) Put(bucket, key string, data []byte) {
	s.t.Helper()
	if _, err := s.backend.PutObject(bucket, key, nil, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		s.t.Error(err)
	}
}

// Get returns an object's bytes; ok is false when there is none.
func (s *S3) Get(bucket, key string) (data []byte, ok bool) {
	o, err := s.backend.GetObject(bucket, key, nil)
	if err != nil {
		return nil, false
	}
	defer o.Contents.Close()
	data, err = io.ReadAll(o.Contents)
	return data, err == nil
}

// Keys returns the keys of a bucket in byte order.
func (s *S3) Keys(bucket string) []string {
	s.t.Helper()
	list, err := s.backend.ListBucket(bucket, nil, gofakes3.ListBucketPage{})
	if err != nil {
		s.t.Error(err)
		return nil
	}
	var keys []string
	for _, o := range list.Contents {
		keys = append(keys, o.Key)
	}
	slices.Sort(keys)
	return keys
}

// Uploads returns how many multipart uploads of a bucket are neither completed nor removed.
func (s *S3) Uploads(bucket string) int {
	s.t.Helper()
	answer, err := http.Get(s.URL + "/" + bucket + "?uploads")
	if err != nil {
		s.t.Error(err)
		return 0
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode == http.StatusNotFound: // there has never been an upload
		return 0
	case err != nil || answer.StatusCode != http.StatusOK:
		s.t.Errorf("list of uploads: status %d, error %v", answer.StatusCode, err)
	}
	return strings.Count(string(body), "<UploadId>")
}

// CutAfter lets a server answer, and cuts the connection after n bytes of the body.
func CutAfter(w http.ResponseWriter, r *http.Request, next http.Handler, n int) {
	next.ServeHTTP(&cutting{ResponseWriter: w, left: n}, r)
}

type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) < c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left]) // the connection ends anyway
	if f, ok := c.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

// A Request is one request that a server received.
type Request struct {
	Kind  Kind
	Key   string // of the object; "" for a list
	Bytes int64  // of the answer's body that were sent
}

// A Kind is what a request is for.
type Kind string

// The kinds of requests.
const (
	List   Kind = "list"
	LookUp Kind = "look up"
	Read   Kind = "read"
	Write  Kind = "write"
	Remove Kind = "remove"
)

// Traffic records the requests that a server receives, including those that a Fault answers.
type Traffic struct {
	mu       sync.Mutex
	requests []*Request
}

// Take returns the requests since the last call.
func (t *Traffic) Take() []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := make([]Request, len(t.requests))
	for i, r := range t.requests {
		taken[i] = *r
	}
	t.requests = nil
	return taken
}

// before returns a handler that records a request and passes it on.
func (t *Traffic) before(next http.Handler, kindOf func(*http.Request) (Kind, string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, key := kindOf(r)
		noted := &Request{Kind: kind, Key: key}
		t.mu.Lock()
		t.requests = append(t.requests, noted)
		t.mu.Unlock()
		next.ServeHTTP(&counted{ResponseWriter: w, t: t, r: noted}, r)
	})
}

// counted counts the bytes of an answer.
type counted struct {
	http.ResponseWriter
	t *Traffic
	r *Request
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.t.mu.Lock()
	c.r.Bytes += int64(n)
	c.t.mu.Unlock()
	return n, err
}

func (c *counted) Flush() {
	if f, ok := c.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// kindOfMethod returns what a request for an object does, by its method.
func kindOfMethod(method string) Kind {
	switch method {
	case http.MethodGet:
		return Read
	case http.MethodHead:
		return LookUp
	case http.MethodDelete:
		return Remove
	}
	return Write
}

// kindOfS3 returns the kind of a path-style request to S3, and its key.
func kindOfS3(r *http.Request) (Kind, string) {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	kind := kindOfMethod(r.Method)
	if kind == Read && key == "" {
		kind = List
	}
	return kind, key
}

// kindOfGS returns the kind of a request to Google Cloud Storage, and its key.
func kindOfGS(r *http.Request) (Kind, string) {
	_, rest, found := strings.Cut(r.URL.Path, "/storage/v1/b/")
	if !found || strings.HasPrefix(r.URL.Path, "/upload/") {
		return kindOfMethod(r.Method), r.FormValue("name")
	}
	_, key, _ := strings.Cut(rest, "/o/")
	kind := kindOfMethod(r.Method)
	switch {
	case kind == Read && key == "":
		kind = List
	case kind == Read && r.URL.Query().Get("alt") != "media":
		kind = LookUp
	}
	return kind, key
}
