package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// Google Cloud Storage is accessed by its JSON API, version 1: four requests and an
// upload protocol. Google's client library needs gRPC and OpenTelemetry, three times the
// size of the whole program.
//
//	GET    /storage/v1/b/BUCKET/o?prefix=…           list
//	GET    /storage/v1/b/BUCKET/o/KEY                metadata
//	GET    /storage/v1/b/BUCKET/o/KEY?alt=media      bytes
//	DELETE /storage/v1/b/BUCKET/o/KEY
//	POST   /upload/storage/v1/b/BUCKET/o             see gsupload.go

const (
	gsServer = "https://storage.googleapis.com"
	gsScope  = "https://www.googleapis.com/auth/devstorage.read_write"
)

// gsBucket is a bucket of Google Cloud Storage.
type gsBucket struct {
	client *http.Client
	server string
	name   string
	chunk  int // bytes of a stream sent at once
}

// openGS opens the bucket that a URL names.
func openGS(ctx context.Context, u *url.URL) (*gsBucket, error) {
	q := u.Query()
	anonymous, err := strconv.ParseBool(q.Get("anonymous"))
	if q.Get("anonymous") != "" && err != nil {
		return nil, fault.Caused(fs.ErrInvalid, err, "anonymous is %q; say true or false", q.Get("anonymous"))
	}
	q.Del("anonymous")
	for name := range q {
		return nil, fault.Caused(fs.ErrInvalid, nil, "unknown setting %q in the URL; there is only anonymous", name)
	}
	b := &gsBucket{server: gsServer, name: u.Host, chunk: gsChunk}
	if emulator := os.Getenv("STORAGE_EMULATOR_HOST"); emulator != "" {
		if !strings.Contains(emulator, "://") {
			emulator = "http://" + emulator
		}
		b.server, anonymous = strings.TrimSuffix(emulator, "/"), true
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	setUp(transport)
	b.client = &http.Client{Transport: transport}
	if anonymous {
		return b, nil
	}
	// Tokens are fetched long after this call, so not with its context.
	credentials, err := google.FindDefaultCredentials(context.WithoutCancel(ctx), gsScope)
	if err != nil {
		return nil, fault.Caused(fs.ErrPermission, err,
			"no Google credentials; run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS, or add ?anonymous=true for a public bucket")
	}
	b.client.Transport = &oauth2.Transport{Source: credentials.TokenSource, Base: transport}
	return b, nil
}

// gsObject is an object as the API describes it.
type gsObject struct {
	Name       string    `json:"name"`
	Size       int64     `json:"size,string"`
	Updated    time.Time `json:"updated"`
	Generation string    `json:"generation"`
}

func (o gsObject) object() corpus.Object {
	return corpus.Object{Key: o.Name, Size: o.Size, ModTime: o.Updated, Version: o.Generation}
}

const gsFields = "name,size,updated,generation"

// url returns the address of the object of a key, or of the bucket's objects.
func (b *gsBucket) url(key string, query url.Values) string {
	u := b.server + "/storage/v1/b/" + url.PathEscape(b.name) + "/o"
	if key != "" {
		u += "/" + url.PathEscape(key)
	}
	return u + "?" + query.Encode()
}

func (b *gsBucket) List(ctx context.Context, prefix string, each func(corpus.Object) error) error {
	query := url.Values{"prefix": {prefix}, "fields": {"nextPageToken,items(" + gsFields + ")"}}
	for {
		var page struct {
			NextPageToken string     `json:"nextPageToken"`
			Items         []gsObject `json:"items"`
		}
		err := b.call(ctx, http.MethodGet, b.url("", query), &page)
		if errors.Is(err, fs.ErrNotExist) {
			err = fault.Caused(fs.ErrNotExist, err, "no such bucket; check its name")
		}
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := each(item.object()); err != nil {
				return err
			}
		}
		if page.NextPageToken == "" {
			return nil
		}
		query.Set("pageToken", page.NextPageToken)
	}
}

