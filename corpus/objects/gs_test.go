package objects

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketserver"
)

// startGS starts a server and opens a bucket of it, with short pauses and small
// chunks.
func startGS(t testing.TB) (*bucketserver.GS, *gsBucket) {
	t.Helper()
	server := bucketserver.StartGS(t)
	setEnv(t, server.Env())
	b := open(t, "gs://bucket").(*gsBucket)
	b.chunk = 512 << 10
	return server, b
}

func TestUploadToGoogleGoesOnWhereItBroke(t *testing.T) {
	server, b := startGS(t)
	data := noise(3<<20 + 1234)
	var puts atomic.Int64
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPut && puts.Add(1)%2 == 1 {
			// A part of the body comes through, and no answer goes out.
			r.Body = http.MaxBytesReader(nil, r.Body, 700_000)
			next.ServeHTTP(&discard{header: http.Header{}}, r)
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	})
	put(t, b, "file", data)
	w, err := b.Create(t.Context(), "stream")
	must(t, err)
	_, err = w.Write(data)
	must(t, err)
	must(t, w.Commit())
	for _, key := range []string{"file", "stream"} {
		if got, _ := server.Get("bucket", key); !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes are not what was written", key, len(got))
		}
	}
	if n := server.Uploads(); n != 0 {
		t.Errorf("%d uploads are left", n)
	}
}

// discard is an answer that nobody gets.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

func TestUploadToGoogleThatFailsLeavesNothing(t *testing.T) {
	server, b := startGS(t)
	for name, code := range map[string]int{"denied": http.StatusForbidden, "out of order": http.StatusServiceUnavailable} {
		server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodPut {
				w.WriteHeader(code)
				return
			}
			next.ServeHTTP(w, r)
		})
		if err := b.Upload(t.Context(), "file", bytes.NewReader(noise(1000)), 1000); err == nil {
			t.Errorf("%s: no error", name)
		}
		w, err := b.Create(t.Context(), "stream")
		must(t, err)
		if _, err = w.Write(noise(2 << 20)); err == nil {
			t.Errorf("%s: no error of writing", name)
		}
		if err := w.Commit(); err == nil {
			t.Errorf("%s: no error of committing", name)
		}
		w.Abort()
		server.Fail(nil)
		if keys, n := server.Keys("bucket"), server.Uploads(); len(keys) != 0 || n != 0 {
			t.Errorf("%s: left behind %v and %d uploads", name, keys, n)
		}
	}
}

func TestErrorsOfGoogleHaveARemedy(t *testing.T) {
	server, b := startGS(t)
	server.Put("bucket", "k", []byte("text"))
	answer := func(code int) bucketserver.Fault {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(code)
			_, _ = w.Write([]byte(`{"error":{"message":"no"}}`))
		}
	}
	for _, tt := range []struct {
		name  string
		fault bucketserver.Fault
		kind  error
		text  string
	}{
		{"denied", answer(http.StatusForbidden), fs.ErrPermission, "access denied; check the Google credentials"},
		{"no bucket", answer(http.StatusNotFound), fs.ErrNotExist, "no such bucket; check its name"},
		{"too many requests", answer(http.StatusTooManyRequests), corpus.ErrUnavailable, "the server refuses (status 429 no); try again later"},
		{"bad request", answer(http.StatusBadRequest), fs.ErrInvalid, "the server refuses (status 400 no); check the URL"},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { _, _ = w.Write([]byte("<html>")) }, corpus.ErrUnavailable, "is no JSON"},
	} {
		server.Fail(tt.fault)
		if err := b.List(t.Context(), "", func(corpus.Object) error { return nil }); !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.text)
		}
	}
	b.server = "http://127.0.0.1:1"
	if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, corpus.ErrUnavailable) || !strings.Contains(err.Error(), "cannot reach the server (dial tcp 127.0.0.1:1: ") {
		t.Errorf("network down: %v", err)
	}
	for url, text := range map[string]string{
		"gs://bucket?anonymous=perhaps": `anonymous is "perhaps"; say true or false`, "gs://bucket?region=eu": `unknown setting "region"`,
	} {
		if _, err := newStore(t).Bucket(t.Context(), url); !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestErrorsThatPassAreTriedAgainWithGoogle(t *testing.T) {
	server, b := startGS(t)
	server.Put("bucket", "k", []byte("text"))
	var requests atomic.Int64
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if requests.Add(1)%3 != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
	if _, err := b.Stat(t.Context(), "k"); err != nil {
		t.Error(err)
	}
	if keys := list(t, b, ""); len(keys) != 1 {
		t.Errorf("keys %v", keys)
	}
}

func TestWhatGoogleStoresCompressedIsReadAsItIsStored(t *testing.T) {
	server, b := startGS(t)
	server.Put("bucket", "k", []byte("text"))
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.FormValue("alt") == "media" && r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("Accept-Encoding is %q: the server would decompress", r.Header.Get("Accept-Encoding"))
		}
		next.ServeHTTP(w, r)
	})
	if got := content(t, b, "k"); string(got) != "text" {
		t.Errorf("%q", got)
	}
}
