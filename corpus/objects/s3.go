package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	gcaws "gocloud.dev/aws"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// s3Bucket is a bucket of S3. It reads through gocloud.dev/blob; uploads are its
// own, because those of gocloud.dev take up to 40 MiB each and leave their parts
// in the bucket when they are cancelled.
type s3Bucket struct {
	*blobBucket
	client *s3.Client
	name   string
	http   *awshttp.BuildableClient

	filePart, streamPart int // bytes of a part of an upload
}

// openS3 opens the bucket that a URL names.
func openS3(ctx context.Context, u *url.URL) (*s3Bucket, error) {
	q := u.Query()
	own, err := takeS3Settings(q)
	if err != nil {
		return nil, err
	}
	if q.Get("anonymous") == "" {
		q.Del("anonymous")
	}
	config, err := gcaws.V2ConfigFromURLParams(ctx, q)
	if err != nil {
		return nil, fault.Caused(fs.ErrInvalid, err, "wrong settings for S3: %v; correct the URL or the AWS configuration", err)
	}
	httpClient := awshttp.NewBuildableClient().WithTransportOptions(setUp)
	config.HTTPClient, config.Logger = httpClient, logging.Nop{}
	if config.Region == "" {
		config.Region = "us-east-1"
	}
	if err := checkCredentials(ctx, config); err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(config, own.apply)
	bucket, err := s3blob.OpenBucket(ctx, client, u.Host, nil)
	if err != nil {
		return nil, fault.Caused(fs.ErrInvalid, err, "%v; check the URL", err)
	}
	b := &s3Bucket{
		blobBucket: newBlobBucket(bucket), client: client, name: u.Host, http: httpClient,
		filePart: s3FilePart, streamPart: s3StreamPart,
	}
	b.patience = usualPatience
	b.explain, b.found, b.ask, b.answered = explainS3, foundInS3, askS3, answeredByS3
	return b, nil
}

// s3Settings are those settings of the URL that the client takes, not its
// configuration.
type s3Settings struct {
	endpoint  string
	pathStyle *bool
}

func takeS3Settings(q url.Values) (s s3Settings, err error) {
	s.endpoint = q.Get("endpoint")
	q.Del("endpoint")
	if style := q.Get("use_path_style"); style != "" {
		path, err := strconv.ParseBool(style)
		if err != nil {
			return s, fault.Caused(fs.ErrInvalid, err, "use_path_style is %q; say true or false", style)
		}
		s.pathStyle = &path
	}
	q.Del("use_path_style")
	return s, nil
}

// apply sets what is different for servers other than AWS: few know buckets as
// names of hosts, and the checksums that newer clients send.
func (s s3Settings) apply(o *s3.Options) {
	if s.endpoint != "" {
		o.BaseEndpoint = &s.endpoint
	}
	if o.BaseEndpoint != nil {
		o.UsePathStyle = true
		if os.Getenv("AWS_REQUEST_CHECKSUM_CALCULATION") == "" {
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		}
	}
	if s.pathStyle != nil {
		o.UsePathStyle = *s.pathStyle
	}
	o.DisableLogOutputChecksumValidationSkipped = true
	o.Retryer = aws.NopRetryer{} // see retry.go
}

// checkCredentials looks for credentials, so that their absence is told before
// anything else goes wrong.
func checkCredentials(ctx context.Context, config aws.Config) error {
	if aws.IsCredentialsProvider(config.Credentials, aws.AnonymousCredentials{}) {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, credentialTimeout)
	defer cancel()
	_, err := config.Credentials.Retrieve(within)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return fault.Caused(fs.ErrPermission, err,
		"no AWS credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or add ?anonymous=true for a public bucket")
}

