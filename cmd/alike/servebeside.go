package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/alike-dev/alike/serve"
)

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
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return serveBeside(ctx, "pprof", address, mux, log)
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
