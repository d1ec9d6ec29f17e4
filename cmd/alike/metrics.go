package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
)

// serveMetrics serves the counters of a stream and its index until the function that it returns is called.
func serveMetrics(address string, x *index.Index, counts *stream.Counts) (stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(&indexMetrics{x}, &streamMetrics{counts})
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // ends with Shutdown
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-ended
	}, nil
}

// indexMetrics are the numbers of index.Stats as Prometheus collects them.
type indexMetrics struct{ x *index.Index }

type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(s *index.Stats) float64
}

func counter(name, help string, value func(s *index.Stats) int64) metric {
	return metric{prometheus.NewDesc("alike_"+name+"_total", help, nil, nil), prometheus.CounterValue, func(s *index.Stats) float64 { return float64(value(s)) }}
}

func gauge(name, help string, value func(s *index.Stats) int64) metric {
	return metric{prometheus.NewDesc("alike_"+name, help, nil, nil), prometheus.GaugeValue, func(s *index.Stats) float64 { return float64(value(s)) }}
}

var indexMetricList = []metric{
	counter("checked", "Documents that were checked.", func(s *index.Stats) int64 { return s.Checked }),
	counter("added", "Documents that were added.", func(s *index.Stats) int64 { return s.Added }),
	counter("duplicates", "Documents that were like one that was there.", func(s *index.Stats) int64 { return s.Duplicates }),
	counter("late", "Documents that came too late to be added.", func(s *index.Stats) int64 { return s.Late }),
	counter("refreshed", "Documents that a duplicate has moved to the end of the window.", func(s *index.Stats) int64 { return s.Refreshed }),
	counter("expired", "Documents that have left the window.", func(s *index.Stats) int64 { return s.Expired }),
	counter("full_buckets", "Keys that documents did not get since their bucket was full.", func(s *index.Stats) int64 { return s.Full }),
	gauge("read_only", "Whether a write has failed, so that nothing more is kept: 1 or 0.", func(s *index.Stats) int64 {
		if s.Failed {
			return 1
		}
		return 0
	}),
	gauge("documents", "Documents in the collection.", func(s *index.Stats) int64 { return s.Documents }),
	gauge("table_bytes", "Memory of the keys.", func(s *index.Stats) int64 { return s.TableBytes }),
	gauge("slot_bytes", "Memory of what else is held of each document.", func(s *index.Stats) int64 { return s.SlotBytes }),
	gauge("store_bytes", "Documents, in memory or on disk.", func(s *index.Stats) int64 { return s.StoreBytes }),
}

func (m *indexMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, metric := range indexMetricList {
		to <- metric.desc
	}
}

func (m *indexMetrics) Collect(to chan<- prometheus.Metric) {
	s := m.x.Stats()
	for _, metric := range indexMetricList {
		to <- prometheus.MustNewConstMetric(metric.desc, metric.kind, metric.value(&s))
	}
}

// streamMetrics are the numbers of a stream that its index does not know.
type streamMetrics struct{ counts *stream.Counts }

var (
	skippedRecords  = prometheus.NewDesc("alike_skipped_total", "Records that could not be used, by the kind of problem.", []string{"kind"}, nil)
	replayedRecords = prometheus.NewDesc("alike_replayed_total", "Records at the beginning that an earlier process had read.", nil, nil)
)

func (m *streamMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- skippedRecords
	to <- replayedRecords
}

func (m *streamMetrics) Collect(to chan<- prometheus.Metric) {
	for kind, n := range m.counts.Skipped() {
		to <- prometheus.MustNewConstMetric(skippedRecords, prometheus.CounterValue, float64(n), kind)
	}
	to <- prometheus.MustNewConstMetric(replayedRecords, prometheus.CounterValue, float64(m.counts.Replayed()))
}
