package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"github.com/alike-dev/alike/corpus/objects"
	"github.com/alike-dev/alike/internal/natslog"
	"github.com/alike-dev/alike/internal/remote"
	"github.com/alike-dev/alike/serve"
)

type serveFlags struct {
	data, listen, tokens string
	certificate, key     string
	pprof, metrics       string
	log, snapshots       string
	insecure, stateless  bool
	durability           choice
}

// tokensVariable names tokens in the environment.
const tokensVariable = "ALIKE_TOKENS"

// openTokens returns the tokens, nil if there are none.
func (f *serveFlags) openTokens(files *[]*followed) (*serve.Tokens, error) {
	if f.tokens == "" {
		lines := os.Getenv(tokensVariable)
		if lines == "" {
			return nil, nil
		}
		tokens := new(serve.Tokens)
		if err := tokens.Set(lines); err != nil {
			return nil, usageError{err}
		}
		return tokens, nil
	}
	tokens, file := followTokens(f.tokens)
	*files = append(*files, file)
	err := file.load()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = usageError{err}
	}
	return tokens, err
}

// openTLS returns the configuration of TLS, nil without it.
func (f *serveFlags) openTLS(files *[]*followed) (*tls.Config, error) {
	if f.certificate == "" && f.key == "" {
		return nil, nil
	}
	if f.certificate == "" || f.key == "" {
		return nil, usagef("--tls-cert and --tls-key go together: give both, or neither")
	}
	config, file := followCertificate(f.certificate, f.key)
	*files = append(*files, file)
	return config, file.load()
}

// check is an error if flags contradict each other.
func (f *serveFlags) check(durability serve.Durability) error {
	if f.log != "" {
		if f.stateless || durability != "" {
			return usagef("--log says what an answer promises: leave out --durability and --stateless")
		}
		return nil
	}
	if f.snapshots != "" {
		return usagef("--snapshots are those of replicas: give their --log too")
	}
	if (f.data == "") != (cmp.Or(durability, serve.Memory) == serve.Memory) && durability != "" {
		return usagef("--durability %s: collections in memory have the durability memory, and those of --data do not", durability)
	}
	if f.stateless && (f.data != "" || durability != "") {
		return usagef("--stateless serves no collections: leave out --data and --durability")
	}
	return nil
}

// openLog connects a server to its log, if it has one, under the name of the machine and the port.
func (f *serveFlags) openLog(ctx context.Context, config *serve.Config, on net.Addr) (closeLog func(), err error) {
	if f.log == "" {
		return func() {}, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(on.String())
	config.Replica = host + "-" + port
	if f.snapshots != "" {
		if config.Snapshots, err = remote.Open(ctx, f.snapshots, new(objects.Store).Bucket); err != nil {
			return nil, fmt.Errorf("--snapshots: %w", err)
		}
	}
	log, err := natslog.Connect(f.log, "alike "+config.Replica)
	if err != nil {
		return nil, usagef("--log: %w", err)
	}
	config.Order = log
	return log.Close, nil
}
