package serve

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// bodyType returns the type of a body, jsonType if it is not told.
func bodyType(r *http.Request) (string, error) {
	if r.Header.Get("Content-Encoding") != "" {
		return "", &Problem{Status: http.StatusUnsupportedMediaType, Detail: "send the body without a Content-Encoding"}
	}
	of := r.Header.Get("Content-Type")
	if of == "" {
		return jsonType, nil
	}
	kind, _, err := mime.ParseMediaType(of)
	if err == nil {
		switch kind {
		case jsonType, plainText:
			return kind, nil
		case ndjson, "application/ndjson", "application/jsonl":
			return ndjson, nil
		}
	}
	return "", &Problem{Status: http.StatusUnsupportedMediaType, Detail: "take " + strings.Join([]string{jsonType, ndjson, plainText}, ", ")}
}

// call is one request on its way.
type call struct {
	*Server
	w   http.ResponseWriter
	r   *http.Request
	err error
}

type callKey struct{}

// A route answers requests of a method and a path.
type route struct {
	pattern string
	right   Right
	budget  func(s *Server) *budget // nil: none
	answer  func(c *call) error
}

// answeredBy is the answer of a route by a method of what is nothing but a call: one type for each part of the API.
func answeredBy[T ~struct{ *call }](answer func(T) error) func(c *call) error {
	return func(c *call) error { return answer(T{c}) }
}

func reading(s *Server) *budget { return s.reads }

func writing(s *Server) *budget { return s.writes }

const (
	ofCollection = " /v1/collections/{collection}"
	ofDocument   = ofCollection + "/documents/{id}"
)

// queries are the parameters that routes of the API take in their query. Others take none, but sketch all settings.
var queries = map[string][]string{"POST" + ofCollection + "/check": {"add"}}

const sketchPattern = "POST /v1/sketch"

// knowsQuery is an error if the query has what the route does not know: a misspelt parameter would ask for something else. What
// tells about the server takes whatever those add who watch it, and the page knows its own.
func (c *call) knowsQuery(pattern string) error {
	if c.r.URL.RawQuery == "" || !strings.Contains(pattern, " /v1/") {
		return nil
	}
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return &Problem{Status: http.StatusBadRequest, Detail: "the query cannot be read"}
	}
	for name := range query {
		if pattern != sketchPattern && !slices.Contains(queries[pattern], name) {
			return unknownParameter(name)
		}
	}
	return nil
}

// need is an error unless a token has a right that depends on what is asked for.
func (c *call) need(right Right) error {
	return c.config.Tokens.allow(c.r, right, c.r.PathValue("collection"))
}

// send sends JSON that is made already.
func (c *call) send(status int, body []byte) error {
	c.w.Header().Set("Content-Type", jsonType)
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(status)
	_, err := c.w.Write(body)
	return err
}

func (c *call) sendJSON(status int, value any) error {
	body, err := marshal(value)
	if err != nil {
		return err
	}
	return c.send(status, body)
}

// body reads the body, which must be of one of some types, JSON if none is named.
func (c *call) body(use func(body []byte) error) error {
	kind, err := bodyType(c.r)
	if err != nil {
		return err
	}
	if kind != jsonType {
		return &Problem{Status: http.StatusUnsupportedMediaType, Detail: "this path takes " + jsonType}
	}
	return readBody(c.w, c.r, &c.config.Limits, use)
}

// answerBody answers a body of JSON by JSON, once it has a place to work, and what it wrote is kept; settle may be nil.
func (c *call) answerBody(answer func(body []byte) ([]byte, error), settle func() error) error {
	return c.body(func(body []byte) error {
		var out []byte
		err := c.gate.do(func() (err error) {
			out, err = answer(body)
			return err
		})
		if err == nil && settle != nil {
			err = settle()
		}
		if err != nil {
			return err
		}
		return c.send(http.StatusOK, out)
	})
}

func (c *call) within(use func(of *collection) error) error {
	of, done, err := c.store.use(c.r.PathValue("collection"))
	if err != nil {
		return err
	}
	defer done()
	c.w.Header().Set(durabilityHeader, string(c.config.Durability))
	return use(of)
}

// lines returns what bodies of lines share.
func (s *Server) lines() lines { return lines{s.drain, &s.config.Limits, s.turns} }
