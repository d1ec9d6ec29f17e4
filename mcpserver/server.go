// Package mcpserver answers agents, by the Model Context Protocol, what they ask before they write: is this new, what is
// like it, what do two texts share, what is there twice. Transports and the protocol are those of the SDK for Go.
//
// Useful for: agents that keep notes. Not useful for: programs; they have package client, or the library.
package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/shingle"
)

// A Collection is what is searched. It is safe for concurrent use.
type Collection interface {
	// Use calls f with a searcher of the documents as they are now, and the index that it searches.
	Use(ctx context.Context, f func(s *index.Searcher, x *index.Index) error) error
	// Clusters returns groups of documents that are alike, largest first.
	Clusters(ctx context.Context, threshold float64) ([]Cluster, error)
}

// Cluster is documents that pairs of alike ones connect.
type Cluster struct {
	IDs     []string `json:"ids"`
	Weakest float64  `json:"weakest_link" jsonschema:"similarity of the pair without which they fall apart"`
}

// ErrNoClusters says that a collection is an index, whose documents are not compared with each other.
var ErrNoClusters = errors.New("clusters are of a folder: start the server with one in place of an index")

// Options say what is allowed, and what counts as alike.
type Options struct {
	Name, Version string
	Threshold     float64 // 0: alike.DefaultCheckThreshold
	Features      shingle.Options
	// Add, if set, adds a text under an id; without it nothing can be changed.
	Add func(ctx context.Context, id string, text []byte) error
}

// MostText is the longest text of a question, in bytes.
const MostText = 8 << 20

// New returns a server for a collection.
func New(c Collection, o Options) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: o.Name, Version: o.Version}, &mcp.ServerOptions{
		Instructions: "Ask check before you write a note or a document: it tells whether something alike is there already, and why. " +
			"Similarity counts shared runs of words; a paraphrase is new.",
	})
	in := inputs{}
	s.AddReceivingMiddleware(in.plainArguments)
	t := &tools{c: c, o: o}
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	addTool(s, in, &mcp.Tool{Name: "check", Annotations: reads,
		Description: "Is this text new? Tells the nearest documents, how much each shares with it in either direction, and why."}, t.check)
	addTool(s, in, &mcp.Tool{Name: "search", Annotations: reads,
		Description: "Documents that share most with a text, with the shared passages."}, t.search)
	addTool(s, in, &mcp.Tool{Name: "compare", Annotations: reads,
		Description: "Similarity and shared passages of two texts."}, t.compare)
	addTool(s, in, &mcp.Tool{Name: "clusters", Annotations: reads,
		Description: "Groups of documents that are alike, largest first: what is there twice."}, t.clusters)
	if o.Add != nil {
		no := false
		addTool(s, in, &mcp.Tool{Name: "add", Annotations: &mcp.ToolAnnotations{DestructiveHint: &no},
			Description: "Add a text under an id if it is new; the answer is that of check."}, t.add)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "document", URITemplate: documentURI + "{+id}", MIMEType: "text/plain",
		Description: "A document of the collection, by its id."}, t.document)
	return s
}

// inputs make what the arguments of each tool are decoded into.
type inputs map[string]func() any

func addTool[In, Out any](s *mcp.Server, in inputs, t *mcp.Tool, answer mcp.ToolHandlerFor[In, Out]) {
	in[t.Name] = func() any { return new(In) }
	mcp.AddTool(s, t, answer)
}

// plainArguments says what is wrong with the arguments of a tool before the SDK does, whose words are those of Go. A null
// is an argument that is not given: agents write it for those that may be left out.
func (in inputs) plainArguments(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		call, ok := r.(*mcp.CallToolRequest)
		if !ok || in[call.Params.Name] == nil || len(call.Params.Arguments) == 0 {
			return next(ctx, method, r)
		}
		arguments := map[string]json.RawMessage{}
		err := fault.Decode(bytes.NewReader(call.Params.Arguments), &arguments, false)
		maps.DeleteFunc(arguments, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
		if err == nil {
			if call.Params.Arguments, err = json.Marshal(arguments); err == nil {
				err = fault.Decode(bytes.NewReader(call.Params.Arguments), in[call.Params.Name](), true)
			}
		}
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "arguments: " + err.Error()}}}, nil
		}
		return next(ctx, method, r)
	}
}

// documentURI begins the address of a document.
const documentURI = "alike://document/"

type tools struct {
	c Collection
	o Options
}

// Asked is the input of check and search.
type Asked struct {
	Text string `json:"text" jsonschema:"the text, up to 8 MiB"`
	Top  int    `json:"top,omitempty" jsonschema:"how many documents to tell, 5 by default, at most 100"`
}

func (a *Asked) validate() error {
	switch {
	case len(a.Text) > MostText:
		return fmt.Errorf("the text has %d bytes: %d are the most", len(a.Text), MostText)
	case a.Top < 0 || a.Top > 100:
		return fmt.Errorf("top is %d: take 1 to 100", a.Top)
	}
	return nil
}

