package kubetest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// An api asks an API server.
type api struct {
	url, token string
	client     *http.Client
}

func newAPI(url, token string) *api {
	return &api{url, token, &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 16,
	}}}
}

// A statusError is an answer that is none.
type statusError struct {
	code int
	body string
}

func (e statusError) Error() string { return fmt.Sprintf("%d: %s", e.code, e.body) }

// open sends a request and returns its answer if it is a good one.
func (a *api) open(ctx context.Context, method, path, kind string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	r.Header.Set("Content-Type", kind)
	answer, err := a.client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		defer answer.Body.Close()
		out, err := io.ReadAll(answer.Body)
		var status struct{ Message string }
		if json.Unmarshal(out, &status) == nil && status.Message != "" {
			out = []byte(status.Message)
		}
		return nil, fmt.Errorf("%s %s: %w", method, path, statusErrorOr(answer.StatusCode, string(out), err))
	}
	return answer, nil
}

func statusErrorOr(code int, body string, err error) error {
	if err != nil {
		return err
	}
	return statusError{code, body}
}

// do sends a body of some type and reads the answer into out, unless it is nil.
func (a *api) do(ctx context.Context, method, path, kind string, body []byte, out any) error {
	answer, err := a.open(ctx, method, path, kind, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(content, out)
}

// get reads an object.
func get[T any](ctx context.Context, a *api, path string) (object T, err error) {
	err = a.do(ctx, http.MethodGet, path, "", nil, &object)
	return object, err
}

// post makes an object.
func (a *api) post(ctx context.Context, path string, object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return a.do(ctx, http.MethodPost, path, "application/json", body, nil)
}

// patch changes an object by a strategic merge.
func (a *api) patch(ctx context.Context, path string, change any) error {
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return a.do(ctx, http.MethodPatch, path, "application/strategic-merge-patch+json", body, nil)
}

// remove deletes an object at once, if it is still the one with this uid; "" is any.
func (a *api) remove(ctx context.Context, path string, uid types.UID) error {
	body := `{"gracePeriodSeconds":0}`
	if uid != "" {
		body = fmt.Sprintf(`{"gracePeriodSeconds":0,"preconditions":{"uid":%q}}`, uid)
	}
	return a.do(ctx, http.MethodDelete, path, "application/json", []byte(body), nil)
}

// apply makes an object or changes it to what a manifest says, by the server. A field that the server does not know
// is an error. With dry nothing is changed.
func (a *api) apply(ctx context.Context, path string, manifest []byte, dry bool) error {
	q := url.Values{"fieldManager": {"kubetest"}, "force": {"true"}, "fieldValidation": {"Strict"}}
	if dry {
		q.Set("dryRun", "All")
	}
	return a.do(ctx, http.MethodPatch, path+"?"+q.Encode(), "application/apply-patch+yaml", manifest, nil)
}

// watch calls use for every change of objects of a path, until the context ends or the server ends the stream.
func watch[T any](ctx context.Context, a *api, path string, use func(kind string, object T)) error {
	answer, err := a.open(ctx, http.MethodGet, path+"?watch=true", "", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	d := json.NewDecoder(answer.Body)
	for {
		var event struct {
			Type   string
			Object T
		}
		if err := d.Decode(&event); err != nil {
			return err
		}
		use(event.Type, event.Object)
	}
}

// namespace is where the chart is installed.
const namespace = "default"

// groups have the path of a kind's objects in the namespace.
var groups = map[string]string{
	"Service": "/api/v1/namespaces/default/services", "Secret": "/api/v1/namespaces/default/secrets", "ConfigMap": "/api/v1/namespaces/default/configmaps",
	"Pod":        "/api/v1/namespaces/default/pods",
	"Deployment": "/apis/apps/v1/namespaces/default/deployments", "StatefulSet": "/apis/apps/v1/namespaces/default/statefulsets",
	"HorizontalPodAutoscaler": "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
	"PodDisruptionBudget":     "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
	"NetworkPolicy":           "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
	"ServiceMonitor":          "/apis/monitoring.coreos.com/v1/namespaces/default/servicemonitors",
	"PrometheusRule":          "/apis/monitoring.coreos.com/v1/namespaces/default/prometheusrules",
	"EndpointSlice":           "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
	"Event":                   "/api/v1/namespaces/default/events",
}

func pathOf(kind, name string) string { return strings.Join([]string{groups[kind], name}, "/") }
