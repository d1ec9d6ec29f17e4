package main

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

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
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+line.Address+"/debug/pprof/goroutine?debug=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%d, %v", answer.StatusCode, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
