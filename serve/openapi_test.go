package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/recipeflags"
)

// operation is what the test reads of an operation of openapi.json.
type operation struct {
	OperationID string
	Parameters  []struct{ Name, In string }
	RequestBody struct{ Content map[string]content }
	Responses   map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]content
	}
}

type content struct {
	Schema  map[string]any
	Example json.RawMessage
}

// described is openapi.json.
type described struct {
	OpenAPI string
	Paths   map[string]map[string]operation
}

// schemas compiles schemas of openapi.json.
func schemas(t *testing.T) (d described, compile func(pointer string) *jsonschema.Schema) {
	t.Helper()
	if err := json.Unmarshal(openAPIDocument, &d); err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(openAPIDocument))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	return d, func(pointer string) *jsonschema.Schema {
		t.Helper()
		s, err := c.Compile("openapi.json#" + pointer)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// escaped is a key in a pointer of JSON.
func escaped(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(key)
}

func TestTheDocumentHasTheRoutesOfTheServer(t *testing.T) {
	d, _ := schemas(t)
	var routes, documented []string
	for _, r := range slices.Concat(statelessList, collectionList, tableList) {
		routes = append(routes, r.pattern)
	}
	for path, methods := range d.Paths {
		for method := range methods {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(routes)
	slices.Sort(documented)
	if !slices.Equal(routes, documented) || !strings.HasPrefix(d.OpenAPI, "3.1") {
		t.Errorf("the server has\n%q, the document\n%q", routes, documented)
	}
	var whole any
	if err := json.Unmarshal(openAPIDocument, &whole); err != nil {
		t.Fatal(err)
	}
	for _, ref := range regexp.MustCompile(`"\$ref": ?"#/([^"]+)"`).FindAllSubmatch(openAPIDocument, -1) {
		at := whole
		for key := range strings.SplitSeq(string(ref[1]), "/") {
			object, _ := at.(map[string]any)
			at = object[key]
		}
		if at == nil {
			t.Errorf("%s leads nowhere", ref[0])
		}
	}
	if regexp.MustCompile(`https?://`).Match(openAPIDocument) {
		t.Error("the document has a link to another host")
	}
}

// A parameter that is misspelt changes nothing: "check?ad=false" would have added the document.
func TestPathsTakeTheParametersOfTheDocumentOnly(t *testing.T) {
	d, _ := schemas(t)
	s := start(t, Config{})
	for _, r := range slices.Concat(statelessList, collectionList, tableList, agentList) {
		method, path, _ := strings.Cut(r.pattern, " ")
		for _, p := range d.Paths[path][strings.ToLower(method)].Parameters {
			if p.In == "query" && r.pattern != sketchPattern && !slices.Contains(queries[r.pattern], p.Name) {
				t.Errorf("%s does not take %s", r.pattern, p.Name)
			}
		}
		to := strings.NewReplacer("{collection}", "news", "{id}", "c", "{table}", "people").Replace(path)
		code, out := s.do(method, to+"?unknown=1", ndjson, "{}")
		refused := code == http.StatusBadRequest && strings.Contains(out, `"field":"unknown"`)
		if refused != strings.HasPrefix(path, "/v1/") {
			t.Errorf("%s?unknown=1: %d %s", r.pattern, code, out)
		}
	}
}

// TestTheExamplesOfTheDocumentAreAnsweredSo sends the examples in an order in which each finds what it needs.
func TestTheExamplesOfTheDocumentAreAnsweredSo(t *testing.T) {
	d, compile := schemas(t)
	s := start(t, Config{})
	sent := 0
	for _, id := range []string{
		"health", "ready", "openAPI", "metrics", "createCollection", "getCollection", "listCollections", "check", "addDocuments", "putDocument",
		"getDocument", "search", "stats", "sketch", "compare", "deleteDocument", "deleteCollection",
		"putTable", "getTable", "listTables", "match", "deleteTable",
	} {
		for path, methods := range d.Paths {
			for method, op := range methods {
				if op.OperationID != id {
					continue
				}
				sent++
				s.replay(op, method, path, compile)
			}
		}
	}
	if all := len(statelessList) + len(collectionList) + len(tableList); sent != all {
		t.Errorf("%d of %d operations were tried", sent, all)
	}
}

// replay sends the example of an operation and compares the answer with its example and schema.
func (s *service) replay(op operation, method, path string, compile func(string) *jsonschema.Schema) {
	s.t.Helper()
	at := "/paths/" + escaped(path) + "/" + method
	request := op.RequestBody.Content[jsonType]
	if request.Example != nil {
		valid(s.t, op.OperationID, compile(at+"/requestBody/content/application~1json/schema"), request.Example)
	}
	code, out := s.do(strings.ToUpper(method), strings.NewReplacer("{collection}", "news", "{id}", "c", "{table}", "people").Replace(path), jsonType, string(request.Example))
	response, documented := op.Responses[strconv.Itoa(code)]
	if !documented || response.Ref != "" || code >= http.StatusBadRequest {
		s.t.Errorf("%s: %d %s", op.OperationID, code, out)
		return
	}
	body, isJSON := response.Content[jsonType]
	if !isJSON {
		return
	}
	valid(s.t, op.OperationID, compile(at+"/responses/"+strconv.Itoa(code)+"/content/application~1json/schema"), []byte(out))
	if body.Example == nil {
		return
	}
	var got, want any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		s.t.Error(err)
	}
	if err := json.Unmarshal(body.Example, &want); err != nil {
		s.t.Error(err)
	}
	if !reflect.DeepEqual(got, want) {
		s.t.Errorf("%s: %s, the document has %s", op.OperationID, out, body.Example)
	}
}

func valid(t testing.TB, what string, schema *jsonschema.Schema, body []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("%s: %s: %v", what, body, err)
	}
}

// TestTheDocumentHasTheSettingsOfTheServer holds that settings are documented by the names that the server takes.
func TestTheDocumentHasTheSettingsOfTheServer(t *testing.T) {
	var d struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(openAPIDocument, &d); err != nil {
		t.Fatal(err)
	}
	documented := d.Components.Schemas["Settings"].Properties
	for _, name := range append([]string{"recipe", "sample"}, ownSettings...) {
		delete(documented, name)
	}
	var made recipeflags.Settings
	flags := newFlagSet(&made.Text, func(to *pflag.FlagSet) { made.Add(to, index.DefaultBucketCap) })
	for name := range documented {
		if flags.flag(name) == nil {
			t.Errorf("%s is documented and is no setting", name)
		}
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if name := strings.ReplaceAll(f.Name, "-", "_"); documented[name] == nil && flags.flag(name) != nil {
			t.Errorf("%s is a setting and not documented", name)
		}
	})
}
