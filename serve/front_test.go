package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// dialled is a connection to a server, on which a test writes what it likes.
type dialled struct {
	t testing.TB
	net.Conn
	in *bufio.Reader
}

func (s *service) dial() *dialled {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	return &dialled{s.t, conn, bufio.NewReader(conn)}
}

func (d *dialled) send(text string) {
	d.t.Helper()
	if _, err := io.WriteString(d, text); err != nil {
		d.t.Fatal(err)
	}
}

// answer reads an answer; nil: the connection has ended.
func (d *dialled) answer() (*http.Response, string) {
	d.t.Helper()
	_ = d.SetReadDeadline(time.Now().Add(10 * time.Second))
	r, err := http.ReadResponse(d.in, nil)
	if err != nil {
		return nil, err.Error()
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return r, string(body)
}

// post is a request; more are header lines.
func post(path, body string, more ...string) string {
	lines := append([]string{"POST " + path + " HTTP/1.1", "Host: localhost", fmt.Sprintf("Content-Length: %d", len(body))}, more...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + body
}

const hotPath = "/v1/collections/c/check"

// What a front reads as a request is one for net/http too, with the same meaning. Heads are made of pieces that are
// plain, nearly plain, or not at all, and then bytes are changed.
func TestAHeadThatAFrontAnswersHasOneMeaning(t *testing.T) {
	pieces := []string{
		"Host: localhost\r\n", "host: [::1]:80\r\n", "Content-Length: 12\r\n", "content-length:7\r\n", "Content-Length: 12 \r\n", "Content-Length: +12\r\n",
		"Content-Length : 12\r\n", "Content-Length: 12, 12\r\n", "Content-Length: 012\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding : chunked\r\n",
		"Transfer-Encoding:\tchunked\r\n", " Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n", "Connection: close\r\n", "Connection: keep-alive\r\n",
		"Connection: content-length\r\n", "Upgrade: h2c\r\n", "Content-Type: application/json\r\n", "Content-Type: text/plain\r\n", "Authorization: Bearer x\r\n",
		"Accept: */*\r\n", "X-Request-Id: a\rb\r\n", "User-Agent: a\n", "User-Agent: a\r\n", "Content-Encoding: gzip\r\n", "\r\n", "Host: other\r\n", "Host: a b\r\n", "Te: x\r\n",
	}
	lines := []string{
		"POST " + hotPath + " HTTP/1.1\r\n", "POST " + hotPath + "?add=false HTTP/1.1\r\n", "POST " + hotPath + " HTTP/1.0\r\n", "PUT " + hotPath + " HTTP/1.1\r\n",
		"POST //v1/sketch HTTP/1.1\r\n", "POST /v1/sketch HTTP/1.1\r\n", "POST http://h/v1/sketch HTTP/1.1\r\n", "POST  /v1/sketch HTTP/1.1\r\n", "POST /v1/collections/c%2F/check HTTP/1.1\r\n",
		"POST /v1/collections/../check HTTP/1.1\r\n", "POST /v1/sketch HTTP/1.1\n",
	}
	if plain := lines[0] + pieces[0] + pieces[2] + "\r\n"; !hasOneMeaning(t, []byte(plain)) {
		t.Errorf("%q is not for a front", plain)
	}
	rapid.Check(t, func(t *rapid.T) {
		head := []byte(rapid.SampledFrom(lines[:1+rapid.IntRange(0, len(lines)-1).Draw(t, "lines")]).Draw(t, "line"))
		some := []int{0, 2}
		if rapid.Bool().Draw(t, "more") {
			some = rapid.SliceOfN(rapid.IntRange(0, len(pieces)-1), 0, 6).Draw(t, "pieces")
		}
		for _, at := range some {
			head = append(head, pieces[at]...)
		}
		head = append(head, "\r\n"...)
		if at := rapid.IntRange(-len(head), len(head)-1).Draw(t, "changed"); at >= 0 {
			head[at] = rapid.Byte().Draw(t, "byte")
		}
		hasOneMeaning(t, head)
	})
}

// hasOneMeaning tells whether a head is one for a front. If so, net/http must read the same request.
func hasOneMeaning(t rapid.TB, head []byte) bool {
	h, ok := parseHotHead(head)
	if !ok {
		return false
	}
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(append(bytes.Clone(head), make([]byte, h.length)...))))
	if err != nil {
		t.Fatalf("%q: %v", head, err)
	}
	path := "/v1/sketch"
	if h.collection != "" {
		path = "/v1/collections/" + h.collection + h.route.path
	}
	if r.ContentLength != int64(h.length) || len(r.TransferEncoding) > 0 || r.Close || r.RequestURI != path || r.Method != http.MethodPost || r.Host == "" || r.Header.Get("Authorization") != h.authorization {
		t.Fatalf("%q: %+v, net/http has %+v", head, h, r)
	}
	return true
}

