package charttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

// added are the labels that Prometheus adds to what it collects.
var added = []string{"namespace", "job", "pod", "service", "instance"}

// up is Prometheus's own metric: whether a server could be asked.
const up = "up"

// samples are the metrics of a server: name of the series, then of its labels, then their values.
type samples map[string]map[string][]string

// build makes the program.
func build(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "alike")
	build := exec.Command("go", "build", "-o", program, "./cmd/alike")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// startServer runs the program with an empty memory and returns its address.
func startServer(t *testing.T, program string, flags ...string) string {
	t.Helper()
	server := exec.CommandContext(t.Context(), program, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	t.Cleanup(func() {
		for lines.Scan() {
		}
		_ = server.Wait() // it was interrupted
	})
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			return "http://" + line.Address
		}
	}
	t.Fatal("the server does not listen")
	return ""
}

func ask(t *testing.T, method, url, kind, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, url, answer.Status)
	}
	return answer
}

// collect returns the metrics of a server that has a collection and has answered lines, and those of a replica, whose
// log need not be there.
func collect(t *testing.T) samples {
	t.Helper()
	program := build(t)
	all := samples{}
	read(t, startServer(t, program, "--log", "nats://127.0.0.1:1"), all)
	url := startServer(t, program)
	ask(t, http.MethodPut, url+"/v1/collections/c", "application/json", "{}")
	ask(t, http.MethodPost, url+"/v1/collections/c/documents", "application/x-ndjson", `{"id":"a","text":"a text"}`+"\n")
	read(t, url, all)
	return all
}

// read adds the metrics of a server.
func read(t *testing.T, url string, all samples) {
	t.Helper()
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(ask(t, http.MethodGet, url+"/metrics", "", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, family := range families {
		of := map[string][]string{}
		for _, metric := range family.Metric {
			for _, label := range metric.Label {
				of[label.GetName()] = append(of[label.GetName()], label.GetValue())
			}
		}
		if family.Metric[0].Histogram == nil {
			all[name] = of
			continue
		}
		all[name+"_count"], all[name+"_sum"] = of, of
		all[name+"_bucket"] = maps.Clone(of)
		all[name+"_bucket"]["le"] = nil
	}
}

// check returns what a query asks for that is not there.
func (s samples) check(query string) (problems []error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return []error{err}
	}
	known := map[string]bool{}
	for _, name := range added {
		known[name] = true
	}
	parser.Inspect(e, func(node parser.Node, _ []parser.Node) error {
		v, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		of, ok := s[v.Name]
		if !ok && v.Name != up {
			problems = append(problems, fmt.Errorf("there is no metric %q", v.Name))
		}
		for label := range of {
			known[label] = true
		}
		for _, m := range v.LabelMatchers {
			values, there := of[m.Name]
			if m.Name == labels.MetricName || slices.Contains(added, m.Name) {
				continue
			}
			if plain := m.Type == labels.MatchEqual || m.Type == labels.MatchNotEqual; !there || plain && !slices.Contains(values, m.Value) {
				problems = append(problems, fmt.Errorf("%s has no %s=%q", v.Name, m.Name, m.Value))
			}
		}
		return nil
	})
	parser.Inspect(e, func(node parser.Node, _ []parser.Node) error {
		if a, ok := node.(*parser.AggregateExpr); ok {
			for _, label := range a.Grouping {
				if !known[label] {
					problems = append(problems, fmt.Errorf("no metric of the query has the label %q", label))
				}
			}
		}
		return nil
	})
	return problems
}

// A rule is one of a PrometheusRule.
type rule struct {
	Alert, Expr string
	Annotations map[string]string
}

// rules returns those that the chart installs.
func rules(t *testing.T) (all []rule) {
	t.Helper()
	objects, err := render(t, everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		var o struct {
			Kind string
			Spec struct{ Groups []struct{ Rules []rule } }
		}
		if err := yaml.Unmarshal(object, &o); err == nil && o.Kind == "PrometheusRule" {
			all = append(all, o.Spec.Groups[0].Rules...)
		}
	}
	return all
}

// panelQueries returns the queries of the dashboard, with values in place of its variables.
func panelQueries(t *testing.T) (queries []string) {
	t.Helper()
	content, err := files{}.Get("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(content), &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			queries = append(queries, strings.NewReplacer("$__rate_interval", "5m", "$namespace", "n", "$job", "j").Replace(target.Expr))
		}
	}
	return queries
}

var labelOfMessage = regexp.MustCompile(`\$labels\.(\w+)`)

// Every query of an alert and of the dashboard is one that Prometheus reads, and asks for metrics and labels that a
// running server has. The page about alerts names all of them.
func TestQueriesAskForWhatTheServerTells(t *testing.T) {
	s := collect(t)
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	alerts, queries := rules(t), panelQueries(t)
	if len(alerts) < 5 || len(queries) < 10 {
		t.Errorf("%d alerts and %d queries are found", len(alerts), len(queries))
	}
	for _, r := range alerts {
		for _, err := range s.check(r.Expr) {
			t.Errorf("%s: %v", r.Alert, err)
		}
		for _, m := range labelOfMessage.FindAllStringSubmatch(r.Annotations["summary"], -1) {
			if !strings.Contains(r.Expr, m[1]) && !strings.HasPrefix(r.Expr, up+"{") {
				t.Errorf("%s: its message names %s, which its query has not", r.Alert, m[1])
			}
		}
		if !strings.Contains(string(page), r.Alert) {
			t.Errorf("docs/operations.md does not name %s", r.Alert)
		}
	}
	for _, query := range queries {
		for _, err := range s.check(query) {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, bad := range []string{
		"alike_nothing_total", "sum by (", `rate(alike_http_requests_shed_total{route="GET /"}[5m])`, "sum by (tenant) (go_goroutines)",
		`alike_http_request_duration_seconds_count{route="GET /nothing"}`, "sum by (collection) (go_goroutines)",
	} {
		if len(s.check(bad)) == 0 {
			t.Errorf("%s is taken for a good query", bad)
		}
	}
}