func (b *gsBucket) Stat(ctx context.Context, key string) (corpus.Object, error) {
	var o gsObject
	err := b.call(ctx, http.MethodGet, b.url(key, url.Values{"fields": {gsFields}}), &o)
	return o.object(), err
}

func (b *gsBucket) Remove(ctx context.Context, key string) error {
	err := b.call(ctx, http.MethodDelete, b.url(key, nil), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// call makes a request that may be repeated, and decodes its answer into answer unless
// answer is nil.
func (b *gsBucket) call(ctx context.Context, method, url string, answer any) error {
	return retry(ctx, requestTimeout, func(ctx context.Context) error {
		r, err := b.do(ctx, method, url, nil, nil)
		if err != nil {
			return err
		}
		defer r.Body.Close()
		if answer == nil {
			return nil
		}
		if err := json.NewDecoder(r.Body).Decode(answer); err != nil {
			return fault.Caused(corpus.ErrUnavailable, err, "the answer of the server breaks off or is no JSON (%v); check the network", err)
		}
		return nil
	})
}

func (b *gsBucket) Read(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	query := url.Values{"alt": {"media"}}
	if !o.AnyVersion() {
		query.Set("ifGenerationMatch", o.Version)
	}
	r, err := b.do(ctx, http.MethodGet, b.url(o.Key, query), http.Header{
		"Range": {fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)},
		// As stored: otherwise objects stored with Content-Encoding: gzip would be decompressed
		// on the way, and a range would not hold the requested bytes.
		"Accept-Encoding": {"gzip"},
	}, nil)
	if err != nil {
		return nil, err
	}
	if generation := r.Header.Get("X-Goog-Generation"); !o.AnyVersion() && generation != "" && generation != o.Version {
		_ = r.Body.Close() // none of its bytes are wanted
		return nil, errChanged(nil)
	}
	if r.StatusCode != http.StatusPartialContent && offset > 0 {
		_ = r.Body.Close()
		return nil, fault.Caused(fs.ErrInvalid, nil, "the server does not return the requested range of bytes; copy the data to a folder")
	}
	return r.Body, nil
}

// do makes one request. The caller closes the answer's body. An answer without success is
// an error, except 308 of the upload protocol.
func (b *gsBucket) do(ctx context.Context, method, url string, header http.Header, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, fault.Caused(fs.ErrInvalid, err, "%v; check the URL", err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if length := request.Header.Get("Content-Length"); length != "" {
		request.ContentLength, _ = strconv.ParseInt(length, 10, 64) // do's callers have set it
	}
	r, err := b.client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var token *oauth2.RetrieveError
		if errors.As(err, &token) {
			return nil, fault.Caused(fs.ErrPermission, err, "the Google credentials are not valid; renew them (gcloud auth application-default login)")
		}
		return nil, unreachable(err, "STORAGE_EMULATOR_HOST")
	}
	if r.StatusCode < 300 || r.StatusCode == http.StatusPermanentRedirect {
		return r, nil
	}
	defer r.Body.Close()
	return nil, explainGS(r)
}

// explainGS turns an answer into an error with a remedy.
func explainGS(r *http.Response) error {
	var told struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&told) // not every answer has an error message
	cause := fmt.Errorf("status %d %s", r.StatusCode, told.Error.Message)
	switch r.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return fault.Caused(fs.ErrNotExist, cause, "no such object; check the name")
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Caused(fs.ErrPermission, cause, "access denied; check the Google credentials and their permissions, or add ?anonymous=true for a public bucket")
	case http.StatusPreconditionFailed:
		return errChanged(cause)
	}
	if isPassing(r.StatusCode) {
		return refused(cause, cause.Error(), r.Header)
	}
	return fault.Caused(fs.ErrInvalid, cause, "the server refuses (%v); check the URL", cause)
}

func (b *gsBucket) close() error {
	b.client.CloseIdleConnections()
	return nil
}

// gsChunk is how much of a stream one PUT sends, a multiple of 256 KiB.
const gsChunk = 8 << 20
