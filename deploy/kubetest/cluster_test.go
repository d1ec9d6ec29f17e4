package kubetest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tokens of the test.
const (
	readToken  = "read-0123456789abcdef"
	writeToken = "write-0123456789abcdef"
)

// hasty has an autoscaler act within seconds.
const hasty = `behavior:
      scaleUp: {stabilizationWindowSeconds: 0, policies: [{type: Percent, value: 100, periodSeconds: 5}]}
      scaleDown: {stabilizationWindowSeconds: 10, policies: [{type: Percent, value: 100, periodSeconds: 5}]}`

// values are those of the test: pods of a twentieth of a processor each, and a hasty autoscaler.
const values = `
tokens: {secret: keys}
drainSeconds: 3
stateless:
  autoscaling:
    minReplicas: 2
    maxReplicas: 6
    cpu: 60
    ` + hasty + `
  resources: {requests: {cpu: 50m}, limits: {cpu: 50m}}
monitoring:
  serviceMonitor: {enabled: true}
  rules: {enabled: true}
  dashboard: {enabled: true}
`

const (
	statelessName   = "alike-stateless"
	collectionsName = "alike-collections"
)

// A scene is a cluster in which the chart is installed, with a proxy before each of its services.
type scene struct {
	*testing.T
	*cluster
	begun                  time.Time
	nodes                  []*node
	stateless, collections *proxy
	statelessURL, dataURL  string
	values                 string // file of the chart's values
}

// say tells what has happened, with the seconds since the start.
func (s *scene) say(format string, args ...any) {
	s.Helper()
	fmt.Printf("%6.1f s  %s\n", time.Since(s.begun).Seconds(), fmt.Sprintf(format, args...))
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// newScene starts it. All ends with the test.
func newScene(t *testing.T, ctx context.Context) *scene {
	s := &scene{T: t, begun: time.Now()}
	dir := t.TempDir()
	var err error
	s.cluster, err = startCluster(ctx, os.Getenv("KUBETEST_PARTS"), dir)
	s.must(err)
	t.Cleanup(s.cluster.stop)
	s.say("etcd, kube-apiserver, kube-controller-manager and kube-scheduler run")
	running, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	t.Cleanup(func() { stop(); group.Wait() })
	r := &runtime{bundle: os.Getenv("KUBETEST_BUNDLE"), dir: filepath.Join(dir, "containers")}
	for _, name := range []string{"node-a", "node-b"} {
		n, err := newNode(ctx, s.api, name, r, func(format string, args ...any) { s.say(format, args...) })
		s.must(err)
		s.nodes = append(s.nodes, n)
		group.Go(func() { n.run(running) })
	}
	metrics := metricsServer(s.nodes)
	t.Cleanup(metrics.Close)
	s.must(serveMetrics(ctx, s.api, metrics.Listener.Addr().String()))
	for _, name := range strings.Fields(os.Getenv("KUBETEST_CRDS")) {
		content, err := os.ReadFile(name)
		s.must(err)
		_, plural, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".yaml"), "_")
		s.must(s.apply(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+plural+".monitoring.coreos.com", content, false))
	}
	s.stateless, s.collections = newProxy(statelessName), newProxy(collectionsName)
	for p, url := range map[*proxy]*string{s.stateless: &s.statelessURL, s.collections: &s.dataURL} {
		server := httptest.NewServer(p)
		t.Cleanup(server.Close)
		*url = server.URL
		group.Go(func() {
			if err := p.follow(running, s.api); err != nil && running.Err() == nil {
				t.Error(err)
			}
		})
	}
	return s
}

// addVolume makes a volume that a claim may take.
func (s *scene) addVolume(ctx context.Context, name string) {
	folder := filepath.Join(s.dir, name)
	s.must(os.Mkdir(folder, 0o700))
	s.must(s.post(ctx, "/api/v1/persistentvolumes", core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: name},
		Spec: core.PersistentVolumeSpec{
			Capacity: core.ResourceList{"storage": resource.MustParse("20Gi")}, AccessModes: []core.PersistentVolumeAccessMode{core.ReadWriteOnce},
			PersistentVolumeSource: core.PersistentVolumeSource{HostPath: &core.HostPathVolumeSource{Path: folder}},
		},
	}))
}

