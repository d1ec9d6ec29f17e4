package objects

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// AWS's library gets credentials from a program, a container or a machine. Its package that
// chooses between them also links the clients of single sign-on, 2.2 MB that few runs need; so
// that choice is made here, in the order of AWS's tools.

// provider returns where the credentials come from. inURL: the URL names the profile, which
// then counts more than the environment.
func (p *awsProfile) provider(inURL bool) (aws.CredentialsProvider, error) {
	if !inURL {
		if found := fromEnvironment(); found != nil {
			return found, nil
		}
		if file := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"); file != "" {
			return p.webIdentity(file, os.Getenv("AWS_ROLE_ARN"), os.Getenv("AWS_ROLE_SESSION_NAME")), nil
		}
	}
	return p.ofFiles(0)
}

// longestChain is how many profiles can stand one behind another.
const longestChain = 8

// ofFiles returns where the credentials of a profile come from.
func (p *awsProfile) ofFiles(depth int) (aws.CredentialsProvider, error) {
	s := p.settings
	role := s["role_arn"]
	if file := s["web_identity_token_file"]; file != "" && role != "" {
		return p.webIdentity(file, role, s["role_session_name"]), nil
	}
	var base aws.CredentialsProvider
	var err error
	switch source := s["source_profile"]; {
	case role == "":
		return p.own()
	case source == "" && s["credential_source"] != "":
		base, err = sourced(s["credential_source"])
	case source == "" || source == p.name:
		base, err = p.own()
	case depth == longestChain:
		return nil, fmt.Errorf("the profiles of ~/.aws lead in a circle by source_profile (%s)", p.name)
	default:
		var from *awsProfile
		if from, err = p.files.profile(source); err == nil {
			from.region = p.region
			base, err = from.ofFiles(depth + 1)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case s["mfa_serial"] != "":
		return nil, fmt.Errorf("profile %s needs a code (mfa_serial), for which alike does not ask; %s", p.name, byProcess)
	}
	return p.assumed(role, base), nil
}

// byProcess is the way round what only AWS's own tools can do.
const byProcess = "make another profile, with aws configure export-credentials of this one as its credential_process, and name that"

// own returns the credentials that a profile has without a role.
func (p *awsProfile) own() (aws.CredentialsProvider, error) {
	s := p.settings
	switch {
	case s["aws_access_key_id"] != "" && s["aws_secret_access_key"] != "":
		return credentials.NewStaticCredentialsProvider(s["aws_access_key_id"], s["aws_secret_access_key"], s["aws_session_token"]), nil
	case s["credential_process"] != "":
		return cached(processcreds.NewProvider(s["credential_process"])), nil
	case s["sso_session"] != "" || s["sso_start_url"] != "" || s["login_session"] != "":
		return nil, fmt.Errorf("profile %s signs in by a browser (single sign-on), which alike cannot; %s", p.name, byProcess)
	}
	return ofMachine()
}

// fromEnvironment returns the credentials of the environment, nil if there are none.
func fromEnvironment() aws.CredentialsProvider {
	id := cmp.Or(os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_ACCESS_KEY"))
	secret := cmp.Or(os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SECRET_KEY"))
	if id == "" || secret == "" {
		return nil
	}
	return credentials.NewStaticCredentialsProvider(id, secret, os.Getenv("AWS_SESSION_TOKEN"))
}

// sourced returns the credentials that credential_source names.
func sourced(from string) (aws.CredentialsProvider, error) {
	switch from {
	case "Environment":
		if found := fromEnvironment(); found != nil {
			return found, nil
		}
		return nil, errors.New("credential_source is Environment, but AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
	case "EcsContainer":
		return ofMachine()
	case "Ec2InstanceMetadata":
		return cached(ec2rolecreds.New()), nil
	}
	return nil, fmt.Errorf("credential_source is %q; say Environment, EcsContainer or Ec2InstanceMetadata", from)
}

// ofMachine returns the credentials of the container, or of the machine.
func ofMachine() (aws.CredentialsProvider, error) {
	address := os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		address = "http://169.254.170.2" + path
	}
	if address == "" {
		return cached(ec2rolecreds.New()), nil
	}
	if err := checkContainer(address); err != nil {
		return nil, err
	}
	return cached(endpointcreds.New(address, func(o *endpointcreds.Options) {
		o.AuthorizationToken = os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if file := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
			o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
				token, err := os.ReadFile(file)
				return strings.TrimSpace(string(token)), err
			})
		}
	})), nil
}

