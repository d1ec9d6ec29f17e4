package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what /metrics shows. No label has an id or a piece of a text: routes, status codes and names of
// collections.
type metrics struct {
	handler  http.Handler
	requests *prometheus.HistogramVec
	shed     prometheus.Counter
	hot      map[string]prometheus.Observer // by patterns of hot routes, of requests that got what they asked for
}

func (m *metrics) observe(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// observeHot is observe of a hot route.
func (m *metrics) observeHot(pattern string, status int, took time.Duration) {
	if status != http.StatusOK {
		m.observe(pattern, status, took)
		return
	}
	m.hot[pattern].Observe(took.Seconds())
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
