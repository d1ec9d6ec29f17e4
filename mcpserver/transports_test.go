package mcpserver_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/mcpserver"
)

// What stands between may go by the headers of a request: they must say what its body says. Statuses are those of the version.
func TestARequestByHTTPSaysTheSameInHeadersAndBody(t *testing.T) {
	s := mcpserver.New(notes{}, mcpserver.Options{Name: "alike", Version: "test"})
	const new = "2026-07-28"
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + new + `","io.modelcontextprotocol/clientCapabilities":{}}`
	for name, asked := range map[string]struct {
		media, version, method, tool, body string
		status                             int
		told                               string
	}{
		"list":                    {version: "2025-06-18", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, status: 200, told: `"name":"check"`},
		"no version":              {body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, status: 200, told: `"id":1,"result":{}}`},
		"note":                    {body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, status: 202},
		"array":                   {body: `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`, status: 200, told: `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]`},
		"unknown method":          {body: `{"jsonrpc":"2.0","id":1,"method":"x"}`, status: 200, told: "-32601"},
		"parameter of wrong kind": {body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}`, status: 200, told: "params.name is a number, not a string"},
		"no JSON":                 {body: `{`, status: 400, told: "-32700"},
		"no body":                 {status: 400, told: "-32700"},
		"another medium":          {media: "text/plain", body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, status: 415},
		"old version":             {version: "2023-01-01", body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, status: 400, told: "2024-11-05"},

		"new list":           {version: new, method: "tools/list", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, status: 200, told: `"resultType":"complete"`},
		"discover":           {version: new, method: "server/discover", body: `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`, status: 200, told: `"supportedVersions":["2026-07-28",`},
		"new unknown method": {version: new, method: "ping", body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + meta + `}}`, status: 404, told: "-32601"},
		"new unknown tool":   {version: new, method: "tools/call", tool: "x", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",` + meta + `}}`, status: 400, told: "-32602"},
		"newer":              {version: "2027-01-01", method: "tools/list", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + strings.Replace(meta, new, "2027-01-01", 1) + `}}`, status: 400, told: `-32022,"message":"unsupported protocol version","data":{"requested":"2027-01-01"`},
		"another version":    {version: "2025-11-25", method: "tools/list", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, status: 400, told: "Mcp-Protocol-Version"},
		"another method":     {version: new, method: "ping", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, status: 400, told: "Mcp-Method"},
		"another tool":       {version: new, method: "tools/call", tool: "check", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add",` + meta + `}}`, status: 400, told: "Mcp-Name"},
		"another document":   {version: new, method: "resources/read", tool: "alike://document/a", body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"alike://document/b",` + meta + `}}`, status: 400, told: "Mcp-Name"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(asked.body))
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
		for header, value := range map[string]string{"Content-Type": asked.media, "Mcp-Protocol-Version": asked.version, "Mcp-Method": asked.method, "Mcp-Name": asked.tool} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != asked.status || !strings.Contains(w.Body.String(), asked.told) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// waiting answers when its question is cancelled.
type waiting struct{ asked chan struct{} }

func (w waiting) Use(ctx context.Context, _ func(*index.Searcher, *index.Index) error) error {
	close(w.asked)
	<-ctx.Done()
	return ctx.Err()
}

func (w waiting) Clusters(context.Context, float64) ([]mcpserver.Cluster, error) { return nil, nil }

// A request that is cancelled gets no answer, those beside it do, and the end of the lines waits for them.
func TestACancelledRequestIsNotAnswered(t *testing.T) {
	asks, write := io.Pipe()
	asked := make(chan struct{})
	go func() {
		io.WriteString(write, `{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"check","arguments":{"text":"a"}}}`+"\n")
		<-asked
		io.WriteString(write, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		write.Close()
	}()
	var answers bytes.Buffer
	if err := mcpserver.New(waiting{asked}, mcpserver.Options{}).Lines(t.Context(), asks, &answers); err != nil {
		t.Fatal(err)
	}
	if answers.String() != `{"jsonrpc":"2.0","id":2,"result":{}}`+"\n" {
		t.Errorf("%s", &answers)
	}
}
