package main

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/alike-dev/alike/serve"
)

// Metrics are served without a token on their own address, and nothing else is.
func TestMetricsHaveAnAddressOfTheirOwn(t *testing.T) {
	tokens := new(serve.Tokens)
	if err := tokens.Set("of-an-administrator-01 admin *"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	log := slog.New(slog.NewJSONHandler(&out, nil))
	s, err := serve.New(serve.Config{Tokens: tokens, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := serveFlags{metrics: "127.0.0.1:0"}
	stop, err := f.beside(t.Context(), s, log)
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ Address string }
	if err := json.Unmarshal([]byte(out.String()), &line); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/metrics": http.StatusOK, "/v1/collections": http.StatusNotFound, "/debug/pprof/": http.StatusNotFound} {
		answer, err := http.Get("http://" + line.Address + path)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	f = serveFlags{metrics: "no address"}
	if stop, err := f.beside(t.Context(), s, log); err == nil || !strings.HasPrefix(err.Error(), "--metrics-listen: ") || stop() != nil {
		t.Errorf("no address: %v", err)
	}
}

func TestProfilesAreForThisMachineOnly(t *testing.T) {
	var out strings.Builder
	log := slog.New(slog.NewJSONHandler(&out, nil))
	for _, address := range []string{":6060", "0.0.0.0:6060", "192.0.2.1:6060", "no address"} {
		var usage usageError
		if _, err := profile(t.Context(), address, log); !errors.As(err, &usage) {
			t.Errorf("%s: %v, want an error of usage", address, err)
		}
	}
	args := []string{"serve", "--listen", "127.0.0.1:0", "--pprof", ":6060"}
	cmd := newRoot(args)
	cmd.SetErr(io.Discard)
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "beyond this machine") {
		t.Errorf("%v: %v", args, err)
	}
	stop, err := profile(t.Context(), "127.0.0.1:0", log)
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ Address string }
	if err := json.Unmarshal([]byte(out.String()), &line); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		status int
		has    string
	}{
		"goroutine?debug=1":    {http.StatusOK, "goroutine profile: total "},
		"heap?gc=1":            {http.StatusOK, "\x1f\x8b"},
		"heap?seconds=1":       {http.StatusBadRequest, "only profile takes seconds"},
		"profile?seconds=0.01": {http.StatusOK, "\x1f\x8b"},
		"trace?seconds=0.01":   {http.StatusNotFound, "not found"},
		"cmdline":              {http.StatusOK, os.Args[0]},
		"":                     {http.StatusOK, " goroutine\n"},
		"none":                 {http.StatusNotFound, "404"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+line.Address+"/debug/pprof/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != want.status || !strings.Contains(string(body), want.has) {
			t.Errorf("%s: %d, %.40q, %v", path, answer.StatusCode, body, err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
