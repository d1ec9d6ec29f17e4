package objects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/bucketserver"
)

// startS3 starts a server with a bucket, and opens that.
func startS3(t testing.TB) (*bucketserver.S3, corpus.BucketWriter) {
	t.Helper()
	server := bucketserver.StartS3(t, "bucket")
	setEnv(t, server.Env())
	b := open(t, "s3://bucket").(*s3Bucket)
	b.filePart, b.streamPart = smallPart, smallPart
	return server, b
}

// status is a fault that answers with an S3 error.
func status(code int, name string) bucketserver.Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body) // else the client may see a broken connection
		w.WriteHeader(code)
		_, _ = w.Write([]byte("<Error><Code>" + name + "</Code><Message>no</Message></Error>"))
	}
}

// readAll reads an object as a document of a corpus.
func readAll(t *testing.T, s corpus.Source, o corpus.Options) (string, error) {
	t.Helper()
	f, err := corpus.Open(t.Context(), s, o)
	must(t, err)
	defer f.Close()
	var b corpus.Block
	if err := f.Next(&b); err != nil {
		return "", err
	}
	return string(b.Data()), nil
}

// find finds one document.
func find(t *testing.T, url string, o corpus.Options) corpus.Source {
	t.Helper()
	sources, _, err := corpus.Find(t.Context(), []string{url}, o)
	must(t, err)
	if len(sources) != 1 {
		t.Fatalf("sources %v", sources)
	}
	return sources[0]
}

func TestConnectionsThatBreakInTheMiddleOfARangeAreContinued(t *testing.T) {
	server, _ := startS3(t)
	data := noise(3 << 20)
	server.Put("bucket", "doc", data)
	o := corpus.Options{Buckets: newStore(t).Bucket}
	s := find(t, "s3://bucket/doc", o)
	var requests atomic.Int64
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if requests.Add(1)%2 == 1 {
			bucketserver.CutAfter(w, r, next, 100_000)
		}
		next.ServeHTTP(w, r)
	})
	if got, err := readAll(t, s, o); got != string(data) || err != nil {
		t.Errorf("%d bytes of %d, error %v", len(got), len(data), err)
	}
}

func TestServerErrorsAreTriedAgain(t *testing.T) {
	server, _ := startS3(t)
	server.Put("bucket", "doc", []byte("text"))
	o := corpus.Options{Buckets: newStore(t).Bucket}
	var requests atomic.Int64
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if requests.Add(1)%2 == 1 {
			status(http.StatusInternalServerError, "InternalError")(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	if got, err := readAll(t, find(t, "s3://bucket/doc", o), o); got != "text" || err != nil {
		t.Errorf("%q, error %v", got, err)
	}
}

func TestSlowServerIsWaitedFor(t *testing.T) {
	server, _ := startS3(t)
	server.Put("bucket", "doc", noise(50_000))
	o := corpus.Options{Buckets: newStore(t).Bucket}
	s := find(t, "s3://bucket/doc", o)
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(dripping{w}, r)
	})
	if got, err := readAll(t, s, o); len(got) != 50_000 || err != nil {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
}

// dripping sends a little at a time.
type dripping struct{ http.ResponseWriter }

func (d dripping) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = d.ResponseWriter.Write(p[n:min(n+1000, len(p))])
		n += m
		d.ResponseWriter.(http.Flusher).Flush()
		time.Sleep(time.Millisecond)
	}
	return n, err
}

func TestObjectReplacedBetweenTwoRangesIsTold(t *testing.T) {
	server, _ := startS3(t)
	data := noise(3 << 20)
	server.Put("bucket", "doc", data)
	o := corpus.Options{Buckets: newStore(t).Bucket}
	s := find(t, "s3://bucket/doc", o)
	var replaced atomic.Bool
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		// This server does not know If-Match, which other servers honour.
		next.ServeHTTP(w, r)
		if !replaced.Swap(true) {
			server.Put("bucket", "doc", noise(3<<20+1))
		}
	})
	_, err := readAll(t, s, o)
	var p *corpus.Problem
	if !errors.Is(err, corpus.ErrChanged) || !errors.As(err, &p) || p.Path != "s3://bucket/doc" {
		t.Errorf("error %v", err)
	}
}

