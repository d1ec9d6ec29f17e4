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
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// s3Bucket is a bucket of S3.
type s3Bucket struct {
	client *s3.Client
	name   string
	http   *awshttp.BuildableClient
	patience

	filePart, streamPart int // bytes of a part of an upload
}

// openS3 opens the bucket that a URL names.
func openS3(ctx context.Context, u *url.URL) (*s3Bucket, error) {
	settings, err := takeS3Settings(u.Query())
	if err != nil {
		return nil, err
	}
	loaded, err := settings.load(ctx)
	if err != nil {
		return nil, fault.Caused(fs.ErrInvalid, err, "wrong settings for S3: %v; correct the URL or the AWS configuration", err)
	}
	httpClient := awshttp.NewBuildableClient().WithTransportOptions(setUp)
	loaded.HTTPClient, loaded.Logger = httpClient, logging.Nop{}
	if loaded.Region == "" {
		loaded.Region = "us-east-1"
	}
	if err := checkCredentials(ctx, loaded); err != nil {
		return nil, err
	}
	return &s3Bucket{
		client: s3.NewFromConfig(loaded, settings.apply), name: u.Host, http: httpClient, patience: usualPatience,
		filePart: s3FilePart, streamPart: s3StreamPart,
	}, nil
}

// s3Settings are the settings of the URL: those that are loaded with the AWS
// configuration, and those that only the client takes.
type s3Settings struct {
	loads     []func(*config.LoadOptions) error
	role      string // to assume; "": none
	endpoint  string
	pathStyle *bool
}

func takeS3Settings(q url.Values) (s s3Settings, err error) {
	for name, values := range q {
		value := values[0]
		switch name {
		case "region":
			s.loads = append(s.loads, config.WithRegion(value))
		case "profile":
			s.loads = append(s.loads, config.WithSharedConfigProfile(value))
		case "role":
			s.role = value
		case "endpoint":
			s.endpoint = value
		case "anonymous", "use_path_style", "dualstack", "fips":
			var on bool
			if on, err = strconv.ParseBool(value); value != "" && err != nil {
				return s, fault.Caused(fs.ErrInvalid, err, "%s is %q; say true or false", name, value)
			}
			s.turn(name, on, value != "")
		case "request_checksum_calculation", "response_checksum_validation":
			if value != "when_supported" && value != "when_required" {
				return s, fault.Caused(fs.ErrInvalid, nil, "%s is %q; say when_supported or when_required", name, value)
			}
			s.check(name, value == "when_required")
		case "awssdk", "hostname_immutable", "rate_limiter_capacity":
			// A library that URLs once went through had these settings; they have no effect here.
		default:
			return s, fault.Caused(fs.ErrInvalid, nil, "unknown setting %q in the URL; there are region, profile, role, endpoint, anonymous, use_path_style, "+
				"dualstack, fips, request_checksum_calculation and response_checksum_validation", name)
		}
	}
	return s, nil
}

// turn handles a setting that is on or off.
func (s *s3Settings) turn(name string, on, given bool) {
	switch {
	case name == "use_path_style" && given:
		s.pathStyle = &on
	case !on:
	case name == "anonymous":
		s.loads = append(s.loads, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	case name == "dualstack":
		s.loads = append(s.loads, config.WithUseDualStackEndpoint(aws.DualStackEndpointStateEnabled))
	case name == "fips":
		s.loads = append(s.loads, config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled))
	}
}

// check sets when checksums are made or verified.
func (s *s3Settings) check(name string, required bool) {
	switch {
	case name == "request_checksum_calculation" && required:
		s.loads = append(s.loads, config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired))
	case name == "request_checksum_calculation":
		s.loads = append(s.loads, config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenSupported))
	case required:
		s.loads = append(s.loads, config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired))
	default:
		s.loads = append(s.loads, config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenSupported))
	}
}

// load reads the AWS configuration. A role is assumed with the credentials that it finds.
func (s *s3Settings) load(ctx context.Context) (aws.Config, error) {
	loaded, err := config.LoadDefaultConfig(ctx, s.loads...)
	if err != nil || s.role == "" {
		return loaded, err
	}
	if !strings.HasPrefix(s.role, "arn:") {
		return loaded, fmt.Errorf("role is %q: give the ARN of a role, such as arn:aws:iam::123456789012:role/reader", s.role)
	}
	loaded.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(loaded), s.role))
	return loaded, nil
}

// apply sets what differs for servers other than AWS: few of them know buckets as host
// names, or the checksums that newer clients send.
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

// checkCredentials looks for credentials, so that the user learns of missing ones before
// any other error.
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

// explainS3 adds remedies to the errors of S3.
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
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return fault.Caused(fs.ErrPermission, err, "access denied; check the AWS credentials and their permissions, or add ?anonymous=true for a public bucket")
	case status == http.StatusNotFound:
		return fault.Caused(fs.ErrNotExist, err, "no such object; check the name")
	case api != nil:
		return refused(err, code+": "+api.ErrorMessage(), header)
	}
	return unreachable(err, "AWS_ENDPOINT_URL")
}

func (b *s3Bucket) close() error {
	b.http.GetTransport().CloseIdleConnections()
	return nil
}
