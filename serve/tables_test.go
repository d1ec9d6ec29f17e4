package serve

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exampleTable returns the body of the document's example of a table.
func exampleTable(t *testing.T) string {
	t.Helper()
	d, _ := schemas(t)
	return string(d.Paths["/v1/tables/{table}"]["put"].RequestBody.Content[jsonType].Example)
}

const askedRecord = `{"id":"x","name":"bob jansen","town":"york"}`

// found returns the id of the best match, "" if the record is new.
func (s *service) found(table, record string) string {
	s.t.Helper()
	status, out := s.do("POST", "/v1/tables/"+table+"/match", jsonType, record)
	var a struct {
		New     bool
		Matches []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(out), &a); status != http.StatusOK || err != nil {
		s.t.Fatalf("%d %s %v", status, out, err)
	}
	if a.New {
		return ""
	}
	return a.Matches[0].ID
}

func TestATableOutlivesItsServer(t *testing.T) {
	dir := t.TempDir()
	body := exampleTable(t)
	t.Run("made", func(t *testing.T) {
		s := start(t, Config{Dir: dir})
		s.want(http.StatusOK, `{"records":4,"columns":["name","town"]}`, "PUT", "/v1/tables/people", body)
		if got := s.found("people", askedRecord); got != "r1" {
			t.Errorf("found %q, want r1", got)
		}
		s.want(http.StatusOK, "", "PUT", "/v1/tables/gone", body)
		s.want(http.StatusNoContent, "", "DELETE", "/v1/tables/gone", "")
		// A table that is refused leaves the one before.
		s.want(http.StatusUnprocessableEntity, "", "PUT", "/v1/tables/people", `{"model":{"alike_model":1},"records":[]}`)
		s.want(http.StatusOK, "", "PUT", "/v1/tables/people", strings.Replace(body, `"r1"`, `"other"`, 1)) // replaced
	})
	if err := os.WriteFile(filepath.Join(dir, "people.7.records"), []byte("{}\n"), 0o666); err != nil { // as a kill leaves them
		t.Fatal(err)
	}
	t.Run("again", func(t *testing.T) {
		s := start(t, Config{Dir: dir})
		if got := s.found("people", askedRecord); got != "other" {
			t.Errorf("found %q, want other", got)
		}
		s.want(http.StatusOK, `{"tables":["people"]}`, "GET", "/v1/tables", "")
		s.want(http.StatusNotFound, "", "POST", "/v1/tables/gone/match", askedRecord)
	})
	left, err := filepath.Glob(filepath.Join(dir, "*.records"))
	if err != nil || len(left) != 1 {
		t.Errorf("files of records: %q, %v, want one", left, err)
	}
}

func TestLinesAreMatchedInTheirOrder(t *testing.T) {
	s := start(t, Config{})
	var whole struct {
		Model   json.RawMessage
		Records []json.RawMessage
	}
	if err := json.Unmarshal([]byte(exampleTable(t)), &whole); err != nil {
		t.Fatal(err)
	}
	lines := `{"model":` + strings.ReplaceAll(string(whole.Model), "\n", " ") + "}\n"
	for _, r := range whole.Records {
		lines += string(r) + "\n"
	}
	if status, out := s.do("PUT", "/v1/tables/people", ndjson, lines); status != http.StatusOK || !strings.Contains(out, `"records":4`) {
		t.Fatal(status, out)
	}
	status, out := s.do("POST", "/v1/tables/people/match", ndjson, askedRecord+"\n\n{\n{\"id\":7,\"title\":\"nothing\"}\n"+askedRecord)
	got := strings.Split(strings.TrimSpace(out), "\n")
	if status != http.StatusOK || len(got) != 4 {
		t.Fatalf("%d %s", status, out)
	}
	for i, want := range []string{`{"id":"x","new":false,"matches":[{"id":"r1",`, `{"problem":`, `{"id":"7","new":true,"matches":[]}`, `{"id":"x","new":false`} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("line %d: %s, want %s", i+1, got[i], want)
		}
	}
}

func TestTablesThatCannotBeAreProblems(t *testing.T) {
	s := start(t, Config{Limits: Limits{Table: 10_000, Line: 5000}})
	body := exampleTable(t)
	for name, want := range map[string]struct {
		kind, body, detail string
		status             int
	}{
		"no model":       {jsonType, `{"records":[]}`, `"model"`, http.StatusUnprocessableEntity},
		"an old model":   {jsonType, `{"model":{"alike_model":1},"records":[]}`, "version 1", http.StatusUnprocessableEntity},
		"no JSON":        {jsonType, `{`, "JSON", http.StatusBadRequest},
		"unknown fields": {jsonType, `{"modell":{}}`, "modell", http.StatusUnprocessableEntity},
		"other columns":  {jsonType, `{"model":` + modelOf(t, body) + `,"records":[{"id":1,"title":"a"}]}`, "lacks name, town", http.StatusUnprocessableEntity},
		"no object":      {jsonType, `{"model":` + modelOf(t, body) + `,"records":[{"id":1,"name":"a","town":"b"},7]}`, "record 2", http.StatusUnprocessableEntity},
		"too large":      {ndjson, strings.Repeat("{}\n", 5000), "10000 bytes", http.StatusRequestEntityTooLarge},
		"a long line":    {ndjson, strings.Repeat(" ", 9000), "too long", http.StatusRequestEntityTooLarge},
		"a text":         {plainText, "a", "takes", http.StatusUnsupportedMediaType},
	} {
		t.Run(name, func(t *testing.T) {
			status, out := s.do("PUT", "/v1/tables/people", want.kind, want.body)
			if status != want.status || !strings.Contains(out, want.detail) {
				t.Errorf("%d %s, want %d and %s", status, out, want.status, want.detail)
			}
		})
	}
	s.want(http.StatusNotFound, "", "GET", "/v1/tables/people", "")
	s.want(http.StatusUnprocessableEntity, "", "PUT", "/v1/tables/A", body)
}

// modelOf returns the model of a body.
func modelOf(t *testing.T, body string) string {
	t.Helper()
	var whole struct{ Model json.RawMessage }
	if err := json.Unmarshal([]byte(body), &whole); err != nil {
		t.Fatal(err)
	}
	return string(whole.Model)
}

func TestTablesHaveTheRightsOfCollections(t *testing.T) {
	tokens := new(Tokens)
	if err := tokens.Set("aaaaaaaaaaaaaaaa admin *\nbbbbbbbbbbbbbbbb read people\ncccccccccccccccc read other\n"); err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Tokens: tokens})
	body := exampleTable(t)
	for _, step := range []struct {
		token, method, path, body string
		status                    int
	}{
		{"bbbbbbbbbbbbbbbb", "PUT", "", body, http.StatusForbidden},
		{"aaaaaaaaaaaaaaaa", "PUT", "", body, http.StatusOK},
		{"bbbbbbbbbbbbbbbb", "POST", "/match", askedRecord, http.StatusOK},
		{"cccccccccccccccc", "POST", "/match", askedRecord, http.StatusForbidden},
		{"", "POST", "/match", askedRecord, http.StatusUnauthorized},
		{"bbbbbbbbbbbbbbbb", "DELETE", "", "", http.StatusForbidden},
	} {
		s.token = step.token
		s.want(step.status, "", step.method, "/v1/tables/people"+step.path, step.body)
	}
	s.token = "cccccccccccccccc"
	s.want(http.StatusOK, `{"tables":[]}`, "GET", "/v1/tables", "")
}
