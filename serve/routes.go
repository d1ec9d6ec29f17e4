package serve

import (
	"cmp"
	_ "embed"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/alike-dev/alike/recipe"
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

func reading(s *Server) *budget { return s.reads }
func writing(s *Server) *budget { return s.writes }

const (
	ofCollection = " /v1/collections/{collection}"
	ofDocument   = ofCollection + "/documents/{id}"
)

// routeList is the whole API, as openapi.json describes it.
var routeList = []route{
	{"GET /healthz", open, nil, (*call).health},
	{"GET /readyz", open, nil, (*call).ready},
	{"GET /openapi.json", open, nil, (*call).openAPI},
	{"GET /metrics", ReadAll, nil, (*call).showMetrics},
	{"POST /v1/sketch", ReadAny, reading, (*call).sketch},
	{"POST /v1/compare", ReadAny, reading, (*call).compare},
	{"GET /v1/collections", ReadAny, nil, (*call).list},
	{"PUT" + ofCollection, Admin, writing, (*call).createCollection},
	{"GET" + ofCollection, Read, reading, (*call).getCollection},
	{"DELETE" + ofCollection, Admin, writing, (*call).deleteCollection},
	{"POST" + ofCollection + "/check", Read, writing, (*call).check},
	{"POST" + ofCollection + "/documents", Write, writing, (*call).documents},
	{"PUT" + ofDocument, Write, writing, (*call).putDocument},
	{"GET" + ofDocument, Read, reading, (*call).getDocument},
	{"DELETE" + ofDocument, Write, writing, (*call).deleteDocument},
	{"POST" + ofCollection + "/search", Read, reading, (*call).search},
	{"GET" + ofCollection + "/stats", Read, reading, (*call).stats},
}

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, route := range slices.Concat(routeList, tableList, pageList) {
		mux.HandleFunc(route.pattern, func(_ http.ResponseWriter, r *http.Request) {
			c := r.Context().Value(callKey{}).(*call)
			c.r = r // with the values of the path
			c.err = c.admit(&route)
		})
	}
	return mux
}

// admit answers the request if it has the right to, and there is room for it. A body is not read before.
func (c *call) admit(route *route) error {
	name := cmp.Or(c.r.PathValue("collection"), c.r.PathValue("table"))
	if err := c.config.Tokens.allow(c.r, route.right, name); err != nil {
		return err
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

// enter admits a request, which calls done at its end, or turns it away when that is due: see gate.
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

// answerBody answers a body of JSON by JSON.
func (c *call) answerBody(answer func(body []byte) ([]byte, error)) error {
	return c.body(func(body []byte) error {
		out, err := answer(body)
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

func (c *call) health() error { return c.send(http.StatusOK, []byte("{\"status\":\"ok\"}\n")) }

func (c *call) ready() error {
	if c.failing.Load() {
		return errDraining
	}
	if err := c.store.ready(); err != nil {
		return err
	}
	return c.send(http.StatusOK, []byte("{\"status\":\"ready\"}\n"))
}

//go:embed openapi.json
var openAPIDocument []byte

func (c *call) openAPI() error { return c.send(http.StatusOK, openAPIDocument) }

func (c *call) showMetrics() error {
	c.metrics.handler.ServeHTTP(c.w, c.r)
	return nil
}

func (c *call) sketch() error {
	kind, err := bodyType(c.r)
	if err != nil {
		return err
	}
	if kind == jsonType {
		if c.r.URL.RawQuery != "" {
			return unprocessable("query", "is for NDJSON and plain text; a body of JSON has the settings itself")
		}
		return c.answerBody(func(body []byte) ([]byte, error) { return c.sketchers.sketch(nil, body) })
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

func (c *call) compare() error { return c.answerBody(compareTexts) }

func (c *call) list() error {
	names := make([]string, 0)
	for _, name := range c.store.names() {
		if c.config.Tokens.allow(c.r, Read, name) == nil {
			names = append(names, name)
		}
	}
	return c.sendJSON(http.StatusOK, map[string][]string{"collections": names})
}

func (c *call) createCollection() error {
	return c.body(func(body []byte) error {
		settings, err := parseSettings(body)
		if err != nil {
			return err
		}
		made, err := c.store.create(c.r.PathValue("collection"), settings)
		if err != nil {
			return err
		}
		status := http.StatusOK
		if made {
			status = http.StatusCreated
		}
		return c.within(func(of *collection) error { return c.sendJSON(status, of.settings) })
	})
}

func (c *call) getCollection() error {
	return c.within(func(of *collection) error { return c.sendJSON(http.StatusOK, of.settings) })
}

func (c *call) deleteCollection() error {
	if err := c.store.remove(c.r.PathValue("collection")); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (c *call) check() error {
	add, err := parameter(c.r, "add")
	if err != nil {
		return err
	}
	if add {
		if err := c.need(Write); err != nil {
			return err
		}
	}
	return c.within(func(of *collection) error {
		return c.answerBody(func(body []byte) ([]byte, error) { return of.check(nil, body, add) })
	})
}

// lines returns what bodies of lines share.
func (s *Server) lines() lines { return lines{s.drain, &s.config.Limits, s.turns} }

// parameter returns a truth of the query, true if it is not there.
func parameter(r *http.Request, name string) (bool, error) {
	value := r.URL.Query().Get(name)
	if value == "" {
		return true, nil
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, unprocessable(name, "takes true or false")
	}
	return b, nil
}

func (c *call) documents() error {
	kind, err := bodyType(c.r)
	if err != nil {
		return err
	}
	return c.within(func(of *collection) error {
		if kind == ndjson {
			return streamLines(c.w, c.r, c.lines(), of.newCheckWork, of.settle)
		}
		return c.answerBody(func(body []byte) ([]byte, error) { return of.check(nil, body, true) })
	})
}

func (c *call) putDocument() error {
	return c.within(func(of *collection) error {
		return c.answerBody(func(body []byte) ([]byte, error) { return of.replace(c.r.PathValue("id"), body) })
	})
}

func (c *call) getDocument() error {
	return c.within(func(of *collection) error {
		answer, err := of.get(c.r.PathValue("id"))
		if err != nil {
			return err
		}
		return c.send(http.StatusOK, answer)
	})
}

func (c *call) deleteDocument() error {
	return c.within(func(of *collection) error {
		if err := of.remove(c.r.PathValue("id")); err != nil {
			return err
		}
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

func (c *call) search() error {
	return c.within(func(of *collection) error {
		return c.answerBody(func(body []byte) ([]byte, error) { return of.search(nil, body) })
	})
}

func (c *call) stats() error {
	return c.within(func(of *collection) error { return c.sendJSON(http.StatusOK, of.stats(c.config.Durability)) })
}
