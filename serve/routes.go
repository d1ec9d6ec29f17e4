package serve

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// statelessList are the routes that need no collection, and all that a stateless server has.
var statelessList = []route{
	{"GET /healthz", open, nil, on(probeCall.health)},
	{"GET /readyz", open, nil, on(probeCall.ready)},
	{"GET /openapi.json", open, nil, on(probeCall.openAPI)},
	{"GET /metrics", ReadAll, nil, on(probeCall.metrics)},
	{"POST /v1/sketch", ReadAny, reading, on(textCall.sketch)},
	{"POST /v1/compare", ReadAny, reading, on(textCall.compare)},
}

// collectionList are the routes of collections. With them and tableList, openapi.json describes the whole API.
var collectionList = []route{
	{"GET /v1/collections", ReadAny, nil, on(collectionCall.list)},
	{"PUT" + ofCollection, Admin, writing, on(collectionCall.create)},
	{"GET" + ofCollection, Read, reading, on(collectionCall.get)},
	{"DELETE" + ofCollection, Admin, writing, on(collectionCall.delete)},
	{"POST" + ofCollection + "/check", Read, writing, on(documentCall.check)},
	{"POST" + ofCollection + "/documents", Write, writing, on(documentCall.add)},
	{"PUT" + ofDocument, Write, writing, on(documentCall.put)},
	{"GET" + ofDocument, Read, reading, on(documentCall.get)},
	{"DELETE" + ofDocument, Write, writing, on(documentCall.delete)},
	{"POST" + ofCollection + "/search", Read, reading, on(documentCall.search)},
	{"GET" + ofCollection + "/stats", Read, reading, on(collectionCall.stats)},
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
	{"GET /{$}", open, viewing, on(pageCall.show)},
	{"POST /{$}", open, viewing, on(pageCall.ask)},
	{"POST /page/login", open, viewing, on(pageCall.login)},
	{"POST /page/logout", open, viewing, on(pageCall.logout)},
	{"GET /page/counters", open, viewing, on(pageCall.counters)},
	{"GET /page/page.css", open, nil, on(pageCall.style)},
	{"GET /page/page.js", open, nil, on(pageCall.script)},
}
