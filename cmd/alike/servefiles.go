package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/serve"
)

// filesEvery is how often files that a server follows are looked at.
const filesEvery = 5 * time.Second

// A followed is what a server takes from files, and takes anew when they change.
type followed struct {
	what string // for the log
	read func() ([]byte, error)
	take func(content []byte) error
	last []byte
}

// load takes the content for the first time.
func (f *followed) load() (err error) {
	if f.last, err = f.read(); err != nil {
		return err
	}
	return f.take(f.last)
}

// again takes the content if it has changed. One that cannot be taken changes nothing.
func (f *followed) again(log *slog.Logger) {
	content, err := f.read()
	if err == nil {
		if bytes.Equal(content, f.last) {
			return
		}
		f.last = content
		err = f.take(content)
	}
	if err != nil {
		log.Error("a changed file is not taken", "of", f.what, "error", err.Error())
		return
	}
	log.Info("a changed file is taken", "of", f.what)
}

// followFiles looks at files now and then, until the function that it returns is called.
func followFiles(ctx context.Context, log *slog.Logger, all []*followed) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(filesEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				for _, f := range all {
					f.again(log)
				}
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// followTokens returns the tokens of a file.
func followTokens(path string) (*serve.Tokens, *followed) {
	tokens := new(serve.Tokens)
	return tokens, &followed{
		what: "tokens",
		read: func() ([]byte, error) { return os.ReadFile(path) },
		take: func(content []byte) error { return tokens.Set(string(content)) },
	}
}

// followCertificate returns a configuration of TLS by the certificate and key in two files.
func followCertificate(certificate, key string) (*tls.Config, *followed) {
	var current atomic.Pointer[tls.Certificate]
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"}, // lines are answered while they are sent
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil },
	}
	split := 0 // where the key begins
	return config, &followed{
		what: "certificate",
		read: func() ([]byte, error) {
			first, err := os.ReadFile(certificate)
			if err != nil {
				return nil, err
			}
			second, err := os.ReadFile(key)
			split = len(first)
			return append(first, second...), err
		},
		take: func(content []byte) error {
			pair, err := tls.X509KeyPair(content[:split], content[split:])
			if err == nil {
				current.Store(&pair)
			}
			return err
		},
	}
}
