package charttest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// everything turns on all that can be turned on.
const everything = `
tokens: {secret: keys}
image: {repository: registry.example/alike, digest: "sha256:0123456789012345678901234567890123456789012345678901234567890123"}
imagePullSecrets: [{name: pull}]
stateless:
  extraEnv: [{name: GOMEMLIMIT, value: 900MiB}]
  podAnnotations: {a: b}
  nodeSelector: {kubernetes.io/arch: amd64}
  tolerations: [{key: only, operator: Exists}]
collections:
  storage: {class: fast, accessModes: [ReadWriteOncePod]}
monitoring:
  serviceMonitor: {enabled: true, labels: {release: prometheus}}
  rules: {enabled: true, labels: {release: prometheus}}
  dashboard: {enabled: true}
`

// replicas share a log.
const replicas = `
tokens: {secret: keys}
collections:
  log: "nats://$(PASSWORD)@nats:4222/alike"
  snapshots: s3://bucket/snapshots
  extraEnv: [{name: PASSWORD, value: secret}]
`

// kinds are the objects of Kubernetes itself. Those of the Prometheus operator are checked by ../kubetest.
var kinds = map[string]func() any{
	"Deployment":              func() any { return new(apps.Deployment) },
	"StatefulSet":             func() any { return new(apps.StatefulSet) },
	"Service":                 func() any { return new(core.Service) },
	"ConfigMap":               func() any { return new(core.ConfigMap) },
	"HorizontalPodAutoscaler": func() any { return new(autoscaling.HorizontalPodAutoscaler) },
	"PodDisruptionBudget":     func() any { return new(policy.PodDisruptionBudget) },
	"NetworkPolicy":           func() any { return new(networking.NetworkPolicy) },
}

// install returns what the chart installs, as Kubernetes reads it: a field that it does not know is an error.
func install(t *testing.T, values string) (objects []any) {
	t.Helper()
	rendered, err := render(t, values)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range rendered {
		var about meta.TypeMeta
		if err := yaml.Unmarshal(text, &about); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(about.APIVersion, "monitoring.coreos.com/") {
			continue
		}
		newObject, ok := kinds[about.Kind]
		if !ok {
			t.Fatalf("kind %q is none that is known here", about.Kind)
		}
		object := newObject()
		if err := yaml.UnmarshalStrict(text, object); err != nil {
			t.Errorf("%s: %v\n%s", about.Kind, err, text)
		}
		objects = append(objects, object)
	}
	return objects
}

func of[T any](objects []any) (those []*T) {
	for _, object := range objects {
		if o, ok := object.(*T); ok {
			those = append(those, o)
		}
	}
	return those
}

// pods returns the pods that objects make, by the name of what makes them.
func pods(objects []any) map[string]core.PodTemplateSpec {
	made := map[string]core.PodTemplateSpec{}
	for _, d := range of[apps.Deployment](objects) {
		made[d.Name] = d.Spec.Template
	}
	for _, s := range of[apps.StatefulSet](objects) {
		made[s.Name] = s.Spec.Template
	}
	return made
}

func TestTheChartInstallsWhatItsValuesSay(t *testing.T) {
	for _, c := range []struct {
		values string
		want   int
	}{
		{"tokens: {secret: keys}", 7},
		{"tokens: {insecure: true}", 7},
		{"tokens: {secret: keys}\ncollections: {enabled: false}", 5},
		{"tokens: {secret: keys}\nstateless: {enabled: false}\nnetworkPolicy: {enabled: false}", 2},
		{everything, 8},
		{replicas, 9},
	} {
		if objects := install(t, c.values); len(objects) != c.want {
			t.Errorf("%s: %d objects, want %d", c.values, len(objects), c.want)
		}
	}
	if _, err := render(t, ""); err == nil || !strings.Contains(err.Error(), "tokens.secret names no Secret") {
		t.Errorf("without tokens: %v", err)
	}
}

