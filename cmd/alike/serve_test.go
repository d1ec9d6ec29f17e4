package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// addressIn sends the address of a server that says where it listens.
type addressIn struct{ to chan string }

func (a addressIn) Write(p []byte) (int, error) {
	var line struct{ Msg, Address string }
	if json.Unmarshal(p, &line) == nil && line.Msg == "listening" {
		a.to <- line.Address
	}
	return len(p), nil
}

func TestAServerEndsWithoutAnErrorWhenItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"), "--durability", "interval"}
	cmd := newRoot(args)
	told := addressIn{make(chan string, 1)}
	cmd.SetErr(told)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	var address string
	select {
	case address = <-told.to:
	case err := <-ended:
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"PUT", "", `{"ngram":2}`, `{"ngram":2}`},
		{"POST", "/check", `{"id":"a","text":"one two three four"}`, `{"new":true}`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+address+"/v1/collections/news"+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || strings.TrimSpace(string(out)) != c.want || answer.Header.Get("Alike-Durability") != "interval" {
			t.Errorf("%s %s: %s, %v", c.method, c.path, out, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
