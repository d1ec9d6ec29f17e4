package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// mostLine is the longest line: the texts of a question in JSON.
const mostLine = 8 * MostText

// Lines answers messages, a line each, until the end of in, or of ctx. All requests that were read are answered first, so
// that they can come from a file. A line that is no message is answered by an error. Requests are answered as they are
// ready, and do not wait for each other.
func (s *Server) Lines(ctx context.Context, in io.Reader, out io.Writer) error {
	l := &lines{s: s, out: json.NewEncoder(out), asked: map[string]context.CancelFunc{}}
	l.out.SetEscapeHTML(false)
	ended := make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, mostLine)
		for scanner.Scan() {
			l.take(ctx, scanner.Bytes())
		}
		err := scanner.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line has more than %d bytes", mostLine)
		}
		ended <- err
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.answering.Wait()
	return errors.Join(err, l.err)
}

// lines are the requests of one who asks by lines.
type lines struct {
	s         *Server
	answering sync.WaitGroup

	mu    sync.Mutex
	out   *json.Encoder
	err   error                         // of out
	asked map[string]context.CancelFunc // by ids, without an answer yet
	ended bool                          // nothing more is taken
}

// take begins to answer the messages of a line.
func (l *lines) take(ctx context.Context, line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	messages, no := messagesOf(line)
	if no != nil {
		l.tell(no)
	}
	for _, sent := range messages {
		m, no := parse(sent)
		switch {
		case no != nil:
			l.tell(no)
		case m.isRequest():
			l.ask(ctx, &m)
		case m.Method == "notifications/cancelled":
			l.mu.Lock()
			if stop := l.asked[string(m.Params.RequestID)]; stop != nil {
				stop()
			}
			l.mu.Unlock()
		}
	}
}

// ask answers a request, unless it is cancelled before.
func (l *lines) ask(ctx context.Context, m *message) {
	ctx, stop := context.WithCancel(ctx)
	id := string(m.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		stop()
		return
	}
	l.asked[id] = stop
	l.answering.Go(func() {
		defer stop()
		a := l.s.answer(ctx, m)
		l.mu.Lock()
		delete(l.asked, id)
		l.mu.Unlock()
		if ctx.Err() == nil {
			l.tell(a)
		}
	})
}

// tell writes an answer. If one cannot be written, no other can.
func (l *lines) tell(a *answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = l.out.Encode(a)
	}
}

// ServeHTTP answers the messages of a request by HTTP. Each stands for itself: there are no sessions and no streams.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version := r.Header.Get("Mcp-Protocol-Version")
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body, err := io.ReadAll(r.Body)
	switch {
	case media != "application/json":
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	case version != "" && version < perRequest && !slices.Contains(versions, version):
		http.Error(w, "this version of the protocol is not spoken here; these are: "+strings.Join(versions, ", "), http.StatusBadRequest)
		return
	case err != nil:
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	messages, no := messagesOf(bytes.TrimSpace(body))
	var answers []*answer
	for _, sent := range messages {
		m, wrong := parse(sent)
		if wrong == nil && m.isRequest() {
			if wrong = m.headers(r.Header); wrong == nil {
				wrong = s.answer(r.Context(), &m)
			}
		}
		if wrong != nil {
			answers = append(answers, wrong)
		}
	}
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	switch {
	case no != nil:
		reply(w, http.StatusBadRequest, no)
	case len(answers) == 0:
		w.WriteHeader(http.StatusAccepted)
	case len(messages) == 1 && bytes.TrimSpace(body)[0] != '[':
		reply(w, answers[0].status(version), answers[0])
	default:
		reply(w, http.StatusOK, answers)
	}
}

func reply(w http.ResponseWriter, status int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what) // who asked has gone
}

// status is that of an answer: versions that are said by each request tell an error by it.
func (a *answer) status(version string) int {
	switch {
	case a.Error == nil:
		return http.StatusOK
	case a.Error.Code == noMessage || a.Error.Code == wrongHeader:
		return http.StatusBadRequest
	case a.Error.Code == failed || version < perRequest:
		return http.StatusOK
	case a.Error.Code == noMethod:
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}

// headers refuses a request whose headers say something else than its body: who passes requests on may have gone by them.
func (m *message) headers(h http.Header) *answer {
	version, meta := h.Get("Mcp-Protocol-Version"), m.Params.Meta.Version
	wrong := func(name string) *answer {
		return refused(m.ID, &refusal{Code: wrongHeader, Message: "the header " + name + " is missing, or not what the body says"})
	}
	name := m.Params.Name
	if m.Method == "resources/read" {
		name = m.Params.URI
	}
	switch {
	case version < perRequest && meta == "":
		return nil
	case version != meta:
		return wrong("Mcp-Protocol-Version")
	case version < perRequest:
		return nil
	case h.Get("Mcp-Method") != m.Method:
		return wrong("Mcp-Method")
	case name != "" && h.Get("Mcp-Name") != name:
		return wrong("Mcp-Name")
	}
	return nil
}
