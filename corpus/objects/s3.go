package objects

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/internal/fault"
	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// s3Bucket is a bucket of S3.
type s3Bucket struct {
	client      *http.Client
	address     string // of the bucket, without a final slash
	region      string
	signer      *v4.Signer
	credentials aws.CredentialsProvider // nil: requests are not signed
	checksum    bool                    // the server stores a checksum with an object

	filePart, streamPart int // bytes of a part of an upload
}

// openS3 opens the bucket that a URL names.
func openS3(ctx context.Context, u *url.URL) (*s3Bucket, error) {
	s, err := takeAWSSettings(u.Query())
	if err != nil {
		return nil, err
	}
	credentials, err := s.load()
	if err != nil {
		return nil, fault.Caused(fs.ErrInvalid, err, "wrong settings for S3: %v; correct the URL or the AWS configuration", err)
	}
	address, err := s.addressOf(u.Host)
	if err != nil {
		return nil, err
	}
	if err := checkCredentials(ctx, credentials); err != nil {
		return nil, err
	}
	transport, err := awsTransport()
	if err != nil {
		return nil, err
	}
	transport.DisableCompression = true // objects are read as they are stored
	b := &s3Bucket{
		client: &http.Client{Transport: transport, CheckRedirect: stay}, address: address, region: s.region,
		signer:      v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // url has escaped it
		credentials: credentials, checksum: s.checksum,
		filePart: s3FilePart, streamPart: s3StreamPart,
	}
	return b, nil
}

// stay follows no redirection: it leads to another region, for which the signature is wrong.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// awsSettings are the settings of the URL; load adds those of the AWS configuration that
// they leave open.
type awsSettings struct {
	region, profile, endpoint  string
	role                       string // to assume; "": none
	anonymous, dualstack, fips bool
	pathStyle                  *bool
	checksums                  string // when_supported or when_required; "": not said
	checksum                   bool
}

func takeAWSSettings(q url.Values) (s awsSettings, err error) {
	for name, values := range q {
		value := values[0]
		switch name {
		case "region":
			s.region = value
		case "profile":
			s.profile = value
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
		case "request_checksum_calculation":
			if value != "when_supported" && value != "when_required" {
				return s, fault.Caused(fs.ErrInvalid, nil, "%s is %q; say when_supported or when_required", name, value)
			}
			s.checksums = value
		case "awssdk", "hostname_immutable", "rate_limiter_capacity", "response_checksum_validation":
			// Libraries that URLs once went through had these settings; they have no effect here.
		default:
			return s, fault.Caused(fs.ErrInvalid, nil, "unknown setting %q in the URL; there are region, profile, role, endpoint, anonymous, use_path_style, "+
				"dualstack, fips and request_checksum_calculation", name)
		}
	}
	return s, nil
}

// turn handles a setting that is on or off.
func (s *awsSettings) turn(name string, on, given bool) {
	switch {
	case name == "anonymous":
		s.anonymous = on
	case name == "dualstack":
		s.dualstack = on
	case name == "fips":
		s.fips = on
	case given:
		s.pathStyle = &on
	}
}

// load reads the AWS configuration. A role is assumed with the credentials that it finds.
func (s *awsSettings) load() (aws.CredentialsProvider, error) {
	files, err := readAWSFiles()
	if err != nil {
		return nil, err
	}
	p, err := files.profile(s.profile)
	if err != nil {
		return nil, err
	}
	p.region = cmp.Or(s.region, p.region)
	s.region = p.region
	s.endpoint = cmp.Or(s.endpoint, p.endpoint("s3"))
	s.fips = s.fips || p.on("use_fips_endpoint")
	s.dualstack = s.dualstack || p.on("use_dualstack_endpoint")
	s.checksum = s.endpoint == "" // few other servers know them
	if said := cmp.Or(s.checksums, p.get("request_checksum_calculation")); said != "" {
		s.checksum = strings.EqualFold(said, "when_supported")
	}
	if s.anonymous {
		return nil, nil
	}
	credentials, err := p.provider(s.profile != "")
	switch {
	case err != nil || s.role == "":
		return credentials, err
	case !strings.HasPrefix(s.role, "arn:"):
		return nil, fmt.Errorf("role is %q: give the ARN of a role, such as arn:aws:iam::123456789012:role/reader", s.role)
	}
	return p.assumed(s.role, credentials), nil
}

// checkCredentials looks for credentials, so that the user learns of missing ones before
// any other error.
func checkCredentials(ctx context.Context, credentials aws.CredentialsProvider) error {
	if credentials == nil {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, credentialTimeout)
	defer cancel()
	_, err := credentials.Retrieve(within)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return fault.Caused(fs.ErrPermission, err,
		"no AWS credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or add ?anonymous=true for a public bucket")
}

// addressOf returns the address of a bucket, without a final slash: one of AWS, or a path
// or a host of another server.
func (s *awsSettings) addressOf(bucket string) (string, error) {
	endpoint, inPath := s.endpoint, true
	if endpoint == "" {
		if rest, found := strings.CutSuffix(bucket, "-x-s3"); found && strings.HasSuffix(rest, "-") {
			return "", fault.Because(fs.ErrInvalid, "directory buckets (S3 Express One Zone) are not supported; copy the data to a general purpose bucket")
		}
		endpoint, inPath = s.serverOfAWS(), !fitsHost(bucket)
	}
	if s.pathStyle != nil {
		inPath = *s.pathStyle
	}
	u, err := url.Parse(strings.TrimSuffix(endpoint, "/"))
	if err != nil || u.Host == "" {
		return "", fault.Caused(fs.ErrInvalid, err, "the endpoint %q is no URL; write it as https://host", endpoint)
	}
	if inPath {
		u.Path += "/" + bucket
	} else {
		u.Host = bucket + "." + u.Host
	}
	return u.String(), nil
}

// serverOfAWS returns the address of the S3 of a region.
func (s *awsSettings) serverOfAWS() string {
	service := "s3"
	if s.fips {
		service += "-fips"
	}
	if s.dualstack {
		service += ".dualstack"
	}
	return "https://" + service + "." + s.region + "." + domainOf(s.region)
}

// domainOf returns the domain of the servers of a region. Only AWS's separate clouds have
// others than the first.
func domainOf(region string) string {
	for prefix, domain := range map[string]string{
		"cn-": "amazonaws.com.cn", "eusc-": "amazonaws.eu", "us-iso-": "c2s.ic.gov", "us-isob-": "sc2s.sgov.gov",
		"eu-isoe-": "cloud.adc-e.uk", "us-isof-": "csp.hci.ic.gov",
	} {
		if strings.HasPrefix(region, prefix) {
			return domain
		}
	}
	return "amazonaws.com"
}

// fitsHost reports whether the name of a bucket can be part of a host name: AWS's
// certificates cover no further dots.
func fitsHost(bucket string) bool {
	return len(bucket) >= 3 && len(bucket) <= 63 && strings.Trim(bucket, "-") == bucket &&
		strings.Trim(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func (b *s3Bucket) close() error {
	b.client.CloseIdleConnections()
	return nil
}
