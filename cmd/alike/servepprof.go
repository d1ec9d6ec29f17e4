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

// profile serves profiles of the process on an address of this machine, until stop is called. It is apart from the
// API: a profile has what the process works on, and takes as long as it is asked to.
func profile(ctx context.Context, address string, log *slog.Logger) (stop func() error, err error) {
	if !serve.IsLoopback(address) {
		return nil, usagef("--pprof %s is beyond this machine: take an address such as 127.0.0.1:6060", address)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--pprof: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }()
	log.Info("profiles", "address", listener.Addr().String())
	return func() error {
		err := h.Close()
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	}, nil
}
