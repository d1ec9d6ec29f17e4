package objects

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// signature computes the signature of a received request from AWS's description of Signature
// Version 4, for the secret key "test" and requests whose path and query are encoded already.
func signature(r *http.Request, body []byte) string {
	_, auth, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	scope, rest, _ := strings.Cut(auth, ", SignedHeaders=")
	names, _, _ := strings.Cut(rest, ",")
	_, scope, _ = strings.Cut(scope, "/")
	path, query, _ := strings.Cut(r.RequestURI, "?")
	var headers strings.Builder
	for name := range strings.SplitSeq(names, ";") {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(len(body))
		}
		headers.WriteString(name + ":" + value + "\n")
	}
	fields := strings.Split(query, "&")
	slices.Sort(fields)
	hash := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	canonical := strings.Join([]string{r.Method, path, strings.Join(fields, "&"), headers.String(), names, hash(string(body))}, "\n")
	key := []byte("AWS4test")
	for _, text := range append(strings.Split(scope, "/"), "AWS4-HMAC-SHA256\n"+r.Header.Get("X-Amz-Date")+"\n"+scope+"\n"+hash(canonical)) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}

func TestRequestsAreSignedAsAWSDescribes(t *testing.T) {
	server, b := startS3(t)
	b.(*s3Bucket).checksum = true
	var requests atomic.Int64 // parts are sent at once
	server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body, err := io.ReadAll(r.Body)
		must(t, err)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if _, got, _ := strings.Cut(r.Header.Get("Authorization"), "Signature="); got != signature(r, body) {
			t.Errorf("%s %s: signature %s, want %s", r.Method, r.RequestURI, got, signature(r, body))
		}
		requests.Add(1)
		next.ServeHTTP(w, r)
	})
	for _, key := range []string{"k", "a b+c%20d/ü&=?#*~'()!$,;:@", "a//b"} {
		put(t, b, key, []byte("text"))
		content(t, b, key)
		list(t, b, key)
		must(t, b.Remove(t.Context(), key))
	}
	put(t, b, "parts", noise(3*smallPart))
	if n := requests.Load(); n < 20 {
		t.Errorf("%d requests were checked", n)
	}
}