// Replicas of a log are as many as the autoscaler says, begin at once, and may ask the servers of the log; one pod without
// a log is one.
func TestReplicasFollowALog(t *testing.T) {
	objects := install(t, replicas)
	set := of[apps.StatefulSet](objects)[0]
	if set.Spec.Replicas != nil || set.Spec.PodManagementPolicy != apps.ParallelPodManagement {
		t.Errorf("%+v", set.Spec)
	}
	args := set.Spec.Template.Spec.Containers[0].Args
	for _, want := range []string{"--log=nats://$(PASSWORD)@nats:4222/alike", "--snapshots=s3://bucket/snapshots", "--data=/data"} {
		if !slices.Contains(args, want) {
			t.Errorf("%q lacks %s", args, want)
		}
	}
	scaled := map[string]string{}
	for _, h := range of[autoscaling.HorizontalPodAutoscaler](objects) {
		scaled[h.Spec.ScaleTargetRef.Name] = h.Spec.ScaleTargetRef.Kind
	}
	if scaled[set.Name] != "StatefulSet" || len(of[policy.PodDisruptionBudget](objects)) != 2 {
		t.Errorf("%q", scaled)
	}
	if p := of[networking.NetworkPolicy](objects)[0]; len(p.Spec.Egress) != 1 {
		t.Errorf("%+v", p.Spec.Egress)
	}
	alone := of[apps.StatefulSet](install(t, everything))[0]
	if *alone.Spec.Replicas != 1 || !slices.Contains(alone.Spec.Template.Spec.Containers[0].Args, "--durability=sync") {
		t.Errorf("%+v", alone.Spec)
	}
}

// No pod may do more than it must, and a release without tokens is one that was asked for.
func TestPodsHaveNoRightsTheyDoNotNeed(t *testing.T) {
	for _, values := range []string{everything, replicas, "tokens: {insecure: true}"} {
		for name, pod := range pods(install(t, values)) {
			s, c := pod.Spec.SecurityContext, pod.Spec.Containers[0]
			if len(pod.Spec.Containers) != 1 || !*s.RunAsNonRoot || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault ||
				*pod.Spec.AutomountServiceAccountToken || pod.Spec.HostNetwork {
				t.Errorf("%s: %+v", name, pod.Spec)
			}
			if p := c.SecurityContext; !*p.ReadOnlyRootFilesystem || *p.AllowPrivilegeEscalation || p.Privileged != nil ||
				!slices.Equal(p.Capabilities.Drop, []core.Capability{"ALL"}) || len(p.Capabilities.Add) > 0 {
				t.Errorf("%s: %+v", name, p)
			}
			if insecure := slices.Contains(c.Args, "--insecure"); insecure != strings.Contains(values, "insecure: true") {
				t.Errorf("%s: %q", name, c.Args)
			}
			if stateless := slices.Contains(c.Args, "--stateless"); stateless == strings.HasSuffix(name, "-collections") {
				t.Errorf("%s: %q", name, c.Args)
			}
			if c.ReadinessProbe == nil || c.LivenessProbe == nil || c.StartupProbe == nil || c.Resources.Requests.Cpu().IsZero() || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s: %+v", name, c)
			}
			if drain := c.Lifecycle.PreStop.Sleep.Seconds; *pod.Spec.TerminationGracePeriodSeconds < drain+25 {
				t.Errorf("%s: is killed before it has ended", name)
			}
		}
	}
}