// A header that a front does not know has a request answered by net/http: the answers are the same.
func TestAFrontAnswersAsNetHTTPDoes(t *testing.T) {
	tokens := new(Tokens)
	const writer, reader = "Authorization: Bearer writer-0123456789abcdef", "Authorization: Bearer reader-0123456789abcdef"
	if err := tokens.Set("writer-0123456789abcdef admin c,d\nreader-0123456789abcdef read c,d"); err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Tokens: tokens})
	s.token = "writer-0123456789abcdef"
	for _, name := range []string{"c", "d"} {
		s.want(http.StatusCreated, "", "PUT", "/v1/collections/"+name, `{"ngram":2}`)
	}
	const document = `{"id":"a","text":"one two three four five six","evidence":true}`
	for _, c := range []struct{ path, body, token string }{
		{hotPath, document, writer}, {hotPath, document, writer}, {hotPath, `{"id":"a","text":"another text"}`, writer}, {hotPath, document, reader},
		{hotPath, document, "Accept: */*"}, {hotPath, "{", writer}, {hotPath, `{"id":"a"}`, writer}, {"/v1/collections/gone/check", document, writer},
		{"/v1/collections/c/documents", `{"id":"b","text":"seven eight nine ten eleven"}`, writer}, {"/v1/collections/c/search", `{"text":"one two three four five six"}`, reader},
		{"/v1/collections/c/search", `{"text":"one","top":0}`, reader}, {"/v1/sketch", `{"id":"a","text":"one two","preset":"exlsh-word"}`, reader}, {"/v1/sketch", `{"text":"one two","scheme":"no"}`, reader},
	} {
		front, other := s.dial(), s.dial()
		front.send(post(c.path, c.body, c.token))
		other.send(post(strings.Replace(c.path, "/c/", "/d/", 1), c.body, c.token, "Cookie: a=b"))
		got, gotBody := front.answer()
		want, wantBody := other.answer()
		for _, r := range []*http.Response{got, want} {
			if r == nil {
				t.Fatal(c, gotBody, wantBody)
			}
			r.Header.Del("Date")
		}
		if got.StatusCode != want.StatusCode || gotBody != wantBody || !maps.EqualFunc(got.Header, want.Header, slices.Equal) {
			t.Errorf("%s %s %s: %s %s %v, net/http: %s %s %v", c.path, c.body, c.token, got.Status, gotBody, got.Header, want.Status, wantBody, want.Header)
		}
	}
}

func TestRequestsOnOneConnectionAreAnsweredInOrder(t *testing.T) {
	s := start(t, Config{})
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", `{}`)
	document := func(n int) string { return post(hotPath, fmt.Sprintf(`{"id":"%d","text":"text of %d alone"}`, n, n)) }
	const health = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
	d := s.dial()
	want := func(text, answer string, ends bool) {
		t.Helper()
		if r, body := d.answer(); r == nil || strings.TrimSpace(body) != answer || r.Close != ends {
			t.Fatalf("%s: %+v %s", text, r, body)
		}
	}
	for n := range 4 { // a body comes by itself, as some clients send it
		head, body, _ := strings.Cut(document(n), "{")
		d.send(head)
		time.Sleep(time.Millisecond)
		d.send("{" + body)
		want("alone", `{"new":true}`, false)
	}
	d.send(document(4) + document(5) + health + document(6)) // before the answers
	for _, answer := range []string{`{"new":true}`, `{"new":true}`, `{"status":"ok"}`, `{"new":true}`} {
		want("together", answer, false)
	}
	for n := 1; n < mostHotHanded; n++ { // net/http has the connection now, but not for long
		d.send(document(n))
		want("later", `{"new":true}`, n == mostHotHanded-1)
	}
}

func TestABodyThatDoesNotComeToAFrontIsRefused(t *testing.T) {
	s := start(t, Config{Limits: Limits{Grace: 50 * time.Millisecond}})
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", `{}`)
	whole := post(hotPath, `{"id":"a","text":"one two three"}`)
	slow := s.dial()
	slow.send(whole[:len(whole)-5])
	if r, body := slow.answer(); r == nil || r.StatusCode != http.StatusRequestTimeout || !r.Close {
		t.Errorf("a slow body: %+v %s", r, body)
	}
	cut := s.dial()
	cut.send(whole[:len(whole)-5])
	if err := cut.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if r, body := cut.answer(); r == nil || r.StatusCode != http.StatusBadRequest {
		t.Errorf("a cut body: %+v %s", r, body)
	}
	s.want(http.StatusNotFound, "", "GET", "/v1/collections/c/documents/a", "")
}

// A body with a length and chunks ends in two places. What follows it is not read as a request.
func TestNothingFollowsABodyInChunks(t *testing.T) {
	s := start(t, Config{})
	d := s.dial()
	d.send("POST " + hotPath + " HTTP/1.1\r\nHost: h\r\nContent-Length: 80\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
		"PUT /v1/collections/hidden HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}")
	if r, body := d.answer(); r == nil || r.StatusCode != http.StatusNotFound || !r.Close {
		t.Errorf("%+v %s", r, body)
	}
	if r, _ := d.answer(); r != nil {
		t.Error("there is a second answer")
	}
	s.want(http.StatusNotFound, "", "GET", "/v1/collections/hidden", "")
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", "{}")
	d = s.dial()
	d.send("POST " + hotPath + " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;a=\n\r\n{}\r\n0\r\n\r\n")
	if r, body := d.answer(); r == nil || r.StatusCode != http.StatusBadRequest || !r.Close {
		t.Errorf("%+v %s", r, body)
	}
}

func TestConnectionsOfAFrontEndWithTheServer(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	at := &service{t: t, server: s, url: "http://" + listener.Addr().String()}
	at.want(http.StatusCreated, "", "PUT", "/v1/collections/c", `{}`)
	var waiting []*dialled
	for range 20 {
		d := at.dial()
		d.send(post(hotPath, `{"id":"a","text":"one two three"}`))
		if r, body := d.answer(); r == nil || r.StatusCode != http.StatusOK {
			t.Fatal(r, body)
		}
		waiting = append(waiting, d)
	}
	half := at.dial()
	half.send(post(hotPath, `{"id":"b","text":"one two three"}`)[:80])
	http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	<-served
	for _, d := range waiting {
		if r, _ := d.answer(); r != nil {
			t.Error("a connection goes on")
		}
	}
	if r, _ := half.answer(); r != nil && r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("half a request: %+v", r)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
