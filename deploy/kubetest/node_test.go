package kubetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// A node runs the pods that are bound to it.
type node struct {
	api      *api
	name     string
	runtime  *runtime
	prober   *http.Client
	log      func(format string, args ...any)
	mu       sync.Mutex
	workers  map[types.UID]*worker
	vanished uidSet // pods that the API server does not know any more
}

// A uidSet has ids of pods. Any number of goroutines use it.
type uidSet struct{ m sync.Map }

func (s *uidSet) add(id types.UID)           { s.m.Store(id, true) }
func (s *uidSet) contains(id types.UID) bool { _, ok := s.m.Load(id); return ok }

// addresses counts the addresses that pods have had.
var addresses atomic.Int32

// newNode registers a node, which is in a zone of its own.
func newNode(ctx context.Context, a *api, name string, r *runtime, log func(string, ...any)) (*node, error) {
	has := core.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("50")}
	about := core.Node{
		TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "zone-of-" + name}},
		Status:     core.NodeStatus{Capacity: has, Allocatable: has, Conditions: []core.NodeCondition{{Type: core.NodeReady, Status: core.ConditionTrue, Reason: "Kubetest"}}},
	}
	n := &node{api: a, name: name, runtime: r, log: log, workers: map[types.UID]*worker{}}
	n.prober = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return n, a.post(ctx, "/api/v1/nodes", about)
}

// run runs pods until the context ends, and returns when nothing is left of them.
func (n *node) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := n.look(ctx); err != nil && ctx.Err() == nil {
			n.log("node %s: %v", n.name, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	for _, w := range n.running() {
		<-w.ended
	}
}

func (n *node) running() (all []*worker) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.workers {
		all = append(all, w)
	}
	return all
}

// look begins and ends pods as the API server says.
func (n *node) look(ctx context.Context) error {
	list, err := get[core.PodList](ctx, n.api, "/api/v1/pods?fieldSelector="+url.QueryEscape("spec.nodeName="+n.name))
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	there := map[types.UID]bool{}
	for _, pod := range list.Items {
		there[pod.UID] = true
		w := n.workers[pod.UID]
		if w == nil {
			number := addresses.Add(1)
			w = &worker{
				node: n, pod: pod, network: fmt.Sprintf("alike%d", number), address: fmt.Sprintf("10.231.%d.%d", 1+number/200, 1+number%200),
				asked: make(chan time.Duration, 1), ended: make(chan struct{}),
			}
			n.workers[pod.UID] = w
			go w.work(ctx)
		}
		if pod.DeletionTimestamp != nil && w.pod.DeletionTimestamp == nil {
			w.pod.DeletionTimestamp = pod.DeletionTimestamp
			w.asked <- time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
		}
	}
	for id, w := range n.workers {
		select {
		case <-w.ended:
			if !there[id] {
				delete(n.workers, id)
			}
			continue
		default:
		}
		if !there[id] && !n.vanished.contains(id) {
			n.vanished.add(id)
			select {
			case w.asked <- 0:
			default: // it is ending
			}
		}
	}
	return nil
}

// metricsServer serves metrics.k8s.io with the CPU that the pods of nodes take, in TLS.
func metricsServer(nodes []*node) *httptest.Server {
	const group = "/apis/metrics.k8s.io/v1beta1"
	mux := http.NewServeMux()
	send := func(w http.ResponseWriter, value any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value) // who asks has gone
	}
	mux.HandleFunc("GET "+group, func(w http.ResponseWriter, _ *http.Request) {
		send(w, meta.APIResourceList{
			TypeMeta: meta.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "metrics.k8s.io/v1beta1",
			APIResources: []meta.APIResource{{Name: "pods", Kind: "PodMetrics", Namespaced: true, Verbs: meta.Verbs{"get", "list"}}},
		})
	})
	mux.HandleFunc("GET "+group+"/namespaces/"+namespace+"/pods", func(w http.ResponseWriter, r *http.Request) {
		selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		items := []any{}
		for _, n := range nodes {
			for _, worker := range n.running() {
				if worker.usage.Load() > 0 && selector.Matches(labels.Set(worker.pod.Labels)) {
					items = append(items, podMetrics(worker))
				}
			}
		}
		send(w, map[string]any{"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": map[string]any{}, "items": items})
	})
	return httptest.NewTLSServer(mux)
}

func podMetrics(w *worker) any {
	return map[string]any{
		"metadata":  map[string]any{"name": w.pod.Name, "namespace": w.pod.Namespace, "labels": w.pod.Labels},
		"timestamp": meta.Now(), "window": measureEvery.String(),
		"containers": []any{map[string]any{"name": "alike", "usage": map[string]string{"cpu": fmt.Sprintf("%dn", w.usage.Load()), "memory": "0"}}},
	}
}

// serveMetrics has the API server ask a server for metrics.k8s.io.
func serveMetrics(ctx context.Context, a *api, address string) error {
	port := address[strings.LastIndex(address, ":")+1:]
	var n int32
	if _, err := fmt.Sscan(port, &n); err != nil {
		return err
	}
	if err := a.post(ctx, groups["Service"], core.Service{
		ObjectMeta: meta.ObjectMeta{Name: "metrics"}, Spec: core.ServiceSpec{Type: core.ServiceTypeExternalName, ExternalName: "localhost"},
	}); err != nil {
		return err
	}
	if err := a.post(ctx, "/apis/apiregistration.k8s.io/v1/apiservices", map[string]any{
		"metadata": map[string]any{"name": "v1beta1.metrics.k8s.io"},
		"spec": map[string]any{
			"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true,
			"service": map[string]any{"name": "metrics", "namespace": namespace, "port": n},
		},
	}); err != nil {
		return err
	}
	return until(ctx, time.Minute, "metrics are served", func() error {
		return a.do(ctx, http.MethodGet, "/apis/metrics.k8s.io/v1beta1/namespaces/"+namespace+"/pods", "", nil, nil)
	})
}
