package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Lines returns a transport over lines, such as those of standard input and output. Unlike that of the SDK it answers
// all requests before the end of in ends the session, so that requests can come from a file, and answers a line that is no
// message by an error, where that of the SDK ends. A line may be as long as the texts of a question in JSON.
func Lines(ctx context.Context, in io.Reader, out io.Writer) mcp.Transport {
	p := &pending{ids: map[string]bool{}}
	p.changed.L = &p.mu
	stop := context.AfterFunc(ctx, func() { // wakes who waits for answers
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
		p.changed.Broadcast()
	})
	to := &answers{out: out, p: p, stop: stop}
	return &mcp.IOTransport{Reader: &asks{in: in, p: p, to: to}, Writer: to, MaxLineLength: mostLine}
}

const mostLine = 8 * MostText

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
		case m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null":
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

// asks reads requests, and passes on lines that are messages.
type asks struct {
	in   io.Reader
	p    *pending
	to   *answers
	line []byte // begun, and not ended yet
	next []byte // whole lines, to be passed on
	err  error  // of in
}

func (a *asks) Read(b []byte) (int, error) {
	for len(a.next) == 0 && a.err == nil {
		a.read()
	}
	if len(a.next) == 0 {
		a.p.wait()
		return 0, a.err
	}
	n := copy(b, a.next)
	a.next = a.next[n:]
	return n, nil
}

// read reads more of in, and appends lines to those to be passed on.
func (a *asks) read() {
	begun := len(a.line)
	a.line = slices.Grow(a.line, 64<<10)
	var n int
	n, a.err = a.in.Read(a.line[begun:cap(a.line)])
	a.line = a.line[:begun+n]
	end := begun + bytes.LastIndexByte(a.line[begun:], '\n') + 1
	switch {
	case a.err != nil:
		end = len(a.line)
	case end == begun && len(a.line) <= mostLine:
		return
	case end == begun: // too long, which ends the session
		a.next, a.line = append(a.next, a.line...), a.line[:0]
		return
	}
	for line := range bytes.Lines(a.line[:end]) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if code := wrong(line); code != 0 {
			a.to.refuse(code)
			continue
		}
		a.p.note(line)
		a.next = append(append(a.next, line...), '\n')
	}
	a.line = append(a.line[:0], a.line[end:]...)
}

// wrong returns the code of the error for what is no message, nor several in an array, which early versions of the protocol
// had; 0: it is one.
func wrong(line []byte) (code int) {
	if !json.Valid(line) {
		return jsonrpc.CodeParseError
	}
	messages := []json.RawMessage{line}
	if line[0] == '[' && json.Unmarshal(line, &messages) != nil || len(messages) == 0 {
		return jsonrpc.CodeInvalidRequest
	}
	for _, m := range messages {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			return jsonrpc.CodeInvalidRequest
		}
	}
	return 0
}

func (a *asks) Close() error { return nil }

// answers writes answers, a whole line at a call.
type answers struct {
	mu   sync.Mutex
	out  io.Writer
	p    *pending
	stop func() bool
}

func (a *answers) Write(b []byte) (int, error) {
	a.mu.Lock()
	n, err := a.out.Write(b)
	a.mu.Unlock()
	a.p.note(b)
	return n, err
}

// refuse answers what is no message. If that cannot be written, no other answer can.
func (a *answers) refuse(code int) {
	text := map[int]string{jsonrpc.CodeParseError: "the line is not JSON", jsonrpc.CodeInvalidRequest: "the line is no message of JSON-RPC 2.0"}[code]
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(a.out, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":%q}}\n", code, text)
}

func (a *answers) Close() error {
	a.stop()
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.ended = true
	a.p.changed.Broadcast()
	return nil
}
