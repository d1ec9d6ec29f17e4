package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/version"
	"github.com/alike-dev/alike/mcpserver"
)

// agentList is for agents: the tools of package mcpserver over a collection, by the Model Context Protocol, whose own
// documents describe it. Each request stands for itself; there are no sessions.
var agentList = []route{{"POST" + ofCollection + "/mcp", Read, reading, answeredBy(agentCall.answer)}}

// agentCall is for agents.
type agentCall struct{ *call }

func (c agentCall) answer() error {
	return c.within(func(of *collection) error {
		of.agents.once.Do(func() { of.agents.make(of, c.config.Tokens != nil) })
		handler := of.agents.reading
		if c.need(Write) == nil {
			handler = of.agents.adding
		}
		return c.body(func(body []byte) error {
			r := c.r.Clone(c.r.Context())
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			return c.gate.do(func() error {
				handler.ServeHTTP(c.w, r)
				return nil
			})
		})
	})
}

// make makes the handlers. Where there are tokens, any name of the host is right.
func (a *agents) make(of *collection, tokens bool) {
	o := mcpserver.Options{Name: "alike", Version: version.Text()}
	if features, ok := of.index.Options().Recipe.Features(); ok {
		o.Features = features
	}
	handler := func(o mcpserver.Options) http.Handler {
		s := mcpserver.New(&askedByAgents{of}, o)
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: tokens})
	}
	a.reading = handler(o)
	o.Add = of.addFor
	a.adding = handler(o)
}

// addFor adds a text for an agent.
func (c *collection) addFor(_ context.Context, id string, text []byte) error {
	body, err := json.Marshal(map[string]string{idField: id, textField: string(text)})
	if err != nil {
		return err
	}
	answer, err := c.check(nil, body, true)
	if err != nil {
		return err
	}
	var told struct {
		New         bool
		DuplicateOf string `json:"duplicate_of"`
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		return err
	}
	if !told.New {
		return &Problem{Status: http.StatusConflict, Detail: "by the rule of the collection it is like " + told.DuplicateOf}
	}
	return c.changes.settle()
}

type askedByAgents struct{ of *collection }

// Use implements mcpserver.Collection.
func (a *askedByAgents) Use(ctx context.Context, f func(*index.Searcher, *index.Index) error) error {
	err := a.of.changes.catchUp()
	if errors.Is(err, errSucceeded) {
		return a.of.changes.succeeded(func(by *collection) error { return (&askedByAgents{by}).Use(ctx, f) })
	}
	if err != nil {
		return err
	}
	s := a.of.searchers.Get().(*index.Searcher)
	defer a.of.searchers.Put(s)
	return f(s, a.of.index)
}

// Clusters implements mcpserver.Collection.
func (a *askedByAgents) Clusters(context.Context, float64) ([]mcpserver.Cluster, error) {
	return nil, mcpserver.ErrNoClusters
}
