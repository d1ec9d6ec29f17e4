package serve

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearer sends a token with each request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// Agents ask a collection by HTTP what they ask alike mcp, and do what their token allows.
func TestAgentsAskACollectionAndHaveTheRightsOfTheirToken(t *testing.T) {
	tokens := new(Tokens)
	if err := tokens.Set("reader-of-notes-01234 read notes\nwriter-of-notes-01234 write notes\nadmin-0123456789abcdef admin *"); err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Tokens: tokens})
	s.token = "admin-0123456789abcdef"
	for _, name := range []string{"notes", "other"} {
		s.want(http.StatusCreated, "", "PUT", "/v1/collections/"+name, `{"ngram":2,"containment":1}`)
	}
	s.want(http.StatusOK, "", "POST", "/v1/collections/notes/check", `{"id":"river","text":"the river rose in the night and the street stood under water"}`)

	connect := func(token, collection string) (*mcp.ClientSession, error) {
		transport := &mcp.StreamableClientTransport{
			Endpoint: s.url + "/v1/collections/" + collection + "/mcp", HTTPClient: &http.Client{Transport: bearer{token}}, DisableStandaloneSSE: true,
		}
		return mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), transport, nil)
	}
	call := func(session *mcp.ClientSession, tool string, arguments map[string]any) (text string, failed bool) {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return err.Error(), true
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
	for token, adds := range map[string]bool{"reader-of-notes-01234": false, "writer-of-notes-01234": true} {
		session, err := connect(token, "notes")
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		tools, err := session.ListTools(t.Context(), nil)
		if err != nil || slices.ContainsFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == "add" }) != adds {
			t.Errorf("%s: add is offered to a reader, or not to a writer: %v", token, err)
		}
		text, failed := call(session, "check", map[string]any{"text": "in the night the river rose in the night and the street stood under water"})
		if failed || !strings.Contains(text, `"new":false`) || !strings.Contains(text, `"id":"river"`) {
			t.Errorf("%s: %s", token, text)
		}
		text, failed = call(session, "add", map[string]any{"id": "bridge", "text": "nobody had expected the old bridge to hold"})
		if failed == adds {
			t.Errorf("%s: %s", token, text)
		}
	}
	s.want(http.StatusOK, `{"id":"bridge","text":"nobody had expected the old bridge to hold"}`, "GET", "/v1/collections/notes/documents/bridge", "")
	for token, collection := range map[string]string{"reader-of-notes-01234": "other", "unknown-0123456789": "notes", "admin-0123456789abcdef": "missing"} {
		if session, err := connect(token, collection); err == nil {
			session.Close()
			t.Errorf("%s may ask %s", token, collection)
		}
	}
}
