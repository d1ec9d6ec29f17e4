package bucketserver

import (
	"net/http"
	"strings"
	"sync"
)

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
