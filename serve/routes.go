package serve

import (
	"cmp"
	_ "embed"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/alike-dev/alike/recipe"
)

// statelessList are the routes that need no collection, and all that a stateless server has.
var statelessList = []route{
	{"GET /healthz", anybody, nil, answeredBy(probeCall.health)},
	{"GET /readyz", anybody, nil, answeredBy(probeCall.ready)},
	{"GET /openapi.json", anybody, nil, answeredBy(probeCall.openAPI)},
	{"GET /metrics", ReadAll, nil, answeredBy(probeCall.metrics)},
	{sketchPattern, ReadAny, reading, answeredBy(textCall.sketch)},
	{"POST /v1/compare", ReadAny, reading, answeredBy(textCall.compare)},
}

// collectionList are the routes of collections. With them and tableList, openapi.json describes the whole API.
var collectionList = []route{
	{"GET /v1/collections", ReadAny, nil, answeredBy(collectionCall.list)},
	{"PUT" + ofCollection, Admin, writing, answeredBy(collectionCall.create)},
	{"GET" + ofCollection, Read, reading, answeredBy(collectionCall.get)},
	{"DELETE" + ofCollection, Admin, writing, answeredBy(collectionCall.delete)},
	{"POST" + ofCollection + "/check", Read, writing, answeredBy(documentCall.check)},
	{"POST" + ofCollection + "/documents", Write, writing, answeredBy(documentCall.add)},
	{"PUT" + ofDocument, Write, writing, answeredBy(documentCall.put)},
	{"GET" + ofDocument, Read, reading, answeredBy(documentCall.get)},
	{"DELETE" + ofDocument, Write, writing, answeredBy(documentCall.delete)},
	{"POST" + ofCollection + "/search", Read, reading, answeredBy(documentCall.search)},
	{"GET" + ofCollection + "/stats", Read, reading, answeredBy(collectionCall.stats)},
}

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	list := statelessList
	if !s.config.Stateless {
		list = slices.Concat(list, collectionList, tableList, agentList, pageList)
	}
	for _, route := range list {
		mux.HandleFunc(route.pattern, func(_ http.ResponseWriter, r *http.Request) {
			c := r.Context().Value(callKey{}).(*call)
			c.r = r // with the values of the path
			c.err = c.admit(&route)
		})
	}
	return mux
}

// errNoTables is the answer of replicas: a log has no tables.
var errNoTables = &Problem{Status: http.StatusNotImplemented, Detail: "replicas share collections and no tables: ask a server without a log"}

// admit answers the request if it has the right to, and there is room for it. A body is not read before.
func (c *call) admit(route *route) error {
	name := cmp.Or(c.r.PathValue("collection"), c.r.PathValue("table"))
	if err := c.config.Tokens.allow(c.r, route.right, name); err != nil {
		return err
	}
	if err := c.knowsQuery(route.pattern); err != nil {
		return err
	}
	if c.config.Order != nil && c.r.PathValue("table") != "" {
		return errNoTables
	}
	if route.budget == nil {
		return route.answer(c)
	}
	done, err := c.enter(route.budget)
	if err != nil {
		return err
	}
	defer done()
	return route.answer(c)
}

// enter admits a request, which calls done at its end, or turns it away: see gate.
func (s *Server) enter(of func(s *Server) *budget) (done func(), err error) {
	if s.failing.Load() {
		return nil, errDraining
	}
	ok, rest := s.gate.pass()
	if ok {
		if done, err = of(s).take(); err == nil {
			return done, nil
		}
		rest = shortRest
	}
	s.metrics.shed.Inc()
	wait := time.NewTimer(rest)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil, errBusy
	case <-s.drain.Done():
		return nil, errDraining
	}
}

// pageList is the page for people. It reads only, and openapi.json does not describe it. Rights are those of the token
// in the cookie, which no route of the API takes.
var pageList = []route{
	{"GET /{$}", anybody, viewing, answeredBy(pageCall.show)},
	{"POST /{$}", anybody, viewing, answeredBy(pageCall.ask)},
	{"POST /page/login", anybody, viewing, answeredBy(pageCall.login)},
	{"POST /page/logout", anybody, viewing, answeredBy(pageCall.logout)},
	{"GET /page/counters", anybody, viewing, answeredBy(pageCall.counters)},
	{"GET /page/page.css", anybody, nil, answeredBy(pageCall.style)},
	{"GET /page/page.js", anybody, nil, answeredBy(pageCall.script)},
}

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
			return &Problem{Status: http.StatusBadRequest, Field: "query", Detail: "is for NDJSON and plain text; a body of JSON has the settings itself"}
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
