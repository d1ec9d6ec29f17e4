package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	hotBuffer   = 4 << 10          // bytes of a connection that waits; a head is shorter
	mostHotKept = 16 << 10         // bytes of one that is kept for the next request
	renewEvery  = 10 * time.Second // so much shorter a wait may be
	lastWords   = 500 * time.Millisecond
)

var endOfHead = []byte("\r\n\r\n")

// frontConn is a connection of a front. It belongs to its goroutine, but for conn.
type frontConn struct {
	f        *front
	conn     *net.TCPConn
	in       []byte // read and not yet used
	body     []byte // of an answer
	out      []byte // an answer
	deadline time.Time
}

// serve answers requests until one is net/http's, or the connection ends.
func (c *frontConn) serve() {
	defer c.f.remove(c)
	c.setDeadline(time.Now(), firstWait)
	for {
		head, whole := c.next()
		if !whole {
			return
		}
		h, ok := parseHotHead(head)
		if !ok {
			c.handOver()
			return
		}
		if !c.answer(&h, len(head)) {
			c.conn.Close()
			return
		}
	}
}

// next returns the head of the next request. If there is none that came whole the connection is closed or handed over.
func (c *frontConn) next() (head []byte, whole bool) {
	if len(c.in) == 0 {
		if now := time.Now(); now.Sub(c.deadline) > renewEvery-idleWait {
			c.setDeadline(now, idleWait)
		}
		n := 0
		var err error
		if !c.f.ending.Load() { // a deadline that was set after it has begun to end is not that of its end
			n, err = c.conn.Read(c.in[:cap(c.in)])
		}
		c.in = c.in[:n]
		if n == 0 || err != nil {
			c.conn.Close()
			return nil, false
		}
	}
	at := bytes.Index(c.in, endOfHead)
	if at < 0 {
		c.handOver()
		return nil, false
	}
	return c.in[:at+len(endOfHead)], true
}

// setDeadline sets a deadline of all that the connection does.
func (c *frontConn) setDeadline(now time.Time, wait time.Duration) {
	c.deadline = now.Add(wait)
	_ = c.conn.SetDeadline(c.deadline)
}

// answer answers a request whose head has some bytes; false: the connection is to be closed.
func (c *frontConn) answer(h *hotHead, head int) (goOn bool) {
	begun := time.Now()
	s, total := c.f.s, head+h.length
	err := guarded(func() error { return c.decide(h, head) })
	read := len(c.in) >= total // all of the body
	a := hotAnswer{status: http.StatusOK, kind: jsonType, body: c.body, last: !read || c.f.ending.Load()}
	if err != nil {
		p, unexpected := asProblem(err)
		if unexpected {
			s.config.Log.Error("request failed", "route", h.route.pattern, "error", redacted(err))
		}
		a.status, a.kind, a.body, a.headers = p.Status, problemType, p.content(), p.headers()
	} else if h.collection != "" {
		a.durability = s.config.Durability
	}
	c.out = a.append(c.out[:0], s.date.now())
	_, failed := c.conn.Write(c.out)
	s.metrics.observeHot(h.route.pattern, a.status, time.Since(begun))
	switch {
	case failed != nil:
		return false
	case !read:
		c.lastWords()
		return false
	}
	c.in = append(c.in[:0], c.in[total:]...)
	c.shrink()
	return !a.last
}

// shrink lets a connection that waits hold little.
func (c *frontConn) shrink() {
	if cap(c.in) > mostHotKept && len(c.in) < hotBuffer {
		c.in = append(make([]byte, 0, hotBuffer), c.in...)
	}
	if cap(c.out)+cap(c.body) > mostHotKept {
		c.out, c.body = nil, nil
	}
}

// decide admits a request, reads its body, and makes the body of the answer.
func (c *frontConn) decide(h *hotHead, head int) error {
	s := c.f.s
	if err := s.config.Tokens.allowToken(h.authorization, h.route.right, h.collection); err != nil {
		return err
	}
	done, err := s.enter(h.route.budget)
	if err != nil {
		return err
	}
	defer done()
	var of *collection
	if h.collection != "" {
		var leave func()
		if of, leave, err = s.store.use(h.collection); err != nil {
			return err
		}
		defer leave()
	}
	if err := c.fill(head + h.length); err != nil {
		return err
	}
	err = s.gate.do(func() (err error) {
		c.body, err = h.route.answer(s, of, c.body[:0], c.in[head:head+h.length])
		return err
	})
	if err == nil && h.route.right == Write {
		err = of.changes.settle()
	}
	return err
}

// fill reads until so many bytes of the request are in.
func (c *frontConn) fill(total int) error {
	if len(c.in) >= total {
		return nil
	}
	if cap(c.in) < total {
		c.in = append(make([]byte, 0, total), c.in...)
	}
	body := newPacedBody(c.conn.SetReadDeadline, c.conn, &c.f.s.config.Limits)
	for len(c.in) < total {
		if c.f.ending.Load() {
			return errDraining
		}
		n, err := body.Read(c.in[len(c.in):cap(c.in)])
		c.in = c.in[:len(c.in)+n]
		switch {
		case err == nil || len(c.in) >= total:
		case c.f.ending.Load():
			return errDraining
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
	c.setDeadline(time.Now(), idleWait)
	return nil
}

// lastWords lets the client read an answer though not all of its request was read.
func (c *frontConn) lastWords() {
	_ = c.conn.CloseWrite()
	_ = c.conn.SetReadDeadline(time.Now().Add(lastWords))
	for left := mostHotBody; left > 0; {
		n, err := c.conn.Read(c.in[:cap(c.in)])
		if err != nil {
			return
		}
		left -= n
	}
}

// hotAnswer is an answer of a front.
type hotAnswer struct {
	status     int
	kind       string
	body       []byte
	durability Durability // "": not told
	headers    [][2]string
	last       bool
}

func (a *hotAnswer) append(dst []byte, date string) []byte {
	if a.status == http.StatusOK {
		dst = append(dst, "HTTP/1.1 200 OK\r\n"...)
	} else {
		dst = fmt.Appendf(dst, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	}
	header := func(name, value string) {
		dst = append(append(append(append(dst, name...), ": "...), value...), "\r\n"...)
	}
	if a.durability != "" {
		header(durabilityHeader, string(a.durability))
	}
	if a.last {
		header("Connection", "close")
	}
	for _, h := range a.headers {
		header(h[0], h[1])
	}
	header("Cache-Control", "no-store")
	header("Content-Type", a.kind)
	header("Date", date)
	header("X-Content-Type-Options", "nosniff")
	dst = strconv.AppendInt(append(dst, "Content-Length: "...), int64(len(a.body)), 10)
	return append(append(dst, endOfHead...), a.body...)
}

// handOver gives the connection to net/http.
func (c *frontConn) handOver() {
	_ = c.conn.SetDeadline(time.Time{})
	c.f.hand(acceptance{conn: &handedConn{TCPConn: c.conn, read: c.in}})
}
