package objects

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
)

// Times after which a server counts as unreachable.
const (
	dialTimeout       = 10 * time.Second
	writeTimeout      = time.Minute     // without the server accepting a byte
	answerTimeout     = 2 * time.Minute // from the end of a request to the header of its answer
	requestTimeout    = time.Minute     // of a request that moves little data
	credentialTimeout = 20 * time.Second
)

// connections is how many connections to a server stay open between requests: as many as
// a run has requests in flight. With fewer, each request for one of many small objects
// would begin with a handshake.
const connections = 64

// setUp makes a transport keep its connections, and give up on a server that does not
// answer. Package corpus bounds the wait for the bytes of an answer.
func setUp(t *http.Transport) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return watchedConn{conn}, nil
	}
	t.ResponseHeaderTimeout = answerTimeout
	t.MaxIdleConnsPerHost = connections
}

// awsTransport returns a transport for servers of AWS. It trusts the authorities in the file
// AWS_CA_BUNDLE, if that is set, in place of those of the system, as AWS's own tools do.
func awsTransport() (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	setUp(t)
	bundle := os.Getenv("AWS_CA_BUNDLE")
	if bundle == "" {
		return t, nil
	}
	pem, err := os.ReadFile(bundle)
	authorities := x509.NewCertPool()
	if err == nil && !authorities.AppendCertsFromPEM(pem) {
		err = errors.New("it has no certificate")
	}
	if err != nil {
		return nil, fault.Caused(fs.ErrInvalid, err, "AWS_CA_BUNDLE names %s, which is no file of certificates: %v", fault.Shown(bundle), err)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	return t, nil
}

// watchedConn fails when the server stops accepting written bytes.
type watchedConn struct{ net.Conn }

func (c watchedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// unreachable explains an error of the network. setting is the setting that names the
// server.
func unreachable(err error, setting string) error {
	cause := err
	var dns *net.DNSError
	var op *net.OpError
	var of *url.Error
	switch {
	case errors.As(err, &dns):
		cause = dns
	case errors.As(err, &op):
		cause = op
	case errors.As(err, &of):
		cause = of.Err
	}
	return fault.Caused(corpus.ErrUnavailable, err, "cannot reach the server (%v); check the network and %s", cause, setting)
}

// contentType is that of all outputs.
const contentType = "application/octet-stream"

// errChanged is the error of reading an object that is not the one found before.
func errChanged(cause error) error {
	return fault.Caused(corpus.ErrChanged, cause, "the object was changed after it was found; run again when nothing writes to it")
}