func TestConditionIsSentForServersThatKnowIt(t *testing.T) {
	server, b := startS3(t)
	server.Put("bucket", "k", []byte("text"))
	o, err := b.Stat(t.Context(), "k")
	must(t, err)
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("If-Match") == o.Version {
			status(http.StatusPreconditionFailed, "PreconditionFailed")(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	if _, err := b.Read(t.Context(), o, 0, 1); !errors.Is(err, corpus.ErrChanged) {
		t.Errorf("error %v", err)
	}
}

func TestServerThatGivesNoRangesIsRefused(t *testing.T) {
	server, b := startS3(t)
	server.Put("bucket", "k", []byte("text"))
	o, err := b.Stat(t.Context(), "k")
	must(t, err)
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Del("Range")
		next.ServeHTTP(w, r)
	})
	if _, err := b.Read(t.Context(), o, 1, 2); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

func TestKeysThatOthersWouldEscapeAreReadAsTheyAre(t *testing.T) {
	server, b := startS3(t)
	keys := []string{"a/../b", "__0x41__", "a//b", "a b+c%20d", "x/..y/z"}
	for _, key := range keys {
		server.Put("bucket", key, []byte(key))
	}
	n := 0
	must(t, b.List(t.Context(), "", func(o corpus.Object) error {
		n++
		r, err := b.Read(t.Context(), o, 0, o.Size)
		if err != nil {
			t.Errorf("%q: %v", o.Key, err)
			return nil
		}
		got := make([]byte, o.Size)
		_, err = r.Read(got)
		if string(got) != o.Key {
			t.Errorf("%q: %q, error %v", o.Key, got, err)
		}
		return r.Close()
	}))
	if n != len(keys) {
		t.Errorf("%d keys of %d", n, len(keys))
	}
}

// A control character is no character of XML: stores write the names in lists as in URLs, if they are asked to.
func TestAListHasNamesThatAreNoXML(t *testing.T) {
	server, b := startS3(t)
	server.Fail(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		name := "in/\x01 +%41.jsonl"
		if r.URL.Query().Get("encoding-type") == "url" {
			name = "<EncodingType>url</EncodingType><Contents><Key>" + url.QueryEscape(name)
		} else {
			name = "<Contents><Key>" + name
		}
		_, _ = w.Write([]byte("<ListBucketResult>" + name + "</Key><Size>1</Size></Contents></ListBucketResult>"))
	})
	var keys []string
	must(t, b.List(t.Context(), "in/", func(o corpus.Object) error {
		keys = append(keys, o.Key)
		return nil
	}))
	if !slices.Equal(keys, []string{"in/\x01 +%41.jsonl"}) {
		t.Errorf("%q", keys)
	}
}

func TestErrorsOfS3HaveARemedy(t *testing.T) {
	server, _ := startS3(t)
	server.Put("bucket", "k", []byte("text"))
	for _, tt := range []struct {
		name  string
		url   string
		fault bucketserver.Fault
		kind  error
		text  string
	}{
		{"no such bucket", "s3://other/k", nil, fs.ErrNotExist, "no such bucket; check its name"},
		{"no such object", "s3://bucket/x", nil, fs.ErrNotExist, "no such object, and none below it; check the name"},
		{"access denied", "s3://bucket/k", status(http.StatusForbidden, "AccessDenied"), fs.ErrPermission, "access denied; check the AWS credentials"},
		{"wrong key", "s3://bucket/k", status(http.StatusForbidden, "InvalidAccessKeyId"), fs.ErrPermission, "the AWS credentials are not valid (InvalidAccessKeyId); renew them"},
		{"expired", "s3://bucket/k/", status(http.StatusBadRequest, "ExpiredToken"), fs.ErrPermission, "the AWS credentials are not valid (ExpiredToken); renew them"},
		{"archived", "s3://bucket/k/", status(http.StatusForbidden, "InvalidObjectState"), fs.ErrPermission, "the object is archived; restore it first"},
		{"out of order", "s3://bucket/k/", status(http.StatusServiceUnavailable, "SlowDown"), corpus.ErrUnavailable, "the server refuses (SlowDown: no); try again later"},
		{"unknown setting", "s3://bucket/k?colour=red", nil, fs.ErrInvalid, `unknown setting "colour"`},
		{"wrong setting", "s3://bucket/k?use_path_style=perhaps", nil, fs.ErrInvalid, `use_path_style is "perhaps"; say true or false`},
		{"unknown scheme", "ftp://bucket/k", nil, fs.ErrInvalid, "there is no access to ftp://; use s3:// or gs://"},
		{"network down", "s3://bucket/k?endpoint=http://127.0.0.1:1", nil, corpus.ErrUnavailable, "cannot reach the server (dial tcp 127.0.0.1:1: "},
		{"another region", "s3://bucket/k/", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-3")
			status(http.StatusMovedPermanently, "PermanentRedirect")(w, r, next)
		}, fs.ErrInvalid, "the bucket is in another region; set AWS_REGION to eu-west-3"},
	} {
		server.Fail(tt.fault)
		_, _, err := corpus.Find(t.Context(), []string{tt.url}, corpus.Options{Buckets: newStore(t).Bucket})
		var p *corpus.Problem
		if !errors.As(err, &p) || !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.text)
		}
	}
}