// installChart installs the chart, holds the server to refusing what is misspelt, and waits for so many pods.
func (s *scene) installChart(ctx context.Context, values string, stateless, collections int) {
	s.must(s.post(ctx, groups["Secret"], core.Secret{ObjectMeta: meta.ObjectMeta{Name: "keys"}, StringData: map[string]string{
		"stateless": readToken + " read *\n", "collections": writeToken + " admin *\n", "metrics": readToken,
	}}))
	s.values = filepath.Join(s.dir, "values.yaml")
	s.must(os.WriteFile(s.values, []byte(values), 0o600))
	_, err := s.helm(ctx, "lint", "--strict", "--values", s.values, chartFolder)
	s.must(err)
	all, err := s.manifests(ctx, s.values)
	s.must(err)
	// The kinds of the Prometheus operator are there a moment after they were made.
	s.must(until(ctx, time.Minute, "the chart is taken", func() error { return s.taken(ctx, all) }))
	wrong, specs := 0, 0
	for _, m := range all {
		if strings.HasPrefix(m.path, groups["ConfigMap"]) { // the dashboard, which has no fields of its own
			continue
		}
		specs++
		m.content = []byte(strings.Replace(string(m.content), "spec:\n", "spec:\n  misspelt: 1\n", 1))
		if err := s.apply(ctx, m.path, m.content, true); err != nil && strings.Contains(err.Error(), "misspelt") {
			wrong++
		}
	}
	if wrong != specs {
		s.Errorf("%d of %d objects are refused when they are misspelt", wrong, specs)
	}
	_, err = s.helm(ctx, "install", release, chartFolder, "--values", s.values)
	s.must(err)
	s.say("helm install: %d objects of the chart taken with fieldValidation=Strict, %d refused with a misspelt field", len(all), wrong)
	s.must(until(ctx, 3*time.Minute, "pods are ready", func() error { return s.areReady(stateless, collections) }))
	s.say("%d stateless pods and %d of collections are ready", stateless, collections)
}

func (s *scene) areReady(stateless, collections int) error {
	if a, b := s.stateless.ready(), s.collections.ready(); a != stateless || b != collections {
		return fmt.Errorf("%d and %d endpoints are ready", a, b)
	}
	return nil
}

// limit sets how many pods an autoscaler may have, and waits until there are as many as it says, unless ready is 0.
func (s *scene) limit(ctx context.Context, p *proxy, least, most, ready int) {
	s.must(s.patch(ctx, pathOf("HorizontalPodAutoscaler", p.service), map[string]any{"spec": map[string]int{"minReplicas": least, "maxReplicas": most}}))
	if ready > 0 {
		s.must(until(ctx, 2*time.Minute, fmt.Sprintf("%d pods", ready), func() error {
			if n := p.ready(); n != ready {
				return fmt.Errorf("%d endpoints are ready", n)
			}
			return nil
		}))
	}
}

// rescales returns what the autoscaler says it has done.
func (s *scene) rescales(ctx context.Context) (messages []string) {
	events, err := get[core.EventList](ctx, s.api, groups["Event"])
	s.must(err)
	for _, e := range events.Items {
		if e.Reason == "SuccessfulRescale" && e.InvolvedObject.Kind == "HorizontalPodAutoscaler" {
			messages = append(messages, e.Message)
		}
	}
	return messages
}

func (s *scene) autoscaler(ctx context.Context) autoscaling.HorizontalPodAutoscaler {
	h, err := get[autoscaling.HorizontalPodAutoscaler](ctx, s.api, pathOf("HorizontalPodAutoscaler", statelessName))
	s.must(err)
	return h
}

// podsOn returns the pods of a component on a node.
func (s *scene) podsOn(ctx context.Context, node, component string) (on []core.Pod) {
	list, err := get[core.PodList](ctx, s.api, groups["Pod"]+"?labelSelector=app.kubernetes.io/component%3D"+component)
	s.must(err)
	for _, pod := range list.Items {
		if node == "" || pod.Spec.NodeName == node {
			on = append(on, pod)
		}
	}
	return on
}

// drain takes all pods of a component from a node, as kubectl drain does: by evictions, which a budget may put off. It
// returns how many they were.
func (s *scene) drain(ctx context.Context, node, component string) int {
	s.cordon(ctx, node, true)
	pods := slices.DeleteFunc(s.podsOn(ctx, node, component), func(pod core.Pod) bool { return pod.DeletionTimestamp != nil })
	for _, pod := range pods {
		s.must(until(ctx, 2*time.Minute, "eviction", func() error {
			return s.post(ctx, pathOf("Pod", pod.Name)+"/eviction", policy.Eviction{TypeMeta: meta.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"}, ObjectMeta: meta.ObjectMeta{Name: pod.Name, Namespace: namespace}})
		}))
	}
	s.must(until(ctx, 2*time.Minute, "the node is empty", func() error {
		if n := len(s.podsOn(ctx, node, component)); n > 0 {
			return fmt.Errorf("%d pods are left", n)
		}
		return nil
	}))
	return len(pods)
}

func (s *scene) cordon(ctx context.Context, node string, is bool) {
	s.must(s.patch(ctx, "/api/v1/nodes/"+node, map[string]any{"spec": map[string]bool{"unschedulable": is}}))
}

// limited returns a context for a test that starts a cluster, unless nobody asked for it.
func limited(t *testing.T) context.Context {
	if os.Getenv("KUBETEST_PARTS") == "" {
		t.Skip("starts a cluster, as root and for ten minutes: run.sh asks for it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	t.Cleanup(cancel)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // what runs is ended first
	t.Cleanup(stop)
	return ctx
}

func TestCluster(t *testing.T) {
	ctx := limited(t)
	s := newScene(t, ctx)
	s.addVolume(ctx, "volume")
	s.installChart(ctx, values, 2, 1)
	s.podsAddUp(ctx)
	s.loadScales(ctx)
	s.collectionsMove(ctx)
	if answer, err := http.Post(s.statelessURL+"/v1/sketch", "application/json", strings.NewReader(`{"text":"a"}`)); err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %v, %v", answer, err)
	}
}
