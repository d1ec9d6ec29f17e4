// Command bucketlog stands between a client and a server of S3 and writes down
// every request, so that a benchmark can count them:
//
//	bucketlog -listen 127.0.0.1:9754 -server http://127.0.0.1:9753 LOG
//
// Each line of LOG is the method, the path with its query, the status, and the
// bytes of the answer's body.
package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9754", "address to listen on")
	server := flag.String("server", "http://127.0.0.1:9753", "URL of the server")
	flag.Parse()
	if err := run(*listen, *server, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "bucketlog: %v\n", err)
		os.Exit(1)
	}
}

func run(listen, server string, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name the log, and nothing else")
	}
	to, err := url.Parse(server)
	if err != nil {
		return err
	}
	file, err := os.Create(args[0])
	if err != nil {
		return err
	}
	defer file.Close()
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // which is signed
	}}
	return http.ListenAndServe(listen, &logger{next: proxy, to: file})
}

// logger logs requests when they have been answered.
type logger struct {
	next http.Handler
	mu   sync.Mutex
	to   io.Writer
}

func (l *logger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := &counter{ResponseWriter: w, status: http.StatusOK}
	defer func() { // also of an answer that breaks off
		l.mu.Lock()
		defer l.mu.Unlock()
		fmt.Fprintln(l.to, r.Method, r.URL.RequestURI(), answer.status, answer.bytes)
	}()
	l.next.ServeHTTP(answer, r)
}

// counter counts the bytes of an answer.
type counter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (c *counter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