func TestMissingCredentialsAreToldAtOnceAndNotNeededForPublicBuckets(t *testing.T) {
	server := bucketserver.StartS3(t, "bucket")
	env := server.Env()
	env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"] = "", ""
	setEnv(t, env)
	_, err := newStore(t).Bucket(t.Context(), "s3://bucket")
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "no AWS credentials; set AWS_ACCESS_KEY_ID") {
		t.Errorf("error %v", err)
	}
	server.Put("bucket", "k", []byte("text"))
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("Authorization") != "" {
			t.Error("signed")
		}
		next.ServeHTTP(w, r)
	})
	if got := content(t, open(t, "s3://bucket?anonymous=true"), "k"); string(got) != "text" {
		t.Errorf("%q", got)
	}
}

func TestEndpointAndStyleOfTheURL(t *testing.T) {
	server := bucketserver.StartS3(t, "bucket")
	env := server.Env()
	delete(env, "AWS_ENDPOINT_URL")
	setEnv(t, env)
	t.Setenv("AWS_ENDPOINT_URL", "")
	t.Setenv("AWS_REGION", "")
	var path atomic.Value
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		path.Store(r.URL.Path)
		next.ServeHTTP(w, r)
	})
	b := open(t, "s3://bucket?endpoint="+server.URL)
	put(t, b, "k", []byte("text"))
	if got := path.Load(); got != "/bucket/k" {
		t.Errorf("asked for %v", got)
	}
	url := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	if _, err := open(t, "s3://bucket?use_path_style=false&endpoint="+url).Stat(t.Context(), "k"); err == nil {
		t.Error("a host that is called like the bucket was found")
	}
}

func TestUploadThatFailsOrIsCancelledLeavesNoParts(t *testing.T) {
	server, b := startS3(t)
	data := noise(2*smallPart + 1)
	var parts atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, second := range map[string]bucketserver.Fault{
		"refused":   status(http.StatusForbidden, "AccessDenied"),
		"cancelled": func(http.ResponseWriter, *http.Request, http.Handler) { cancel() },
	} {
		parts.Store(0)
		server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.URL.Query().Has("partNumber") && parts.Add(1) == 2 {
				second(w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		})
		upload := ctx
		if name == "refused" {
			upload = t.Context()
		}
		if err := b.Upload(upload, "file", bytes.NewReader(data), int64(len(data))); err == nil {
			t.Errorf("%s: no error", name)
		}
		server.Fail(nil)
		if keys, uploads := server.Keys("bucket"), server.Uploads("bucket"); len(keys) != 0 || uploads != 0 {
			t.Errorf("%s: left behind %v and %d uploads", name, keys, uploads)
		}
	}
}

func TestStreamThatFailsTellsAndLeavesNoParts(t *testing.T) {
	server, b := startS3(t)
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Get("partNumber") == "2" {
			status(http.StatusForbidden, "AccessDenied")(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	w, err := b.Create(t.Context(), "stream")
	must(t, err)
	for range 100 {
		if _, err = w.Write(noise(1 << 20)); err != nil {
			break
		}
	}
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("writing: %v", err)
	}
	if err := w.Commit(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("committing: %v", err)
	}
	server.Fail(nil)
	if keys, uploads := server.Keys("bucket"), server.Uploads("bucket"); len(keys) != 0 || uploads != 0 {
		t.Errorf("left behind %v and %d uploads", keys, uploads)
	}
}

func TestBucketIsOpenedOnce(t *testing.T) {
	startS3(t)
	s := newStore(t)
	a, err := s.Bucket(t.Context(), "s3://bucket")
	must(t, err)
	b, err := s.Bucket(t.Context(), "s3://bucket")
	must(t, err)
	c, err := s.Bucket(t.Context(), "s3://bucket?region=eu-west-1")
	must(t, err)
	if a != b || a == c {
		t.Error("buckets are not kept by their URL")
	}
	for _, url := range []string{"s3://", "s3:///", "bucket", "s3://%zz"} {
		if _, err := s.Bucket(t.Context(), url); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", url, err)
		}
	}
}
