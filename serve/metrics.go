package serve

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what /metrics shows. No label has an id or a piece of a text: routes, status codes and names of
// collections.
type metrics struct {
	handler  http.Handler
	requests *prometheus.HistogramVec
	shed     prometheus.Counter
	hot      map[*hotRoute]prometheus.Observer // of requests that got what they asked for
}

// Metrics answers what GET /metrics does, for an address of its own without tokens.
func (s *Server) Metrics() http.Handler { return s.metrics.handler }

func newMetrics(s *Server) *metrics {
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "alike_http_request_duration_seconds", Help: "Time from a request's header to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(100e-6, 2.5, 14),
		}, []string{"route", "code"}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "alike_http_requests_shed_total", Help: "Requests that were turned away before their body was read.",
		}),
	}
	m.hot = map[*hotRoute]prometheus.Observer{}
	for _, r := range slices.Concat(inCollection, beside) {
		m.hot[r] = m.requests.WithLabelValues(r.pattern, strconv.Itoa(http.StatusOK))
	}
	admitted := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "alike_http_admitted_ratio", Help: "Share of requests that is admitted, so that they do not wait too long for a processor: 1 is all.",
	}, s.gate.admitted)
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.shed, admitted, &collectionMetrics{s.store},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if s.store.machine != nil {
		registry.MustRegister(s.store.machine.metrics()...)
	}
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) observe(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// observeHot is observe of a hot route.
func (m *metrics) observeHot(of *hotRoute, status int, took time.Duration) {
	if status != http.StatusOK {
		m.observe(of.pattern, status, took)
		return
	}
	m.hot[of].Observe(took.Seconds())
}

// collectionMetrics are the numbers of collections as Prometheus collects them.
type collectionMetrics struct{ store *store }

// collectionMetric is a number of a collection.
type collectionMetric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(s *statistics) float64
}

func ofCollections(name, help string, kind prometheus.ValueType, value func(s *statistics) float64) collectionMetric {
	return collectionMetric{prometheus.NewDesc("alike_collection_"+name, help, []string{"collection"}, nil), kind, value}
}

var collectionMetricList = []collectionMetric{
	ofCollections("documents", "Documents in the collection.", prometheus.GaugeValue, func(s *statistics) float64 { return float64(s.Documents) }),
	ofCollections("memory_bytes", "Memory of keys, and of what else is held of each document.", prometheus.GaugeValue, func(s *statistics) float64 { return float64(s.Memory) }),
	ofCollections("store_bytes", "Size of the documents, in memory or on disk.", prometheus.GaugeValue, func(s *statistics) float64 { return float64(s.Store) }),
	ofCollections("read_only", "Whether a write has failed, so that nothing more is kept: 1 or 0.", prometheus.GaugeValue, func(s *statistics) float64 {
		if s.ReadOnly {
			return 1
		}
		return 0
	}),
	ofCollections("checked_total", "Documents that were checked.", prometheus.CounterValue, func(s *statistics) float64 { return float64(s.Checked) }),
	ofCollections("added_total", "Documents that were added.", prometheus.CounterValue, func(s *statistics) float64 { return float64(s.Added) }),
	ofCollections("duplicates_total", "Documents that were like one that was there.", prometheus.CounterValue, func(s *statistics) float64 { return float64(s.Duplicates) }),
	ofCollections("late_total", "Documents that came too late to be added.", prometheus.CounterValue, func(s *statistics) float64 { return float64(s.Late) }),
	ofCollections("expired_total", "Documents that have left the window.", prometheus.CounterValue, func(s *statistics) float64 { return float64(s.Expired) }),
	ofCollections("full_buckets_total", "Keys that documents did not get since their bucket was full.", prometheus.CounterValue, func(s *statistics) float64 { return float64(s.FullKeys) }),
}

// Describe implements prometheus.Collector.
func (m *collectionMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, metric := range collectionMetricList {
		to <- metric.desc
	}
}

// Collect implements prometheus.Collector.
func (m *collectionMetrics) Collect(to chan<- prometheus.Metric) {
	for _, name := range m.store.names() {
		c, done, err := m.store.use(name)
		if err != nil {
			continue // removed meanwhile
		}
		s := c.stats(m.store.durability)
		done()
		for _, metric := range collectionMetricList {
			to <- prometheus.MustNewConstMetric(metric.desc, metric.kind, metric.value(&s), name)
		}
	}
}
