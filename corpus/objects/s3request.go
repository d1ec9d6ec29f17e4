package objects

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/aws/smithy-go/encoding/httpbinding"
)

// S3 is accessed by nine requests, signed by AWS's signer (Signature Version 4). AWS's client
// of S3 has a hundred requests and an interpreter of rules for addresses, a fifth of the
// whole program.
//
//	GET    /?list-type=2&prefix=…               list
//	HEAD   /KEY                                 metadata
//	GET    /KEY                                 bytes
//	DELETE /KEY
//	PUT    /KEY
//	POST   /KEY?uploads                         begin an upload in parts, see s3upload.go
//	PUT    /KEY?partNumber=…&uploadId=…
//	POST   /KEY?uploadId=…                      complete it
//	DELETE /KEY?uploadId=…                      abandon it

// s3Request is a request for a key, or for the bucket itself.
type s3Request struct {
	method, key string
	query       url.Values
	header      http.Header
	body        *io.SectionReader // nil: none
	checksum    string            // of the body, SHA-256 in base64; set by do if the server gets one
}

// do makes one request. The caller closes the answer's body. An answer without success is an
// error.
func (b *s3Bucket) do(ctx context.Context, q *s3Request) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, q.method, b.url(q.key, q.query), nil)
	if err != nil {
		return nil, fault.Caused(fs.ErrInvalid, err, "%v; check the URL", err)
	}
	for name, values := range q.header {
		r.Header[name] = values
	}
	sum, err := q.attach(r)
	if err != nil {
		return nil, err
	}
	if b.checksum && r.Body != nil && q.method == http.MethodPut {
		q.checksum = base64.StdEncoding.EncodeToString(sum)
		r.Header.Set("X-Amz-Checksum-Sha256", q.checksum)
	}
	if err := b.sign(ctx, r, hex.EncodeToString(sum)); err != nil {
		return nil, err
	}
	answer, err := b.client.Do(r)
	switch {
	case err == nil && answer.StatusCode < 300:
		return answer, nil
	case err == nil:
		defer answer.Body.Close()
		told := &s3Error{status: answer.StatusCode, header: answer.Header}
		_ = xml.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(told) // not every answer has an error message
		return nil, explainS3(told)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, unreachable(err, "AWS_ENDPOINT_URL")
}

// continueAt is the size from which a server is asked whether it wants a body at all.
const continueAt = 2 << 20

// attach adds the body to a request, and returns its hash: part of the signature, so that a
// server stores what was meant or nothing.
func (q *s3Request) attach(r *http.Request) ([]byte, error) {
	hash := sha256.New()
	if q.body == nil || q.body.Size() == 0 {
		return hash.Sum(nil), nil
	}
	again := func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(q.body, 0, q.body.Size())), nil }
	body, _ := again()
	if _, err := io.Copy(hash, body); err != nil {
		return nil, err
	}
	r.ContentLength, r.GetBody = q.body.Size(), again
	r.Body, _ = again()
	if r.ContentLength >= continueAt {
		r.Header.Set("Expect", "100-continue")
	}
	return hash.Sum(nil), nil
}

// sign signs a request, unless the bucket is public.
func (b *s3Bucket) sign(ctx context.Context, r *http.Request, sum string) error {
	if b.credentials == nil {
		return nil
	}
	credentials, err := b.credentials.Retrieve(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fault.Caused(corpus.ErrUnavailable, err, "the AWS credentials cannot be renewed (%v); check where they come from", err)
	}
	r.Header.Set("X-Amz-Content-Sha256", sum)
	return b.signer.SignHTTP(ctx, credentials, r, sum, "s3", b.region, time.Now())
}

// url returns the address of a key, or of the bucket.
func (b *s3Bucket) url(key string, query url.Values) string {
	u := b.address + "/" + httpbinding.EscapePath(key, false)
	if len(query) > 0 {
		u += "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
	}
	return u
}

// s3Error is what a server says about a request that it refuses.
type s3Error struct {
	XMLName xml.Name `xml:"Error"`
	Code    string
	Message string
	status  int
	header  http.Header
}

func (e *s3Error) Error() string {
	return strings.TrimSpace(fmt.Sprintf("status %d %s %s", e.status, e.Code, e.Message))
}

// call makes a request whose answer is small, and decodes it into answer unless that is nil.
func (b *s3Bucket) call(ctx context.Context, q *s3Request, answer any) (http.Header, error) {
	r, err := b.do(ctx, q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body) // to the end, so that the connection can be used again
	if answer == nil {
		return r.Header, nil
	}
	told := &s3Error{status: r.StatusCode, header: r.Header}
	if err == nil && xml.Unmarshal(text, told) == nil {
		return nil, explainS3(told) // a server may send the header before it fails
	}
	if err == nil {
		err = xml.Unmarshal(text, answer)
	}
	if err != nil {
		return nil, fault.Caused(corpus.ErrUnavailable, err, "the answer of the server breaks off or is no XML; check the network")
	}
	return r.Header, nil
}

// explainS3 adds remedies to the errors of S3.
func explainS3(told *s3Error) error {
	code, status, header := told.Code, told.status, told.header
	region := header.Get("X-Amz-Bucket-Region")
	switch {
	case code == "NoSuchBucket":
		return fault.Caused(fs.ErrNotExist, told, "no such bucket; check its name, and AWS_ENDPOINT_URL if it is not with AWS")
	case code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch" || code == "ExpiredToken" || code == "InvalidToken":
		return fault.Caused(fs.ErrPermission, told, "the AWS credentials are not valid (%s); renew them", code)
	case code == "PermanentRedirect" || code == "AuthorizationHeaderMalformed" || code == "IllegalLocationConstraintException" ||
		status == http.StatusMovedPermanently || status == http.StatusBadRequest && region != "":
		if region == "" {
			region = "the region of the bucket"
		}
		return fault.Caused(fs.ErrInvalid, told, "the bucket is in another region; set AWS_REGION to %s", region)
	case code == "RequestTimeTooSkewed":
		return fault.Caused(corpus.ErrUnavailable, told, "the server refuses (the clock of this machine is wrong); try again later")
	case isPassing(status):
		if code == "" || told.Message == "" {
			return refused(told, fmt.Sprintf("status %d %s", status, http.StatusText(status)), header)
		}
		return refused(told, code+": "+told.Message, header)
	case code == "InvalidObjectState":
		return fault.Caused(fs.ErrPermission, told, "the object is archived; restore it first")
	case status == http.StatusPreconditionFailed:
		return errChanged(told)
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return fault.Caused(fs.ErrPermission, told, "access denied; check the AWS credentials and their permissions, or add ?anonymous=true for a public bucket")
	case status == http.StatusNotFound:
		return fault.Caused(fs.ErrNotExist, told, "no such object; check the name")
	}
	return fault.Caused(corpus.ErrUnavailable, told, "the server refuses (%s: %s); try again later", cmp.Or(code, fmt.Sprintf("status %d", status)), told.Message)
}
