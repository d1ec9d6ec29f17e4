package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Lines returns a transport over lines, such as those of standard input and output. Unlike that of the SDK it answers
// all requests before the end of in ends the session, so that requests can come from a file, and answers a line that is no
// message by an error, where that of the SDK ends. Messages in an array, which early versions of the protocol had, are taken
// one by one. A line may be as long as the texts of a question in JSON.
func Lines(ctx context.Context, in io.Reader, out io.Writer) mcp.Transport {
	p := &pending{ids: map[id]bool{}}
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
	ids     map[id]bool
	ended   bool
}

// message is what tells requests, their answers and their cancellations from other messages.
type message struct {
	ID     id     `json:"id"`
	Method string `json:"method"`
	Params struct {
		RequestID id `json:"requestId"`
	} `json:"params"`
}

// id is the id of a request as the SDK gives it back, however it was written: a string in quotation marks, a number, or
// nothing.
type id string

// mostNumber is the largest number of which the SDK loses no digit.
const mostNumber = 1 << 53

func (i *id) UnmarshalJSON(written []byte) error {
	var v any
	if err := json.Unmarshal(written, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		*i = ""
	case string:
		*i = id(strconv.Quote(v))
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > mostNumber {
			return errors.New("no integer of which every digit is kept")
		}
		*i = id(strconv.FormatInt(int64(v), 10))
	default:
		return errors.New("neither a string nor a number")
	}
	return nil
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
			delete(p.ids, m.Params.RequestID)
		case m.Method != "" && m.ID != "":
			p.ids[m.ID] = true
		case m.Method == "":
			delete(p.ids, m.ID)
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
		messages := []json.RawMessage{line}
		switch {
		case !json.Valid(line):
			a.to.refuse(jsonrpc.CodeParseError, nil)
			continue
		case line[0] == '[' && json.Unmarshal(line, &messages) != nil || len(messages) == 0:
			a.to.refuse(jsonrpc.CodeInvalidRequest, nil)
		}
		for _, m := range messages {
			a.pass(m)
		}
	}
	a.line = append(a.line[:0], a.line[end:]...)
}

// pass passes on a message, or refuses what is none, or has an id that the SDK would change.
func (a *asks) pass(line []byte) {
	var m message
	_, err := jsonrpc.DecodeMessage(line)
	if kept := json.Unmarshal(line, &m); kept != nil || err != nil {
		var of struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.Unmarshal(line, &of) // what is no object has none
		a.to.refuse(jsonrpc.CodeInvalidRequest, of.ID)
		return
	}
	a.p.note(line)
	a.next = append(append(a.next, line...), '\n')
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

// refuse answers what is no message, or has this id. If that cannot be written, no other answer can.
func (a *answers) refuse(code int, id json.RawMessage) {
	if len(id) == 0 || id[0] == '{' || id[0] == '[' {
		id = json.RawMessage("null")
	}
	text := map[int]string{jsonrpc.CodeParseError: "the line is not JSON", jsonrpc.CodeInvalidRequest: "the line is no message of JSON-RPC 2.0, or its id neither a string nor an integer below 2^53"}[code]
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(a.out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":%q}}\n", id, code, text)
}

func (a *answers) Close() error {
	a.stop()
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.ended = true
	a.p.changed.Broadcast()
	return nil
}
