package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/mcpserver"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// notes is a collection in memory.
type notes struct{ x *index.Index }

func (n notes) Use(_ context.Context, f func(*index.Searcher, *index.Index) error) error {
	return f(n.x.NewSearcher(), n.x)
}

func (n notes) Clusters(context.Context, float64) ([]mcpserver.Cluster, error) {
	return nil, mcpserver.ErrNoClusters
}

func (n notes) add(_ context.Context, id string, text []byte) error {
	b := n.x.NewBatch()
	b.Add(index.Document{ID: []byte(id), Text: text})
	return n.x.Add(b)
}

// connect returns a client's session with a server of two notes.
func connect(t *testing.T, adds bool) *mcp.ClientSession {
	t.Helper()
	th, err := measure.ParseThreshold("jaccard>=0.8")
	if err != nil {
		t.Fatal(err)
	}
	r, err := recipe.New(recipe.Options{Threshold: th})
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.New(index.Options{Recipe: r, Containment: 1, ByID: true})
	if err != nil {
		t.Fatal(err)
	}
	n := notes{x}
	for id, text := range map[string]string{"river": "the river rose in the night and by morning the street stood under water", "bridge": "nobody had expected the old bridge to hold"} {
		if err := n.add(t.Context(), id, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	o := mcpserver.Options{Name: "alike", Version: "test"}
	if adds {
		o.Add = n.add
	}
	here, there := mcp.NewInMemoryTransports()
	server, err := mcpserver.New(n, o).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		_ = server.Wait() // the client has closed the connection
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// call calls a tool and decodes its answer.
func call[T any](t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (out T, failed string) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return out, err.Error()
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		return out, text
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out, ""
}

func TestAgentsAreToldWhatCheckTells(t *testing.T) {
	s := connect(t, false)
	c, failed := call[alike.Checked](t, s, "check", map[string]any{"text": "by morning the street stood under water"})
	if failed != "" || c.New || c.Nearest[0].ID != "river" || c.Nearest[0].AInB != 1 || len(c.Nearest[0].Passages) != 1 {
		t.Errorf("%+v %s", c, failed)
	}
	c, failed = call[alike.Checked](t, s, "check", map[string]any{"text": "something else that nobody has written down"})
	if failed != "" || !c.New || c.Why == "" {
		t.Errorf("%+v %s", c, failed)
	}
	found, failed := call[mcpserver.Found](t, s, "search", map[string]any{"text": "nobody had expected the old bridge to fall", "top": 1})
	if failed != "" || len(found.Documents) != 1 || found.Documents[0].ID != "bridge" {
		t.Errorf("%+v %s", found, failed)
	}
	two, failed := call[mcpserver.Compared](t, s, "compare", map[string]any{"a": "one two three four five six", "b": "zero one two three four five"})
	if failed != "" || two.Similarity <= 0 || two.Similarity >= 1 || len(two.Passages) != 1 {
		t.Errorf("%+v %s", two, failed)
	}
	r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "alike://document/bridge"})
	if err != nil || !strings.HasPrefix(r.Contents[0].Text, "nobody had expected") {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "alike://document/none"}); err == nil {
		t.Error("a document that is not there is read")
	}
}

func TestWhatIsAskedInAWrongWayIsAnErrorOfTheTool(t *testing.T) {
	s := connect(t, false)
	for _, wrong := range []struct {
		tool      string
		arguments map[string]any
		told      string
	}{
		{"check", map[string]any{}, "text"},
		{"check", map[string]any{"text": 5}, "arguments: text is a number, not a string"},
		{"check", map[string]any{"text": nil}, "text"},
		{"search", map[string]any{"text": "a", "top": 1e30}, "arguments: top is 1e+30: take a whole number, not too large"},
		{"compare", map[string]any{"a": "x", "b": "y", "c": 1}, `has a field "c", which is not known`},
		{"check", map[string]any{"text": "a", "top": nil}, ""}, // as if it were not there
		{"check", map[string]any{"text": "a", "top": 1000}, "take 1 to 100"},
		{"check", map[string]any{"text": strings.Repeat("a ", mcpserver.MostText/2+1)}, "are the most"},
		{"clusters", map[string]any{"threshold": 2}, "take a share above 0"},
		{"clusters", map[string]any{}, "clusters are of a folder"},
		{"add", map[string]any{"id": "x", "text": "y"}, "add"},
	} {
		if _, failed := call[map[string]any](t, s, wrong.tool, wrong.arguments); !strings.Contains(failed, wrong.told) || wrong.told == "" && failed != "" {
			t.Errorf("%s %v: %q does not tell %q", wrong.tool, len(wrong.arguments), failed, wrong.told)
		}
	}
}

func TestOnlyWhatIsNewIsAdded(t *testing.T) {
	s := connect(t, true)
	text := "a note that none of the others has a word of"
	for i, isNew := range []bool{true, false} {
		if c, failed := call[alike.Checked](t, s, "add", map[string]any{"id": "third", "text": text}); failed != "" || c.New != isNew {
			t.Errorf("call %d: %+v %s", i, c, failed)
		}
	}
	if c, _ := call[alike.Checked](t, s, "check", map[string]any{"text": text}); c.New || c.Nearest[0].ID != "third" {
		t.Errorf("%+v", c)
	}
}