// checkContainer refuses to send the token of a container to other machines unencrypted.
func checkContainer(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "https" {
		return err
	}
	ip := net.ParseIP(u.Hostname())
	switch {
	case u.Hostname() == "localhost", ip.IsLoopback():
		return nil
	case ip != nil && (ip.String() == "169.254.170.2" || ip.String() == "169.254.170.23" || ip.String() == "fd00:ec2::23"):
		return nil
	}
	return fmt.Errorf("AWS_CONTAINER_CREDENTIALS_FULL_URI is %s; give an address of this machine or one with https", address)
}

// cached keeps credentials until a minute before they expire.
func cached(from aws.CredentialsProvider) aws.CredentialsProvider {
	return aws.NewCredentialsCache(from, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = time.Minute })
}

// assumed returns the credentials of a role, assumed with others.
func (p *awsProfile) assumed(role string, with aws.CredentialsProvider) aws.CredentialsProvider {
	form := url.Values{
		"Action": {"AssumeRole"}, "RoleArn": {role}, "RoleSessionName": {sessionName(p.settings["role_session_name"])},
		"DurationSeconds": {cmp.Or(p.settings["duration_seconds"], "900")},
	}
	if id := p.settings["external_id"]; id != "" {
		form.Set("ExternalId", id)
	}
	return cached(&awsRole{address: p.serverOfRoles(), region: p.region, form: form, with: with})
}

// webIdentity returns the credentials of a role, assumed with the token of a file.
func (p *awsProfile) webIdentity(file, role, session string) aws.CredentialsProvider {
	form := url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {role}, "RoleSessionName": {sessionName(session)}}
	return cached(&awsRole{address: p.serverOfRoles(), form: form, tokenFile: file})
}

// sessionName returns a name under which AWS records what is done in a role.
func sessionName(name string) string {
	return cmp.Or(name, "alike-"+strconv.FormatInt(time.Now().UnixNano(), 10))
}

func (p *awsProfile) serverOfRoles() string {
	return cmp.Or(p.endpoint("sts"), "https://sts."+p.region+"."+domainOf(p.region))
}

// awsRole gets the credentials of a role by a request to AWS's Security Token Service.
type awsRole struct {
	address, region string
	form            url.Values
	with            aws.CredentialsProvider // nil: a token takes the place of the signature
	tokenFile       string
}

// Retrieve gets new credentials.
func (a *awsRole) Retrieve(ctx context.Context) (found aws.Credentials, err error) {
	err = retry(ctx, requestTimeout, func(ctx context.Context) error {
		found, err = a.ask(ctx)
		return err
	})
	return found, err
}

func (a *awsRole) ask(ctx context.Context) (found aws.Credentials, err error) {
	a.form.Set("Version", "2011-06-15")
	if a.tokenFile != "" {
		token, err := os.ReadFile(a.tokenFile) // it is renewed from time to time
		if err != nil {
			return found, err
		}
		a.form.Set("WebIdentityToken", strings.TrimSpace(string(token)))
	}
	body := a.form.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(a.address, "/")+"/", strings.NewReader(body))
	if err != nil {
		return found, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if a.with != nil {
		with, err := a.with.Retrieve(ctx)
		if err != nil {
			return found, err
		}
		sum := sha256.Sum256([]byte(body))
		if err := v4.NewSigner().SignHTTP(ctx, with, r, hex.EncodeToString(sum[:]), "sts", a.region, time.Now()); err != nil {
			return found, err
		}
	}
	transport, err := awsTransport()
	if err != nil {
		return found, err
	}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return found, unreachable(err, "AWS_REGION")
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return found, unreachable(err, "AWS_REGION")
	}
	return readRole(answer, text)
}

