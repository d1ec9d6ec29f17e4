package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

func (b *s3Bucket) List(ctx context.Context, prefix string, each func(corpus.Object) error) error {
	// As they are, keys with control characters would be no XML.
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}, "encoding-type": {"url"}}
	for {
		var page struct {
			Contents []struct {
				Key          string
				Size         int64
				LastModified time.Time
				ETag         string
			}
			NextContinuationToken string
			EncodingType          string // url: of the keys, as was asked for
		}
		err := retry(ctx, requestTimeout, func(ctx context.Context) error {
			page.Contents, page.NextContinuationToken, page.EncodingType = nil, "", ""
			_, err := b.call(ctx, &s3Request{method: http.MethodGet, query: query}, &page)
			return err
		})
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			if page.EncodingType == "url" {
				if o.Key, err = url.QueryUnescape(o.Key); err != nil {
					return fmt.Errorf("the name of an object in a list of the store: %w", err)
				}
			}
			if err := each(corpus.Object{Key: o.Key, Size: o.Size, ModTime: o.LastModified, Version: o.ETag}); err != nil {
				return err
			}
		}
		if page.NextContinuationToken == "" {
			return nil
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

func (b *s3Bucket) Stat(ctx context.Context, key string) (o corpus.Object, err error) {
	err = retry(ctx, requestTimeout, func(ctx context.Context) error {
		r, err := b.do(ctx, &s3Request{method: http.MethodHead, key: key})
		if err != nil {
			return err
		}
		o = corpus.Object{Key: key, Size: max(r.ContentLength, 0), ModTime: lastModified(r), Version: r.Header.Get("ETag")}
		return r.Body.Close()
	})
	return o, err
}

// lastModified returns the time of an object; zero if the server does not report it.
func lastModified(r *http.Response) time.Time {
	at, _ := http.ParseTime(r.Header.Get("Last-Modified"))
	return at
}

func (b *s3Bucket) Read(ctx context.Context, o corpus.Object, offset, length int64) (io.ReadCloser, error) {
	header := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)}}
	if o.Version != "" {
		header["If-Match"] = []string{o.Version}
	}
	r, err := b.do(ctx, &s3Request{method: http.MethodGet, key: o.Key, header: header})
	if err != nil {
		return nil, err
	}
	if err := checkAnswer(r, o, offset); err != nil {
		_ = r.Body.Close() // none of its bytes are wanted
		return nil, err
	}
	return r.Body, nil
}

// checkAnswer checks the answer, because not every server supports conditions and ranges.
func checkAnswer(r *http.Response, o corpus.Object, offset int64) error {
	if etag := r.Header.Get("ETag"); o.Version != "" && etag != "" && etag != o.Version {
		return errChanged(nil)
	}
	answered := r.Header.Get("Content-Range") // bytes FIRST-LAST/SIZE
	if offset > 0 && !strings.HasPrefix(answered, fmt.Sprintf("bytes %d-", offset)) {
		return fault.Caused(fs.ErrInvalid, nil, "the server does not return the requested range of bytes; copy the data to a folder")
	}
	size := max(r.ContentLength, 0) // of the whole object, if the answer has no range
	if _, of, ranged := strings.Cut(answered, "/"); ranged {
		var err error
		if size, err = strconv.ParseInt(of, 10, 64); err != nil {
			size = o.Size // the server does not report it
		}
	}
	if !o.AnyVersion() && (size != o.Size || o.Version == "" && !lastModified(r).Equal(o.ModTime)) {
		return errChanged(nil)
	}
	return nil
}

func (b *s3Bucket) Remove(ctx context.Context, key string) error {
	return retry(ctx, requestTimeout, func(ctx context.Context) error {
		_, err := b.call(ctx, &s3Request{method: http.MethodDelete, key: key}, nil)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
