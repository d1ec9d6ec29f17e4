package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/alike-dev/alike/serve"
)

const serveHelp = `Serve collections, fingerprints and comparisons over HTTP.

A collection has a recipe and a window, and answers whether a text is new in it, searches
it, and gives documents back; GET /openapi.json describes all paths. With --data the
collections are in a folder and outlive the process; without it they are in memory.

An address beyond this machine needs --tokens, or --insecure, which lets everybody do
everything. SIGTERM ends the server when all lines that it has read are answered.`

var serveNotes = map[string]string{
	"service": `The file of --tokens has a line for each token: the token, at least 16 characters; what it
may do, read, write or admin; and in which collections, separated by commas, or * for all.
Without --tokens the environment variable ALIKE_TOKENS has such lines. This file, and those
of --tls-cert and --tls-key, are read again within 5 seconds of a change; what is wrong then
changes nothing, and the log says so.

--durability says what an answer to a write promises: sync, that it survives a power
failure (all that wait share one fsync); interval, that it survives the end of the process,
while a power failure may lose the last 50 ms; memory, that it lasts as long as the process.

--pprof serves the profiles of Go's net/http/pprof, to this machine only and without tokens.
--metrics-listen serves /metrics on an address of its own, without tokens: no id or text is
in them, but names of collections are.

--listen with port 0 takes a free port; the log says which.`,
}

const serveExamples = `  alike serve --data collections/
  alike serve --data /var/lib/alike --listen :8080 --tokens /etc/alike/tokens`

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:         "serve [--data DIR]",
		Short:       "Serve collections over HTTP",
		Long:        serveHelp,
		Example:     serveExamples,
		Annotations: serveNotes,
		Args:        none("the folder of the collections is --data"),
		RunE:        func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().StringVar(&f.data, "data", "", "`folder` of the collections, made if it is not there (default: they are in memory)")
	cmd.Flags().StringVar(&f.log, "log", "", "`URL` of an ordered log by which replicas share their collections: nats://HOST[,HOST…][/STREAM]; --data is then for snapshots")
	cmd.Flags().StringVar(&f.snapshots, "snapshots", "", "`URL` of a bucket for snapshots of the collections of --log, beside --data (default: none)")
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8080", "`address` to listen on")
	cmd.Flags().StringVar(&f.tokens, "tokens", "", "`file` with bearer tokens and their rights (default: the variable ALIKE_TOKENS)")
	cmd.Flags().StringVar(&f.certificate, "tls-cert", "", "`file` with the certificate for TLS, and those between it and its authority (default: no TLS)")
	cmd.Flags().StringVar(&f.key, "tls-key", "", "`file` with the key of the certificate")
	cmd.Flags().BoolVar(&f.insecure, "insecure", false, "listen beyond this machine without tokens")
	cmd.Flags().BoolVar(&f.stateless, "stateless", false, "serve only /v1/sketch, /v1/compare and what tells about the server, for many that share the work")
	f.durability = choose(string(serve.Sync), string(serve.Interval), string(serve.Memory))
	f.durability.value = ""
	cmd.Flags().Var(&f.durability, "durability", "what an answer to a write promises: sync, interval or memory (default: sync with --data, else memory)")
	cmd.Flags().StringVar(&f.pprof, "pprof", "", "`address` of this machine that serves profiles of the process (default: none)")
	cmd.Flags().StringVar(&f.metrics, "metrics-listen", "", "`address` that serves /metrics without tokens (default: only --listen does, with tokens where there are any)")
	completeChoices(cmd)
	return cmd
}

func (f *serveFlags) run(cmd *cobra.Command) (err error) {
	durability := serve.Durability(f.durability.value)
	if err := f.check(durability); err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil))
	config := serve.Config{Dir: f.data, Durability: durability, Stateless: f.stateless, Log: log}
	var files []*followed
	if config.Tokens, err = f.openTokens(&files); err != nil {
		return err
	}
	if config.Tokens == nil && !serve.IsLoopback(f.listen) && !f.insecure {
		return usagef("--listen %s is beyond this machine: add --tokens, or --insecure to let everybody do everything", f.listen)
	}
	secure, err := f.openTLS(&files)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer listener.Close()
	closeLog, err := f.openLog(cmd.Context(), &config, listener.Addr())
	if err != nil {
		return err
	}
	defer closeLog()
	server, err := serve.New(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	defer followFiles(cmd.Context(), log, files)()
	stop, err := f.beside(cmd.Context(), server, log)
	defer func() { err = errors.Join(err, stop()) }()
	if err != nil {
		return err
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	log.Info("listening", "address", listener.Addr().String(), "tls", secure != nil)
	return serveUntil(cmd.Context(), server, listener)
}

// drainTime is how long requests may take after the server was asked to end. Long answers end by themselves, since no
// more lines are read.
const drainTime = 25 * time.Second

// serveUntil serves until the context ends, and all requests have been answered.
func serveUntil(ctx context.Context, s *serve.Server, listener net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	err := s.Shutdown(last)
	if e := <-served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
