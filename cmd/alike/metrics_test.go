package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// What --metrics serves follows the conventions of Prometheus, and has what one would alert on: records that were
// skipped, by the reason, that were replayed, and whether a write has failed.
func TestMetricsFollowTheConventionsAndHaveWhatOneWouldAlertOn(t *testing.T) {
	threshold, err := measure.ParseThreshold("jaccard>=0.8")
	if err != nil {
		t.Fatal(err)
	}
	r, err := recipe.New(recipe.Options{Threshold: threshold})
	if err != nil {
		t.Fatal(err)
	}
	const input = "{\"id\":\"a\",\"text\":\"one two three\",\"at\":\"2026-01-02T03:04:05Z\"}\n{\"id\":\n{\"id\":\"b\"}\n" +
		"{\"id\":\"c\",\"text\":\"x\",\"at\":\"soon\"}\n{\"id\":\"d\",\"text\":\"x\",\"at\":\"later\"}\n"
	var x *index.Index
	var counts *stream.Counts
	dir := t.TempDir()
	for again := range 2 { // the second one reads a replay
		if x, err = index.OpenOrCreate(dir, index.OpenOptions{Options: index.Options{Recipe: r, History: 100}}); err != nil {
			t.Fatal(err)
		}
		counts = new(stream.Counts)
		_, err = stream.Run(t.Context(), stream.Config{
			Index: x, Source: corpus.Source{Path: "-", Name: "stdin.jsonl", Format: corpus.JSONL, Stream: true}, TimeField: "at",
			Corpus: corpus.Options{Stdin: strings.NewReader(input), TextField: "text", IDField: "id"}, Out: io.Discard, Counts: counts, Threads: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if again == 0 {
			err = x.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	defer x.Close()
	page := served(t, x, counts)
	for _, want := range []string{
		"alike_skipped_total{kind=\"malformed record\"} 1", "alike_skipped_total{kind=\"missing field\"} 1", "alike_skipped_total{kind=\"no time\"} 2",
		"alike_skipped_total{kind=\"other\"} 0", "alike_replayed_total 1", "alike_read_only 0", "alike_documents 1",
		"# TYPE alike_skipped_total counter", "# TYPE alike_read_only gauge",
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	problems, err := promlint.New(strings.NewReader(page)).Lint() // the rules of promtool check metrics
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	for line := range strings.Lines(page) {
		if name, _, ok := strings.Cut(line, " "); ok && name != "#" && !strings.HasPrefix(name, "alike_") {
			t.Errorf("a metric of another name: %s", line)
		}
	}
	if tool := os.Getenv("ALIKE_PROMTOOL"); tool != "" {
		check := exec.Command(tool, "check", "metrics")
		check.Stdin = strings.NewReader(page)
		if told, err := check.CombinedOutput(); err != nil || len(told) > 0 {
			t.Errorf("promtool: %v\n%s", err, told)
		}
	}
}

// served returns the page at /metrics.
func served(t *testing.T, x *index.Index, counts *stream.Counts) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	stop, err := serveMetrics(address, x, counts)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	answer, err := http.Get(fmt.Sprintf("http://%s/metrics", address))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
