package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

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

// beside serves what flags ask for on addresses of their own, until stop is called, also after an error.
func (f *serveFlags) beside(ctx context.Context, s *serve.Server, log *slog.Logger) (stop func() error, err error) {
	var stops []func() error
	stop = func() (err error) {
		for _, one := range stops {
			err = errors.Join(err, one())
		}
		return err
	}
	for _, one := range []struct {
		address string
		serve   func(address string) (func() error, error)
	}{
		{f.pprof, func(at string) (func() error, error) { return profile(ctx, at, log) }},
		{f.metrics, func(at string) (func() error, error) { return metricsOn(ctx, at, s, log) }},
	} {
		if one.address == "" {
			continue
		}
		end, err := one.serve(one.address)
		if err != nil {
			return stop, err
		}
		stops = append(stops, end)
	}
	return stop, nil
}

// profile serves profiles of the process on an address of this machine, until stop is called. It is apart from the
// API: a profile has what the process works on, and takes as long as it is asked to.
func profile(ctx context.Context, address string, log *slog.Logger) (stop func() error, err error) {
	if !serve.IsLoopback(address) {
		return nil, usagef("--pprof %s is beyond this machine: take an address such as 127.0.0.1:6060", address)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/{name...}", answerProfile)
	return serveBeside(ctx, "pprof", address, mux, log)
}

// answerProfile answers with a profile as net/http/pprof does, without its differences of two profiles and its traces: that
// package makes the program 0.4 MB larger.
func answerProfile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	seconds, _ := strconv.ParseFloat(r.FormValue("seconds"), 64)
	ofProcessor := func() error {
		if err := pprof.StartCPUProfile(w); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
		select {
		case <-r.Context().Done():
		case <-time.After(time.Duration(cmp.Or(max(seconds, 0), 30) * float64(time.Second))):
		}
		return nil
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	var err error
	switch known := pprof.Lookup(name); {
	case name == "profile":
		err = ofProcessor()
	case name == "cmdline", name == "":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if name != "" {
			_, err = io.WriteString(w, strings.Join(os.Args, "\x00"))
			break
		}
		for _, p := range pprof.Profiles() {
			fmt.Fprintln(w, p.Count(), p.Name())
		}
	case known == nil:
		http.NotFound(w, r)
	case seconds != 0:
		err = errors.New("only profile takes seconds: compare two by go tool pprof -base")
	default:
		debug, _ := strconv.Atoi(r.FormValue("debug"))
		if debug != 0 {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		}
		if r.FormValue("gc") != "" {
			runtime.GC()
		}
		err = known.WriteTo(w, debug)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// metricsOn serves the metrics of a server, and nothing else, until stop is called.
func metricsOn(ctx context.Context, address string, s *serve.Server, log *slog.Logger) (stop func() error, err error) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.Metrics())
	return serveBeside(ctx, "metrics-listen", address, mux, log)
}

// serveBeside serves a handler on the address of a flag, beside the API, until stop is called.
func serveBeside(ctx context.Context, flag, address string, handler http.Handler, log *slog.Logger) (stop func() error, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	h := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }()
	log.Info("listening beside", "flag", flag, "address", listener.Addr().String())
	return func() error {
		err := h.Close()
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	}, nil
}

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