// cleanAWS empties what the machine says about AWS, and writes the two files.
func cleanAWS(t *testing.T, config, credentials string) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "config"), []byte(config), 0o600))
	must(t, os.WriteFile(filepath.Join(folder, "credentials"), []byte(credentials), 0o600))
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(folder, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(folder, "credentials"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// startAWS starts a server that gives out credentials as AWS's services do; their id names
// what was asked for.
func startAWS(t *testing.T) string {
	asJSON := func(w http.ResponseWriter, id string) {
		fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":%q,"SecretAccessKey":"s","Token":"t","Expiration":"2100-01-01T00:00:00Z"}`, id)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/container":
			asJSON(w, "container "+r.Header.Get("Authorization"))
		case r.URL.Path == "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			fmt.Fprint(w, "token")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
			fmt.Fprint(w, "role")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/role"):
			asJSON(w, "machine")
		case r.FormValue("RoleArn") == "arn:refused":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>`)
		default:
			action := r.FormValue("Action")
			_, by, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
			by, _, _ = strings.Cut(by, "/")
			if token := r.FormValue("WebIdentityToken"); token != "" {
				by = token
			}
			id := strings.TrimSpace(by + ">" + r.FormValue("RoleArn") + " " + r.FormValue("ExternalId"))
			fmt.Fprintf(w, `<%[1]sResponse><%[1]sResult><Credentials><AccessKeyId>%[2]s</AccessKeyId><SecretAccessKey>s</SecretAccessKey>`+
				`<SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></%[1]sResult></%[1]sResponse>`, action, url.PathEscape(id))
		}
	}))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

const someProfiles = `
[default]
region = eu-west-1 # a comment
[profile process]
credential_process = %s
[profile chain]
role_arn = arn:b
source_profile = base
external_id = x
[profile longer]
role_arn = arn:c
source_profile = chain
[profile circle]
role_arn = arn:d
source_profile = ring
[profile ring]
role_arn = arn:d
source_profile = circle
[profile env]
role_arn = arn:e
credential_source = Environment
[profile web]
role_arn = arn:w
web_identity_token_file = %s
[profile sso]
sso_session = house
[profile code]
role_arn = arn:m
source_profile = base
mfa_serial = 1
[profile refused]
role_arn = arn:refused
source_profile = base
[profile here]
services = house
[services house]
s3 =
  endpoint_url = http://house
`

func TestCredentialsComeFromWhereAWSToolsFindThem(t *testing.T) {
	address := startAWS(t)
	folder := t.TempDir()
	token := filepath.Join(folder, "token")
	must(t, os.WriteFile(token, []byte("token\n"), 0o600))
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "env", "AWS_SECRET_ACCESS_KEY": "s"}
	for _, tt := range []struct {
		name, url string
		env       map[string]string
		id        string // of the credentials
		text      string // of the error
	}{
		{name: "environment", env: keys, id: "env"},
		{name: "profile of the URL before the environment", url: "?profile=base", env: keys, id: "base"},
		{name: "environment before the profile of the environment", env: map[string]string{"AWS_PROFILE": "base", "AWS_ACCESS_KEY_ID": "env", "AWS_SECRET_ACCESS_KEY": "s"}, id: "env"},
		{name: "profile of the environment", env: map[string]string{"AWS_PROFILE": "base"}, id: "base"},
		{name: "role of the URL", url: "?role=arn:a", env: keys, id: "env%3Earn:a"},
		{name: "role of a profile", url: "?profile=chain", id: "base%3Earn:b%20x"},
		{name: "role of a role", url: "?profile=longer", id: "base%253Earn:b%2520x%3Earn:c"},
		{name: "role with the environment", url: "?profile=env", env: keys, id: "env%3Earn:e"},
		{name: "web identity", env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:v"}, id: "token%3Earn:v"},
		{name: "web identity of a profile", url: "?profile=web", id: "token%3Earn:w"},
		{name: "process", url: "?profile=process", id: "process"},
		{name: "container", env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": address + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token}, id: "container token"},
		{name: "machine", env: map[string]string{"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": address}, id: "machine"},
		{name: "nothing", text: "no AWS credentials"},
		{name: "refused", url: "?profile=refused", text: "no AWS credentials"},
		{name: "no such profile", url: "?profile=other", text: `there is no profile "other"`},
		{name: "circle", url: "?profile=circle", text: "lead in a circle"},
		{name: "single sign-on", url: "?profile=sso", text: "single sign-on), which alike cannot; make another profile, with aws configure export-credentials of this one"},
		{name: "code", url: "?profile=code", text: "needs a code"},
		{name: "container elsewhere", env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://10.0.0.1/"}, text: "give an address of this machine"},
		{name: "wrong role", url: "?role=me", env: keys, text: "give the ARN of a role"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "process" && runtime.GOOS == "windows" {
				t.Skip("needs cat")
			}
			answer := filepath.Join(folder, "answer")
			must(t, os.WriteFile(answer, []byte(`{"Version":1,"AccessKeyId":"process","SecretAccessKey":"s"}`), 0o600))
			cleanAWS(t, fmt.Sprintf(someProfiles, "cat "+answer, token), "[base]\naws_access_key_id = base\naws_secret_access_key = s\n")
			t.Setenv("AWS_ENDPOINT_URL_STS", address)
			setEnv(t, tt.env)
			b, err := newStore(t).Bucket(t.Context(), "s3://bucket"+tt.url)
			if tt.text != "" {
				if err == nil || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("error %v, want %q", err, tt.text)
				}
				return
			}
			must(t, err)
			got, err := b.(*s3Bucket).credentials.Retrieve(t.Context())
			if got.AccessKeyID != tt.id || err != nil {
				t.Errorf("credentials of %q, error %v; want %q", got.AccessKeyID, err, tt.id)
			}
		})
	}
}

func TestAddressesOfBuckets(t *testing.T) {
	for _, tt := range []struct {
		url, env, value, address string
	}{
		{"s3://bucket", "", "", "https://bucket.s3.eu-west-1.amazonaws.com"},
		{"s3://a.b", "", "", "https://s3.eu-west-1.amazonaws.com/a.b"},
		{"s3://bucket?region=cn-north-1", "", "", "https://bucket.s3.cn-north-1.amazonaws.com.cn"},
		{"s3://bucket?fips=true&dualstack=true", "", "", "https://bucket.s3-fips.dualstack.eu-west-1.amazonaws.com"},
		{"s3://bucket", "AWS_USE_FIPS_ENDPOINT", "true", "https://bucket.s3-fips.eu-west-1.amazonaws.com"},
		{"s3://bucket", "AWS_REGION", "us-east-2", "https://bucket.s3.us-east-2.amazonaws.com"},
		{"s3://bucket", "AWS_ENDPOINT_URL_S3", "http://own:9000/", "http://own:9000/bucket"},
		{"s3://bucket?profile=here", "", "", "http://house/bucket"},
		{"s3://bucket?use_path_style=true", "", "", "https://s3.eu-west-1.amazonaws.com/bucket"},
		{"s3://bucket?endpoint=https://own&use_path_style=false", "", "", "https://bucket.own"},
	} {
		cleanAWS(t, someProfiles, "")
		if tt.env != "" {
			t.Setenv(tt.env, tt.value)
		}
		parsed, err := url.Parse(tt.url)
		must(t, err)
		query := parsed.Query()
		query.Set("anonymous", "true")
		if tt.url == "s3://bucket?profile=here" {
			query.Set("region", "eu-west-1")
		}
		parsed.RawQuery = query.Encode()
		if b := open(t, parsed.String()).(*s3Bucket); b.address != tt.address {
			t.Errorf("%s: %s, want %s", tt.url, b.address, tt.address)
		}
		if tt.env != "" {
			t.Setenv(tt.env, "")
		}
	}
	cleanAWS(t, "", "")
	if _, err := newStore(t).Bucket(t.Context(), "s3://bucket--use1-az4--x-s3?anonymous=true"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("directory bucket: %v", err)
	}
}

func TestChecksumsAreSentToServersThatKnowThem(t *testing.T) {
	server, b := startS3(t)
	for _, on := range []bool{false, true} {
		b.(*s3Bucket).checksum = on
		server.Fail(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if sent := r.Header.Get("X-Amz-Checksum-Sha256") != ""; r.Method == http.MethodPut && sent != on {
				t.Errorf("checksum sent: %v, want %v", sent, on)
			}
			next.ServeHTTP(w, r)
		})
		put(t, b, "k", []byte("text"))
		put(t, b, "parts", noise(3*smallPart))
	}
	for query, want := range map[string]bool{"": true, "&endpoint=http://own": false, "&endpoint=http://own&request_checksum_calculation=when_supported": true, "&request_checksum_calculation=when_required": false} {
		cleanAWS(t, "", "")
		if b := open(t, "s3://bucket?anonymous=true"+query).(*s3Bucket); b.checksum != want {
			t.Errorf("%q: checksum %v", query, b.checksum)
		}
	}
}

func TestAuthoritiesOfAWSAreThoseOfTheFileThatIsNamed(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	write := func(data []byte) {
		if err := os.WriteFile(bundle, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	get := func() error {
		transport, err := awsTransport()
		if err != nil {
			return err
		}
		defer transport.CloseIdleConnections()
		answer, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	if err := get(); err == nil {
		t.Error("a server that nobody vouches for is trusted")
	}
	t.Setenv("AWS_CA_BUNDLE", bundle)
	write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	if err := get(); err != nil {
		t.Error(err)
	}
	write([]byte("no certificate"))
	if err := get(); err == nil || !strings.Contains(err.Error(), "AWS_CA_BUNDLE") {
		t.Errorf("%v, want one that names AWS_CA_BUNDLE", err)
	}
}