func readRole(answer *http.Response, text []byte) (found aws.Credentials, err error) {
	type received struct {
		AccessKeyId, SecretAccessKey, SessionToken string
		Expiration                                 time.Time
	}
	var told struct {
		Error   s3Error  // of an answer without success
		Role    received `xml:"AssumeRoleResult>Credentials"`
		ByToken received `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	err = xml.NewDecoder(bytes.NewReader(text)).Decode(&told)
	told.Error.status = answer.StatusCode
	switch {
	case isPassing(answer.StatusCode):
		return found, refused(&told.Error, told.Error.Error(), answer.Header)
	case answer.StatusCode != http.StatusOK:
		return found, fmt.Errorf("the role cannot be assumed: %w", &told.Error)
	case err != nil:
		return found, fault.Caused(corpus.ErrUnavailable, err, "the answer of the server breaks off or is no XML; check the network")
	}
	got := told.Role
	if got.AccessKeyId == "" {
		got = told.ByToken
	}
	return aws.Credentials{
		AccessKeyID: got.AccessKeyId, SecretAccessKey: got.SecretAccessKey, SessionToken: got.SessionToken,
		CanExpire: true, Expires: got.Expiration, Source: "role",
	}, nil
}

// awsFiles are the sections of the files of AWS tools, ~/.aws/config and ~/.aws/credentials,
// by their names: "NAME" for a profile, "services NAME" for addresses. The settings below
// a setting such as "s3 =" have names such as "s3.endpoint_url".
type awsFiles map[string]map[string]string

// readAWSFiles reads both files, which need not exist.
func readAWSFiles() (awsFiles, error) {
	files := awsFiles{}
	home, _ := os.UserHomeDir() // without it there are no files
	for _, file := range []struct{ variable, name string }{{"AWS_CONFIG_FILE", "config"}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials"}} {
		text, err := os.ReadFile(cmp.Or(os.Getenv(file.variable), filepath.Join(home, ".aws", file.name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		files.add(text)
	}
	return files, nil
}

// add adds the sections of a file; its settings count more than those of files before it.
func (f awsFiles) add(text []byte) {
	var section map[string]string
	above := "" // the setting that lines further right belong to
	for whole := range strings.Lines(string(text)) {
		line := strings.TrimSpace(whole)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, _, _ = strings.Cut(name, "]")
			name = strings.TrimPrefix(strings.Join(strings.Fields(strings.ReplaceAll(name, `"`, " ")), " "), "profile ")
			if f[name] == nil {
				f[name] = map[string]string{}
			}
			section, above = f[name], ""
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section == nil {
			continue
		}
		for _, comment := range []string{" #", " ;", "\t#", "\t;"} {
			value, _, _ = strings.Cut(value, comment)
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if indented := whole[0] == ' ' || whole[0] == '\t'; !indented {
			above = key
		} else if above != "" && section[above] == "" {
			key = above + "." + key
		}
		section[key] = value
	}
}

// An awsProfile is a profile of the files, under the environment.
type awsProfile struct {
	name     string
	region   string
	settings map[string]string
	files    awsFiles
}

// profile returns a profile by its name, or that which is the default if the name is "".
func (f awsFiles) profile(name string) (*awsProfile, error) {
	name = cmp.Or(name, os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"), "default")
	if f[name] == nil && name != "default" {
		return nil, fault.Because(fs.ErrInvalid, "there is no profile %q in ~/.aws", name)
	}
	region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), f[name]["region"], "us-east-1")
	return &awsProfile{name, region, f[name], f}, nil
}

// get returns a setting: that of the environment, or that of the profile.
func (p *awsProfile) get(key string) string {
	return cmp.Or(os.Getenv("AWS_"+strings.ToUpper(key)), p.settings[key])
}

// on returns a setting that is on or off.
func (p *awsProfile) on(key string) bool { return strings.EqualFold(p.get(key), "true") }

// endpoint returns the address that is set for a service, such as s3; "": that of AWS.
func (p *awsProfile) endpoint(service string) string {
	if p.on("ignore_configured_endpoint_urls") {
		return ""
	}
	services := p.files["services "+p.settings["services"]]
	return cmp.Or(os.Getenv("AWS_ENDPOINT_URL_"+strings.ToUpper(service)), os.Getenv("AWS_ENDPOINT_URL"),
		services[service+".endpoint_url"], p.settings["endpoint_url"])
}
