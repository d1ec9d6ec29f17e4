package bucketserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// GS is a running server of the part of Google Cloud Storage's JSON API that is
// needed to list, read, write and remove objects. It has all buckets.
type GS struct {
	URL     string
	Page    int // objects on a page of a list
	Traffic Traffic
	fault   atomic.Pointer[Fault]

	mu       sync.Mutex
	objects  map[string]gsObject // by bucket/key
	sessions map[string]*gsSession
	clock    int
}

type gsObject struct {
	data       []byte
	generation int
}

// gsSession is a resumable upload.
type gsSession struct {
	name string // bucket/key
	data []byte
	done bool
}

// StartGS starts a server, until the test ends.
func StartGS(t testing.TB) *GS {
	t.Helper()
	s := &GS{Page: 1000, objects: map[string]gsObject{}, sessions: map[string]*gsSession{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /storage/v1/b/{bucket}/o", s.list)
	mux.HandleFunc("GET /storage/v1/b/{bucket}/o/{key}", s.get)
	mux.HandleFunc("DELETE /storage/v1/b/{bucket}/o/{key}", s.remove)
	mux.HandleFunc("POST /upload/storage/v1/b/{bucket}/o", s.begin)
	mux.HandleFunc("PUT /session/{id}", s.send)
	mux.HandleFunc("DELETE /session/{id}", s.forget)
	s.URL = start(t, &s.fault, &s.Traffic, kindOfGS, mux)
	return s
}

// Fail puts f in front of the server; nil removes it.
func (s *GS) Fail(f Fault) { setFault(&s.fault, f) }

// Env returns the environment variables by which a client finds this server.
func (s *GS) Env() map[string]string {
	return map[string]string{"STORAGE_EMULATOR_HOST": strings.TrimPrefix(s.URL, "http://")}
}

// Put stores an object.
func (s *GS) Put(bucket, key string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(bucket+"/"+key, data)
}

func (s *GS) store(name string, data []byte) {
	s.clock++
	s.objects[name] = gsObject{data, s.clock}
}

// Get returns an object's bytes; ok is false when there is none.
func (s *GS) Get(bucket, key string) (data []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[bucket+"/"+key]
	return o.data, ok
}

// Keys returns the keys of a bucket in byte order.
func (s *GS) Keys(bucket string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for name := range s.objects {
		if key, ok := strings.CutPrefix(name, bucket+"/"); ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Uploads returns how many uploads are neither complete nor forgotten.
func (s *GS) Uploads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, session := range s.sessions {
		if !session.done {
			n++
		}
	}
	return n
}

func (s *GS) list(w http.ResponseWriter, r *http.Request) {
	after := r.FormValue("pageToken")
	items, next := []any{}, ""
	for _, key := range s.Keys(r.PathValue("bucket")) {
		if !strings.HasPrefix(key, r.FormValue("prefix")) || key <= after {
			continue
		}
		if len(items) == s.Page {
			next = after
			break
		}
		after = key
		s.mu.Lock()
		items = append(items, describe(key, s.objects[r.PathValue("bucket")+"/"+key]))
		s.mu.Unlock()
	}
	answer(w, http.StatusOK, map[string]any{"items": items, "nextPageToken": next})
}

// describe is an object as the API shows it.
func describe(key string, o gsObject) any {
	return map[string]string{
		"name": key, "size": strconv.Itoa(len(o.data)), "generation": strconv.Itoa(o.generation),
		"updated": time.Unix(int64(o.generation), 0).UTC().Format(time.RFC3339),
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client may have left
}

func refuse(w http.ResponseWriter, status int) {
	answer(w, status, map[string]any{"error": map[string]any{"code": status, "message": http.StatusText(status)}})
}

func (s *GS) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	o, ok := s.objects[r.PathValue("bucket")+"/"+r.PathValue("key")]
	s.mu.Unlock()
	switch want := r.FormValue("ifGenerationMatch"); {
	case !ok:
		refuse(w, http.StatusNotFound)
	case want != "" && want != strconv.Itoa(o.generation):
		refuse(w, http.StatusPreconditionFailed)
	case r.FormValue("alt") != "media":
		answer(w, http.StatusOK, describe(r.PathValue("key"), o))
	default:
		w.Header().Set("X-Goog-Generation", strconv.Itoa(o.generation))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(o.data)))
	}
}

func (s *GS) remove(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.PathValue("bucket") + "/" + r.PathValue("key")
	if _, ok := s.objects[name]; !ok {
		refuse(w, http.StatusNotFound)
		return
	}
	delete(s.objects, name)
	w.WriteHeader(http.StatusNoContent)
}

func (s *GS) begin(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	id := strconv.Itoa(s.clock)
	s.sessions[id] = &gsSession{name: r.PathValue("bucket") + "/" + r.FormValue("name")}
	w.Header().Set("Location", s.URL+"/session/"+id)
}

func (s *GS) forget(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, r.PathValue("id"))
	refuse(w, 499)
}

// granule is the unit, in bytes, in which an unfinished upload is kept.
const granule = 256 << 10

// send receives bytes of an upload: Content-Range is "bytes FIRST-LAST/TOTAL" with the body, or
// "bytes */TOTAL" without one; TOTAL may be *. Of a body that breaks off, the bytes that arrived
// are kept.
func (s *GS) send(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	session := s.sessions[r.PathValue("id")]
	s.mu.Unlock()
	if session == nil {
		refuse(w, http.StatusGone)
		return
	}
	body, broken := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if session.done {
		answer(w, http.StatusOK, map[string]string{})
		return
	}
	span, size, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Content-Range"), "bytes "), "/")
	total, err := strconv.Atoi(size)
	known := err == nil
	if first, _, ok := strings.Cut(span, "-"); ok {
		if at, err := strconv.Atoi(first); err != nil || at != len(session.data) {
			refuse(w, http.StatusBadRequest)
			return
		}
		session.data = append(session.data, body...)
	}
	if known && len(session.data) == total {
		s.store(session.name, session.data)
		session.done = true
		answer(w, http.StatusOK, map[string]string{})
		return
	}
	session.data = session.data[:len(session.data)/granule*granule]
	if broken != nil {
		return
	}
	if n := len(session.data); n > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", n-1))
	}
	w.WriteHeader(http.StatusPermanentRedirect)
}