func (t *tools) check(ctx context.Context, _ *mcp.CallToolRequest, in Asked) (*mcp.CallToolResult, *alike.Checked, error) {
	c, err := t.ask(ctx, in)
	return nil, c, err
}

func (t *tools) ask(ctx context.Context, in Asked) (c *alike.Checked, err error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	err = t.c.Use(ctx, func(s *index.Searcher, _ *index.Index) error {
		c, err = alike.Check(s, []byte(in.Text), alike.CheckOptions{Threshold: t.o.Threshold, Top: in.Top, Passages: 5})
		return err
	})
	return c, err
}

// Found is the output of search.
type Found struct {
	Documents []alike.Nearest `json:"documents"`
}

func (t *tools) search(ctx context.Context, _ *mcp.CallToolRequest, in Asked) (*mcp.CallToolResult, *Found, error) {
	c, err := t.ask(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	return nil, &Found{c.Nearest}, nil
}

// Two is the input of compare.
type Two struct {
	A string `json:"a" jsonschema:"a text"`
	B string `json:"b" jsonschema:"another text"`
}

// Compared is the output of compare.
type Compared struct {
	Similarity float64               `json:"similarity"`
	AInB       float64               `json:"a_in_b"`
	BInA       float64               `json:"b_in_a"`
	Passages   []alike.SharedPassage `json:"passages,omitempty"`
}

func (t *tools) compare(_ context.Context, _ *mcp.CallToolRequest, in Two) (*mcp.CallToolResult, *Compared, error) {
	if len(in.A)+len(in.B) > MostText {
		return nil, nil, fmt.Errorf("the texts have %d bytes: %d are the most", len(in.A)+len(in.B), MostText)
	}
	c, err := alike.Compare([]byte(in.A), []byte(in.B), t.o.Features)
	if err != nil {
		return nil, nil, err
	}
	out := &Compared{Similarity: c.Similarity(measure.Jaccard)}
	out.AInB, out.BInA = c.Containments()
	for _, p := range c.Passages[:min(20, len(c.Passages))] {
		out.Passages = append(out.Passages, alike.SharedPassage{
			Tokens: p.Tokens, A: alike.Span{Start: p.A.Start, End: p.A.End}, B: alike.Span{Start: p.B.Start, End: p.B.End},
		})
	}
	return nil, out, nil
}

// Wanted is the input of clusters.
type Wanted struct {
	Threshold float64 `json:"threshold,omitempty" jsonschema:"least similarity, above 0 and up to 1; 0.8 by default"`
	Most      int     `json:"most,omitempty" jsonschema:"how many clusters to tell, 20 by default"`
}

// Grouped is the output of clusters.
type Grouped struct {
	Clusters []Cluster `json:"clusters"`
	More     int       `json:"more" jsonschema:"clusters that are not told"`
}

func (t *tools) clusters(ctx context.Context, _ *mcp.CallToolRequest, in Wanted) (*mcp.CallToolResult, *Grouped, error) {
	if in.Threshold == 0 {
		in.Threshold = 0.8
	}
	if !(in.Threshold > 0 && in.Threshold <= 1) || in.Most < 0 {
		return nil, nil, fmt.Errorf("threshold is %v, most %d: take a share above 0, up to 1, and a number", in.Threshold, in.Most)
	}
	all, err := t.c.Clusters(ctx, in.Threshold)
	if err != nil {
		return nil, nil, err
	}
	if in.Most == 0 {
		in.Most = 20
	}
	told := min(in.Most, len(all))
	return nil, &Grouped{append([]Cluster{}, all[:told]...), len(all) - told}, nil
}

// Added is the input of add.
type Added struct {
	ID   string `json:"id" jsonschema:"its name, which no other document has"`
	Text string `json:"text"`
}

func (t *tools) add(ctx context.Context, _ *mcp.CallToolRequest, in Added) (*mcp.CallToolResult, *alike.Checked, error) {
	if in.ID == "" {
		return nil, nil, errors.New("give the text an id")
	}
	c, err := t.ask(ctx, Asked{Text: in.Text})
	if err == nil && c.New {
		err = t.o.Add(ctx, in.ID, []byte(in.Text))
	}
	return nil, c, err
}

func (t *tools) document(ctx context.Context, r *mcp.ReadResourceRequest) (result *mcp.ReadResourceResult, err error) {
	uri := r.Params.URI
	id, err := url.PathUnescape(strings.TrimPrefix(uri, documentURI))
	if err != nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	err = t.c.Use(ctx, func(_ *index.Searcher, x *index.Index) error {
		d, found, err := x.Get([]byte(id))
		if err == nil && !found {
			err = mcp.ResourceNotFoundError(uri)
		}
		result = &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: string(d.Text)}}}
		return err
	})
	return result, err
}
