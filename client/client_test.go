package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alike-dev/alike/client"
	"github.com/alike-dev/alike/serve"
)

// start starts a server. Each of the first shed requests is turned away.
func start(t *testing.T, shed int64) (*client.Client, *serve.Server) {
	t.Helper()
	s, err := serve.New(serve.Config{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) <= shed {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c := client.New(h.URL+"/", "")
	c.Pause = time.Millisecond
	return c, s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const text = "one two three four five six seven"

func TestAClientAsksTheServer(t *testing.T) {
	c, _ := start(t, 3)
	must(t, c.Create(t.Context(), "news", map[string]any{"ngram": 2, "fields": map[string]any{"lang": "string"}}))
	d := client.Document{ID: "a/ü", Text: text, Metadata: map[string]any{"lang": "en"}}
	for _, step := range []struct {
		id     string
		decide func(context.Context, string, client.Document) (client.Verdict, error)
		of     string
	}{{"a/ü", c.Ask, ""}, {"a/ü", c.Check, ""}, {"a/ü", c.Check, ""}, {"b", c.Check, "a/ü"}} {
		d.ID = step.id
		v, err := step.decide(t.Context(), "news", d)
		if err != nil || v.New != (step.of == "") || v.DuplicateOf != step.of {
			t.Errorf("%+v: %+v, %v", step, v, err)
		}
	}
	matches, err := c.Search(t.Context(), "news", client.Search{Text: text, Passages: true, Filter: map[string]any{"lang": "en"}})
	if err != nil || len(matches) != 1 || matches[0].ID != "a/ü" || matches[0].Passages[0].A.End != len(text) {
		t.Errorf("%+v, %v", matches, err)
	}
	must(t, c.Put(t.Context(), "news", client.Document{ID: "a/ü", Text: "quite another text"}))
	fields, err := c.Get(t.Context(), "news", "a/ü")
	if err != nil || fields["text"] != "quite another text" {
		t.Errorf("%v, %v", fields, err)
	}
	must(t, c.Put(t.Context(), "news", client.Document{ID: "..", Text: "a text with a name of dots"}))
	must(t, c.Delete(t.Context(), "news", ".."))
	must(t, c.Delete(t.Context(), "news", "a/ü"))
	var p *client.Problem
	if _, err := c.Get(t.Context(), "news", "a/ü"); !errors.As(err, &p) || p.Status != http.StatusNotFound {
		t.Error(err)
	}
	if _, err := c.Check(t.Context(), "news", client.Document{Text: text}); !errors.As(err, &p) || p.Field != "id" {
		t.Error(err)
	}
}

func TestAClientAsksForEverythingElse(t *testing.T) {
	c, _ := start(t, 0)
	must(t, c.Create(t.Context(), "news", map[string]any{"ngram": 2}))
	names, err := c.Collections(t.Context())
	if err != nil || !slices.Equal(names, []string{"news"}) {
		t.Error(names, err)
	}
	settings, err := c.Settings(t.Context(), "news")
	if err != nil || settings["ngram"] != 2.0 {
		t.Error(settings, err)
	}
	stats, err := c.Stats(t.Context(), "news")
	if err != nil || stats["documents"] != 0.0 {
		t.Error(stats, err)
	}
	f, err := c.Sketch(t.Context(), text, map[string]any{"preset": "exlsh-word"})
	if err != nil || len(f.Signature) != 16 || f.Scheme == "" {
		t.Error(f, err)
	}
	comparison, err := c.Compare(t.Context(), text, text, nil)
	if err != nil || comparison["jaccard"] != 1.0 {
		t.Error(comparison, err)
	}
	must(t, c.Drop(t.Context(), "news"))
	var p *client.Problem
	if _, err := c.Stats(t.Context(), "news"); !errors.As(err, &p) || p.Status != http.StatusNotFound {
		t.Error(err)
	}
}

func TestAClientMatchesRecords(t *testing.T) {
	c, _ := start(t, 0)
	document, err := os.ReadFile("../serve/openapi.json")
	must(t, err)
	var d struct {
		Paths map[string]struct {
			Put struct {
				RequestBody struct {
					Content map[string]struct {
						Example struct {
							Model   json.RawMessage
							Records []map[string]any
						}
					}
				}
			}
		}
	}
	must(t, json.Unmarshal(document, &d))
	example := d.Paths["/v1/tables/{table}"].Put.RequestBody.Content["application/json"].Example
	must(t, c.PutTable(t.Context(), "people", example.Model, example.Records))
	a, err := c.MatchRecord(t.Context(), "people", map[string]any{"id": "x", "name": "bob jansen", "town": "york"})
	if err != nil || a.New || a.ID != "x" || a.Matches[0].ID != "r1" || len(a.Matches[0].Evidence) < 4 || a.Matches[0].Evidence[1].Column != "name" {
		t.Errorf("%+v, %v", a, err)
	}
	must(t, c.DeleteTable(t.Context(), "people"))
	var p *client.Problem
	if _, err := c.MatchRecord(t.Context(), "people", nil); !errors.As(err, &p) || p.Status != http.StatusNotFound {
		t.Error(err)
	}
}

// A document whose removal was not answered is gone when it is removed again, and only then.
func TestARemovalThatWasNotAnsweredIsDone(t *testing.T) {
	var asked atomic.Int64
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		http.NotFound(w, r)
	}))
	defer h.Close()
	c := client.New(h.URL, "")
	c.Pause = time.Millisecond
	must(t, c.Delete(t.Context(), "news", "a"))
	if err := c.Delete(t.Context(), "news", "a"); err == nil {
		t.Error("what is not there was removed")
	}
}

func TestAClientGivesUpAfterItsTries(t *testing.T) {
	c, _ := start(t, 4)
	var p *client.Problem
	if err := c.Create(t.Context(), "news", nil); !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable {
		t.Error(err)
	}
}

func TestAStreamIsAnsweredInOrder(t *testing.T) {
	c, _ := start(t, 0)
	must(t, c.Create(t.Context(), "news", map[string]any{"ngram": 2}))
	const n = 3000
	documents := func(yield func(client.Document) bool) {
		for i := range n {
			if !yield(client.Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("only %d has %d of %d", i/2, i/2*7, i/2*13)}) {
				return
			}
		}
	}
	var answers []string
	must(t, c.Stream(t.Context(), "news", documents, func(v client.Verdict) error {
		answers = append(answers, v.DuplicateOf)
		return nil
	}))
	if len(answers) != n {
		t.Fatalf("%d answers to %d documents", len(answers), n)
	}
	for i, of := range answers {
		want := ""
		if i%2 == 1 {
			want = fmt.Sprint(i - 1)
		}
		if of != want {
			t.Fatalf("%d is a duplicate of %q, want %q", i, of, want)
		}
	}
	enough := errors.New("enough")
	if err := c.Stream(t.Context(), "news", documents, func(client.Verdict) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}

func TestAStreamEndsWithTheReasonOfTheServer(t *testing.T) {
	c, s := start(t, 0)
	must(t, c.Create(t.Context(), "news", nil))
	s.Drain()
	var p *client.Problem
	err := c.Stream(t.Context(), "news", slices.Values([]client.Document{{ID: "a", Text: text}}), func(client.Verdict) error { return nil })
	if !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable {
		t.Error(err)
	}
}
