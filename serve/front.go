package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A front stands between a listener and net/http. It answers requests of the hot routes itself, in a quarter of the
// time, and hands every other connection to net/http, for good and with all that was read of it:
//
//	accept → head plainly of a hot route → body → answer → next head
//	       → anything else               → Accept of net/http's server
//
// A head must come whole, in one read, to be answered here, and be one that is read in one way only: see parseHotHead.
// Connections with TLS are net/http's from the start.
type front struct {
	net.Listener
	s        *Server
	accepted chan acceptance // for Accept
	closed   chan struct{}   // no more connections are accepted
	close    sync.Once
	ending   atomic.Bool // connections end when they have been answered

	mu    sync.Mutex
	conns map[*frontConn]struct{}
	group sync.WaitGroup // of the goroutines of connections, and of that which accepts
}

type acceptance struct {
	conn net.Conn
	err  error
}

func newFront(s *Server, on net.Listener) *front {
	f := &front{Listener: on, s: s, accepted: make(chan acceptance), closed: make(chan struct{}), conns: map[*frontConn]struct{}{}}
	f.group.Go(f.acceptAll)
	return f
}

// acceptAll accepts until the front is closed. What Accept does with an error it may do with the next one too, and
// it waits meanwhile as net/http waits.
func (f *front) acceptAll() {
	for {
		conn, err := f.Listener.Accept()
		tcp, plain := conn.(*net.TCPConn)
		if err != nil || !plain {
			if !f.hand(acceptance{conn, err}) {
				return
			}
			continue
		}
		c := &frontConn{f: f, conn: tcp, in: make([]byte, 0, hotBuffer)}
		if f.add(c) {
			f.group.Go(c.serve)
		}
	}
}

// hand gives a connection or an error to Accept; false: the front is closed, and so is the connection.
func (f *front) hand(a acceptance) bool {
	select {
	case f.accepted <- a:
		return true
	case <-f.closed:
		if a.conn != nil {
			a.conn.Close()
		}
		return false
	}
}

// Accept implements net.Listener, for net/http.
func (f *front) Accept() (net.Conn, error) {
	select {
	case a := <-f.accepted:
		return a.conn, a.err
	case <-f.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Connections go on.
func (f *front) Close() (err error) {
	f.close.Do(func() {
		close(f.closed)
		err = f.Listener.Close()
	})
	return err
}

func (f *front) add(c *frontConn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ending.Load() {
		c.conn.Close()
		return false
	}
	f.conns[c] = struct{}{}
	return true
}

func (f *front) remove(c *frontConn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, c)
}

// end ends connections that wait for a request, and others once they have been answered. After the context has ended
// it cuts them.
func (f *front) end(ctx context.Context) error {
	f.ending.Store(true)
	f.each(func(c *frontConn) { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) })
	cut := context.AfterFunc(ctx, func() { f.each(func(c *frontConn) { c.conn.Close() }) })
	f.group.Wait()
	if !cut() {
		return ctx.Err()
	}
	return nil
}

func (f *front) each(do func(c *frontConn)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		do(c)
	}
}

// handedConn is a connection of which a front has read already.
type handedConn struct {
	*net.TCPConn
	read []byte
	hot  int // requests in a row that a front would have answered
}

// Read implements net.Conn.
func (h *handedConn) Read(p []byte) (int, error) {
	if len(h.read) == 0 {
		return h.TCPConn.Read(p)
	}
	n := copy(p, h.read)
	if h.read = h.read[n:]; len(h.read) == 0 {
		h.read = nil
	}
	return n, nil
}

// handedKey is of the context of requests on a handedConn.
type handedKey struct{}

func withHanded(ctx context.Context, conn net.Conn) context.Context {
	if h, ok := conn.(*handedConn); ok {
		return context.WithValue(ctx, handedKey{}, h)
	}
	return ctx
}

// mostHotHanded is after how many requests in a row that a front would have answered a connection ends, so that the
// client's next one is answered by it.
const mostHotHanded = 16

// returned tells whether the connection of a request is to end for that.
func returned(r *http.Request) bool {
	conn, ok := r.Context().Value(handedKey{}).(*handedConn)
	if !ok {
		return false
	}
	route, _ := findHotRoute([]byte(r.URL.Path))
	hot := r.Method == http.MethodPost && route != nil && r.URL.RawQuery == "" && 0 < r.ContentLength && r.ContentLength <= mostHotBody
	for name, values := range r.Header {
		for _, value := range values {
			at, text, known := hotHeader([]byte(name + ":" + value))
			hot = hot && known && len(values) == 1 && new(hotHead).take(at, text)
		}
	}
	if !hot {
		conn.hot = 0
		return false
	}
	conn.hot++
	return conn.hot >= mostHotHanded
}

// fronts are those of a server.
type fronts struct {
	mu  sync.Mutex
	all []endingFront
}

type endingFront interface {
	Close() error
	end(ctx context.Context) error
}

func (f *fronts) add(one endingFront) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, one)
}

func (f *fronts) end(ctx context.Context) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		err = errors.Join(err, one.Close(), one.end(ctx))
	}
	return err
}
