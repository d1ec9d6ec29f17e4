package serve

import (
	_ "embed"
	"errors"
	"net/http"

	"github.com/alike-dev/alike/recipe"
)

// probeCall asks for what tells about the server.
type probeCall struct{ *call }

func (c probeCall) health() error { return c.send(http.StatusOK, []byte("{\"status\":\"ok\"}\n")) }

func (c probeCall) ready() error {
	if c.failing.Load() {
		return errDraining
	}
	if err := errors.Join(c.store.ready(), c.machine.ready()); err != nil {
		return err
	}
	return c.send(http.StatusOK, []byte("{\"status\":\"ready\"}\n"))
}

//go:embed openapi.json
var openAPIDocument []byte

func (c probeCall) openAPI() error { return c.send(http.StatusOK, openAPIDocument) }

func (c probeCall) metrics() error {
	c.call.metrics.handler.ServeHTTP(c.w, c.r)
	return nil
}

// textCall asks about the texts in it, and no collection.
type textCall struct{ *call }

func (c textCall) sketch() error {
	kind, err := bodyType(c.r)
	if err != nil {
		return err
	}
	if kind == jsonType {
		if c.r.URL.RawQuery != "" {
			return unprocessable("query", "is for NDJSON and plain text; a body of JSON has the settings itself")
		}
		return c.answerBody(func(body []byte) ([]byte, error) { return c.sketchers.sketch(nil, body) }, nil)
	}
	k, err := c.sketchers.ofQuery(c.r.URL.Query())
	if err != nil {
		return err
	}
	if kind == ndjson {
		return streamLines(c.w, c.r, c.lines(), func() lineWork { return &sketchWork{k: k} }, func() error { return nil })
	}
	return readBody(c.w, c.r, &c.config.Limits, func(body []byte) error {
		m := k.makers.Get().(*recipe.Maker)
		defer k.makers.Put(m)
		return c.send(http.StatusOK, k.append(nil, m, nil, body))
	})
}

func (c textCall) compare() error { return c.answerBody(compareTexts, nil) }