// What chooses pods chooses those of one component, and what names an object names one that is there.
func TestObjectsFindEachOther(t *testing.T) {
	objects := install(t, everything)
	made := pods(objects)
	one := func(what string, selector labels.Selector) string {
		t.Helper()
		var chosen []string
		for name, pod := range made {
			if selector.Matches(labels.Set(pod.Labels)) {
				chosen = append(chosen, name)
			}
		}
		if len(chosen) != 1 {
			t.Errorf("%s chooses the pods of %q", what, chosen)
			return ""
		}
		return chosen[0]
	}
	selected := func(s *meta.LabelSelector) labels.Selector {
		selector, err := meta.LabelSelectorAsSelector(s)
		if err != nil {
			t.Fatal(err)
		}
		return selector
	}
	for _, s := range of[core.Service](objects) {
		name := one("Service "+s.Name, labels.SelectorFromSet(s.Spec.Selector))
		if port := s.Spec.Ports[0].TargetPort.StrVal; name != s.Name || made[name].Spec.Containers[0].Ports[0].Name != port {
			t.Errorf("Service %s is for the pods of %s, port %s", s.Name, name, port)
		}
	}
	for _, d := range of[apps.Deployment](objects) {
		one("Deployment "+d.Name, selected(d.Spec.Selector))
		if d.Spec.Replicas != nil {
			t.Errorf("Deployment %s sets the number of pods, which is the autoscaler's", d.Name)
		}
	}
	for _, s := range of[apps.StatefulSet](objects) {
		one("StatefulSet "+s.Name, selected(s.Spec.Selector))
		if *s.Spec.Replicas != 1 || s.Spec.VolumeClaimTemplates[0].Name != made[s.Name].Spec.Containers[0].VolumeMounts[1].Name {
			t.Errorf("StatefulSet %s: %+v", s.Name, s.Spec)
		}
	}
	for _, p := range of[policy.PodDisruptionBudget](objects) {
		one("PodDisruptionBudget "+p.Name, selected(p.Spec.Selector))
	}
	for _, h := range of[autoscaling.HorizontalPodAutoscaler](objects) {
		if _, ok := made[h.Spec.ScaleTargetRef.Name]; !ok {
			t.Errorf("HorizontalPodAutoscaler %s is for %s", h.Name, h.Spec.ScaleTargetRef.Name)
		}
	}
	n := of[networking.NetworkPolicy](objects)[0]
	for name, pod := range made {
		if !selected(&n.Spec.PodSelector).Matches(labels.Set(pod.Labels)) || len(n.Spec.PolicyTypes) != 2 || len(n.Spec.Egress) > 0 {
			t.Errorf("the network policy leaves out %s", name)
		}
	}
}

// schemaOf returns the schema of the chart's values.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestValuesAreHeldToTheirSchema(t *testing.T) {
	schema, defaults := schemaOf(t), readYAML(t, "values.yaml")
	validate := func(values string) error {
		t.Helper()
		var others map[string]any
		if err := yaml.Unmarshal([]byte(values), &others); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(merge(defaults, others))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	for _, good := range []string{"", everything, replicas, "global: {x: 1}"} {
		if err := validate(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"replicas: 3", "tokens: {Secret: keys}", "image: {digest: latest}", "collections: {replicas: 2}", "collections: {log: nats}", "collections: {durability: memory}",
		"collections: {storage: {size: much}}", "collections: {storage: {accessModes: [ReadOnlyMany]}}", "stateless: {autoscaling: {cpu: 0}}",
		"stateless: {autoscaling: {cpu: 70%}}", "stateless: {autoscaling: {minReplicas: 0}}", "stateless: {resources: {requests: null}}",
		"drainSeconds: 0", "networkPolicy: {from: []}", "monitoring: {serviceMonitor: {interval: often}}", "monitoring: {alerts: {}}",
	} {
		if validate(bad) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// Every value of the schema has a default, and every default a place in the schema: what is written in values.yaml is
// all that there is.
func TestDefaultsAndSchemaNameTheSame(t *testing.T) {
	var compare func(path string, schema *jsonschema.Schema, value any)
	compare = func(path string, schema *jsonschema.Schema, value any) {
		values, isMap := value.(map[string]any)
		if !isMap || schema.AdditionalProperties != any(false) {
			return
		}
		for name, of := range schema.Properties {
			if _, ok := values[name]; !ok && path+name != "global" {
				t.Errorf("%s%s has no default", path, name)
			}
			compare(path+name+".", of, values[name])
		}
		if len(values) > len(schema.Properties) {
			t.Errorf("%s: %v, but the schema has %v", path, reflect.ValueOf(values).MapKeys(), reflect.ValueOf(schema.Properties).MapKeys())
		}
	}
	compare("", schemaOf(t), readYAML(t, "values.yaml"))
}
