package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Lines returns a transport over lines, such as those of standard input and output. Unlike that of the SDK it answers
// all requests before the end of in ends the session, so that requests can come from a file. A line may be as long as
// the texts of a question in JSON.
func Lines(ctx context.Context, in io.Reader, out io.Writer) mcp.Transport {
	p := &pending{ids: map[string]bool{}}
	p.changed.L = &p.mu
	stop := context.AfterFunc(ctx, func() { // wakes who waits for answers
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
		p.changed.Broadcast()
	})
	return &mcp.IOTransport{Reader: &asks{in: in, p: p}, Writer: &answers{out: out, p: p, stop: stop}, MaxLineLength: 8 * MostText}
}

// pending are the requests without an answer.
type pending struct {
	mu      sync.Mutex
	changed sync.Cond
	ids     map[string]bool
	ended   bool
}

// message is what tells requests, their answers and their cancellations from other messages.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// note notes the messages in whole lines, of either direction.
func (p *pending) note(lines []byte) {
	for line := range bytes.Lines(lines) {
		var m message
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		p.mu.Lock()
		switch {
		case m.Method == "notifications/cancelled":
			delete(p.ids, string(m.Params.RequestID))
		case m.Method != "" && len(m.ID) > 0:
			p.ids[string(m.ID)] = true
		case m.Method == "":
			delete(p.ids, string(m.ID))
		}
		p.changed.Broadcast()
		p.mu.Unlock()
	}
}

// wait returns when every request is answered, or the session ends.
func (p *pending) wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.ids) > 0 && !p.ended {
		p.changed.Wait()
	}
}

// asks reads requests.
type asks struct {
	in   io.Reader
	p    *pending
	line []byte // begun, and not ended yet
}

func (a *asks) Read(b []byte) (int, error) {
	n, err := a.in.Read(b)
	a.line = append(a.line, b[:n]...)
	if end := bytes.LastIndexByte(a.line, '\n') + 1; end > 0 || err != nil {
		if err != nil {
			end = len(a.line)
		}
		a.p.note(a.line[:end])
		a.line = append(a.line[:0], a.line[end:]...)
	}
	if err == io.EOF && n > 0 {
		return n, nil // the end is told by the next call
	}
	if err != nil {
		a.p.wait()
	}
	return n, err
}

func (a *asks) Close() error { return nil }

// answers writes answers, a whole line at a call.
type answers struct {
	out  io.Writer
	p    *pending
	stop func() bool
}

func (a *answers) Write(b []byte) (int, error) {
	n, err := a.out.Write(b)
	a.p.note(b)
	return n, err
}

func (a *answers) Close() error {
	a.stop()
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.ended = true
	a.p.changed.Broadcast()
	return nil
}
