package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketserver"
	"github.com/alike-dev/alike/internal/testsize"
)

// faultyStore is a server with its bucket, to whose requests a fault happens.
type faultyStore struct {
	corpus.BucketWriter
	put  func(bucket, key string, data []byte)
	get  func(bucket, key string) ([]byte, bool)
	fail func(bucketserver.Fault)
	left func() int // uploads that are neither complete nor removed
}

func eachFaulty(t *testing.T, test func(t *testing.T, s faultyStore)) {
	t.Run("s3", func(t *testing.T) {
		server, b := startS3(t)
		test(t, faultyStore{b, server.Put, server.Get, server.Fail, func() int { return server.Uploads("bucket") }})
	})
	t.Run("gs", func(t *testing.T) {
		server, b := startGS(t)
		test(t, faultyStore{b, server.Put, server.Get, server.Fail, server.Uploads})
	})
}

// firstTime makes a fault happen to the first of all requests that are alike, and
// not to one for the rest of a range.
func firstTime(fault bucketserver.Fault) bucketserver.Fault {
	var mu sync.Mutex
	met := map[string]bool{}
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		_, end, _ := strings.Cut(r.Header.Get("Range"), "-")
		what := fmt.Sprint(r.Method, r.URL, end, r.Header.Get("Content-Range"))
		mu.Lock()
		first := !met[what]
		met[what] = true
		mu.Unlock()
		if first {
			fault(w, r, next)
		} else {
			next.ServeHTTP(w, r)
		}
	}
}

// answering answers with a status and perhaps the time to wait.
func answering(code int, after string) bucketserver.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(code)
	}
}

// cutting lets the server do what it was asked, and cuts its answer.
func cutting(after int) bucketserver.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		bucketserver.CutAfter(w, r, next, after)
		panic(http.ErrAbortHandler) // an answer without a body is lost too
	}
}

// withLength makes the length of an answer wrong.
func withLength(change func(n int) int) bucketserver.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(&relengthed{ResponseWriter: w, change: change}, r)
	}
}

type relengthed struct {
	http.ResponseWriter
	change func(int) int
}

func (r *relengthed) WriteHeader(code int) {
	if n, err := strconv.Atoi(r.Header().Get("Content-Length")); err == nil {
		r.Header().Set("Content-Length", strconv.Itoa(r.change(n)))
	}
	r.ResponseWriter.WriteHeader(code)
}

func slow(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(dripping{w}, r) }

// use does all that can be done with a bucket, and tells what went wrong.
func (s faultyStore) use(t *testing.T) {
	data := noise(3*smallPart + 100)
	s.put("bucket", "in/a", data)
	s.put("bucket", "in/b", []byte("text"))
	s.put("bucket", "gone", []byte("text"))
	o := corpus.Options{Buckets: func(context.Context, string) (corpus.Bucket, error) { return s, nil }}
	sources, _, err := corpus.Find(t.Context(), []string{"s3://bucket/in"}, o)
	if err != nil || len(sources) != 2 {
		t.Fatalf("listing: %d objects, %v", len(sources), err)
	}
	if got, err := readAll(t, sources[0], o); err != nil || got != string(data) {
		t.Errorf("reading: %d bytes of %d, %v", len(got), len(data), err)
	}
	part := make([]byte, 5000)
	if err := sources[0].ReadRange(t.Context(), part, 700_000); err != nil || !bytes.Equal(part, data[700_000:705_000]) {
		t.Errorf("reading a range: %v", err)
	}
	if found, err := s.Stat(t.Context(), "in/b"); err != nil || found.Size != 4 {
		t.Errorf("looking up: %v, %v", found, err)
	}
	if err := s.Remove(t.Context(), "gone"); err != nil {
		t.Errorf("removing: %v", err)
	}
	outputs := map[string][]byte{"small": []byte("text"), "parts": data, "stream": data, "small stream": []byte("text")}
	for _, key := range []string{"small", "parts"} {
		if err := s.Upload(t.Context(), key, bytes.NewReader(outputs[key]), int64(len(outputs[key]))); err != nil {
			t.Errorf("uploading %s: %v", key, err)
		}
	}
	for _, key := range []string{"stream", "small stream"} {
		w, err := s.Create(t.Context(), key)
		if err == nil {
			if _, err = w.Write(outputs[key]); err == nil {
				err = w.Commit()
			}
			w.Abort()
		}
		if err != nil {
			t.Errorf("uploading %s: %v", key, err)
		}
	}
	s.fail(nil)
	for key, want := range outputs {
		if got, _ := s.get("bucket", key); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d", key, len(got), len(want))
		}
	}
	if _, there := s.get("bucket", "gone"); there {
		t.Error("the removed object is there")
	}
}

func TestWhatPassesDoesNotEndARequest(t *testing.T) {
	faults := map[string]bucketserver.Fault{
		"429, wait":              answering(http.StatusTooManyRequests, "0"),
		"429, wait until a date": answering(http.StatusTooManyRequests, "Mon, 02 Jan 2006 15:04:05 GMT"),
		"cut at once":            cutting(0),
		"cut after a byte":       cutting(1),
		"cut later":              cutting(100),
		"answer too short":       withLength(func(n int) int { return n / 2 }),
		"answer too long":        withLength(func(n int) int { return n + 10 }),
	}
	codes := []int{408, 429, 500, 502, 503, 504}
	if testsize.Small() {
		codes = codes[4:5]
	}
	for _, code := range codes {
		faults[strconv.Itoa(code)] = answering(code, "")
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			eachFaulty(t, func(t *testing.T, s faultyStore) {
				s.fail(firstTime(fault))
				s.use(t)
			})
		})
	}
	t.Run("slow", func(t *testing.T) {
		eachFaulty(t, func(t *testing.T, s faultyStore) {
			s.fail(slow)
			s.use(t)
		})
	})
}

func TestServerThatAsksToWaitIsNotAskedBefore(t *testing.T) {
	eachFaulty(t, func(t *testing.T, s faultyStore) {
		s.put("bucket", "k", []byte("text"))
		o, err := s.Stat(t.Context(), "k")
		must(t, err)
		source := find(t, "s3://bucket/k", corpus.Options{Buckets: func(context.Context, string) (corpus.Bucket, error) { return s, nil }})
		for name, request := range map[string]func(ctx context.Context) error{
			"list":    func(ctx context.Context) error { return s.List(ctx, "", func(corpus.Object) error { return nil }) },
			"look up": func(ctx context.Context) error { _, err := s.Stat(ctx, o.Key); return err },
			"read":    func(ctx context.Context) error { return source.ReadRange(ctx, make([]byte, 4), 0) },
			"upload":  func(ctx context.Context) error { return s.Upload(ctx, "new", bytes.NewReader([]byte("text")), 4) },
			"remove":  func(ctx context.Context) error { return s.Remove(ctx, "other") },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			asked := 0
			s.fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if asked++; asked > 1 {
					t.Errorf("%s: asked again", name)
				}
				answering(http.StatusTooManyRequests, "3600")(w, r, next)
				time.AfterFunc(50*time.Millisecond, cancel) // the usual pause is shorter by far
			})
			if err := request(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestTimeThatAServerAsksToWait(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "99999999999999": longestAfter, "soon": 0,
		"Thu, 01 Jan 2026 12:00:09 GMT": 9 * time.Second,
		"Thu, 01 Jan 2026 11:00:09 GMT": 0,
		"Thu, 01 Jan 2026 15:00:09 GMT": longestAfter,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
