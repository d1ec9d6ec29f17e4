package serve

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

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

// on is the answer of a route by a method of what is nothing but a call: one type for each part of the API.
func on[T ~struct{ *call }](answer func(T) error) func(c *call) error {
	return func(c *call) error { return answer(T{c}) }
}

func reading(s *Server) *budget { return s.reads }
func writing(s *Server) *budget { return s.writes }

const (
	ofCollection = " /v1/collections/{collection}"
	ofDocument   = ofCollection + "/documents/{id}"
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

// durabilityHeader says what an answer promises.
const durabilityHeader = "Alike-Durability"

// within calls use with the collection of the path.
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