// foundInS3 takes the version, and the key as it is: gocloud.dev would escape it
// when it is used again.
func foundInS3(as func(any) bool, o *corpus.Object) {
	var listed types.Object
	var looked s3.HeadObjectOutput
	switch {
	case as(&listed):
		o.Key, o.Version = aws.ToString(listed.Key), aws.ToString(listed.ETag)
	case as(&looked):
		o.Version = aws.ToString(looked.ETag)
	}
}

func askS3(as func(any) bool, o corpus.Object) error {
	var in *s3.GetObjectInput
	if as(&in) {
		in.Key = &o.Key
		if o.Version != "" {
			in.IfMatch = &o.Version
		}
	}
	return nil
}

// answeredByS3 does not trust a server to know conditions and ranges.
func answeredByS3(as func(any) bool, o corpus.Object, offset int64) error {
	var out s3.GetObjectOutput
	if !as(&out) {
		return nil
	}
	if etag := aws.ToString(out.ETag); o.Version != "" && etag != "" && etag != o.Version {
		return errChanged(nil)
	}
	if r := aws.ToString(out.ContentRange); offset > 0 && !strings.HasPrefix(r, fmt.Sprintf("bytes %d-", offset)) {
		return fault.Caused(fs.ErrInvalid, nil, "the server does not give the range of bytes that it was asked for; copy the data to a folder")
	}
	return nil
}

// explainS3 gives the errors of S3 their remedy.
func explainS3(err error) error {
	var api smithy.APIError
	var response *awshttp.ResponseError
	var broken *smithy.DeserializationError
	code, status, header := "", 0, http.Header{}
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	if errors.As(err, &response) && response.Response != nil {
		status, header = response.HTTPStatusCode(), response.Response.Header
	}
	region := header.Get("X-Amz-Bucket-Region")
	switch {
	case code == "NoSuchBucket":
		return fault.Caused(fs.ErrNotExist, err, "no such bucket; check its name, and AWS_ENDPOINT_URL if it is not with AWS")
	case code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch" || code == "ExpiredToken" || code == "InvalidToken":
		return fault.Caused(fs.ErrPermission, err, "the AWS credentials are not valid (%s); renew them", code)
	case code == "PermanentRedirect" || code == "AuthorizationHeaderMalformed" || code == "IllegalLocationConstraintException" ||
		status == http.StatusMovedPermanently || status == http.StatusBadRequest && region != "":
		if region == "" {
			region = "the region of the bucket"
		}
		return fault.Caused(fs.ErrInvalid, err, "the bucket is in another region; set AWS_REGION to %s", region)
	case code == "RequestTimeTooSkewed":
		return refused(err, "the clock of this machine is wrong", header)
	case isPassing(status):
		if code == "" || api.ErrorMessage() == "" {
			return refused(err, fmt.Sprintf("status %d %s", status, http.StatusText(status)), header)
		}
		return refused(err, code+": "+api.ErrorMessage(), header)
	case status < 300 && errors.As(err, &broken):
		return fault.Caused(corpus.ErrUnavailable, err, "the answer of the server breaks off or is no XML; check the network")
	case code == "InvalidObjectState":
		return fault.Caused(fs.ErrPermission, err, "the object is archived; restore it first")
	case status == http.StatusPreconditionFailed:
		return errChanged(err)
	case status == http.StatusForbidden || status == http.StatusUnauthorized || gcerrors.Code(err) == gcerrors.PermissionDenied:
		return fault.Caused(fs.ErrPermission, err, "access denied; check the AWS credentials and what they are allowed to, or add ?anonymous=true for a public bucket")
	case status == http.StatusNotFound || gcerrors.Code(err) == gcerrors.NotFound:
		return fault.Caused(fs.ErrNotExist, err, "no such object; check the name")
	case api != nil:
		return refused(err, code+": "+api.ErrorMessage(), header)
	}
	return unreachable(err, "AWS_ENDPOINT_URL")
}

func (b *s3Bucket) close() error {
	err := b.blobBucket.close()
	b.http.GetTransport().CloseIdleConnections()
	return err
}
