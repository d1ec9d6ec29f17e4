package serve

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// What promtool check metrics finds is found here, without the program.
func TestMetricsAreAsPrometheusWantsThem(t *testing.T) {
	s := start(t, Config{})
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", "{}")
	s.want(http.StatusOK, "", "POST", "/v1/collections/c/check", `{"id":"confidential","text":"confidential text of one document"}`)
	s.want(http.StatusNotFound, "", "GET", "/v1/collections/confidential", "")
	_, out := s.do("GET", "/metrics", "", "")
	problems, err := promlint.New(bytes.NewReader([]byte(out))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if strings.Contains(out, "confidential") || !strings.Contains(out, `alike_http_request_duration_seconds_bucket{code="200",route="POST /v1/collections/{collection}/check",le="0.0001"}`) {
		t.Error(out)
	}
}
