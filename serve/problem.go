package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/alike-dev/alike/index"
)

// A Problem is an answer that is an error, in the form of RFC 9457. It never has a piece of a text.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Field  string `json:"field,omitempty"` // of the body, or the parameter, that is to be changed

	retryAfter int    // seconds; 0: no such header
	allow      string // methods that the path has; "": no such header
}

const problemType = "application/problem+json"

// Error implements error.
func (p *Problem) Error() string {
	if p.Field != "" {
		return p.Field + " " + p.Detail
	}
	return p.Detail
}

// asProblem returns the problem that an error is to its client. unexpected says that it is one of the server.
func asProblem(err error) (p *Problem, unexpected bool) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
	case errors.As(err, &tooLarge):
		p = &Problem{Status: http.StatusRequestEntityTooLarge, Detail: "the body has more than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes"}
	case errors.Is(err, errSlow) || errors.Is(err, os.ErrDeadlineExceeded):
		p = &Problem{Status: http.StatusRequestTimeout, Detail: "the body came too slowly"}
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled):
		p = &Problem{Status: http.StatusBadRequest, Detail: "the body ended early"}
	case errors.Is(err, errBroken):
		p = &Problem{Status: http.StatusBadRequest, Detail: "the body cannot be read: its chunks are not well formed, or the connection has ended"}
	case errors.Is(err, index.ErrReadOnly):
		p = &Problem{Status: http.StatusServiceUnavailable, Detail: "the collection takes no more writes since one has failed", retryAfter: 10}
		unexpected = true
	case errors.Is(err, index.ErrMemory):
		p = &Problem{Status: http.StatusInsufficientStorage, Detail: "memory has no room for more documents"}
	case errors.Is(err, index.ErrClosed) || errors.Is(err, errDraining):
		p = &Problem{Status: http.StatusServiceUnavailable, Detail: "the server is ending", retryAfter: 1}
	default:
		p, unexpected = &Problem{Status: http.StatusInternalServerError, Detail: "the server could not answer; its log says why"}, true
	}
	if p.Title == "" {
		titled := *p // the problem itself may be one of all requests
		titled.Title = http.StatusText(p.Status)
		p = &titled
	}
	return p, unexpected
}

// content returns the problem as JSON.
func (p *Problem) content() []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic("serve: a problem cannot be written: " + err.Error())
	}
	return append(body, '\n')
}

// headers returns the names and values of the headers that only problems have.
func (p *Problem) headers() (all [][2]string) {
	if p.retryAfter > 0 {
		all = append(all, [2]string{"Retry-After", strconv.Itoa(p.retryAfter)})
	}
	if p.allow != "" {
		all = append(all, [2]string{"Allow", p.allow})
	}
	if p.Status == http.StatusUnauthorized {
		all = append(all, [2]string{"WWW-Authenticate", "Bearer"})
	}
	return all
}

func (p *Problem) send(w http.ResponseWriter) {
	h := w.Header()
	h.Del(durabilityHeader) // nothing is promised
	h.Set("Content-Type", problemType)
	h.Set("Cache-Control", "no-store")
	for _, header := range p.headers() {
		h.Set(header[0], header[1])
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(p.content()) // the client has gone if this fails
}

func unprocessable(field, format string, args ...any) *Problem {
	return &Problem{Status: http.StatusUnprocessableEntity, Field: field, Detail: fmt.Sprintf(format, args...)}
}

func unknownParameter(name string) error {
	return &Problem{Status: http.StatusBadRequest, Field: name, Detail: "is no parameter of this path"}
}
