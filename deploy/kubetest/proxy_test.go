package kubetest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	discovery "k8s.io/api/discovery/v1"
)

// A proxy sends requests to the ready endpoints of a service, one after the other. It tries none twice: what fails is
// seen.
type proxy struct {
	http.Handler
	service string
	mu      sync.Mutex
	slices  map[string][]string // addresses by the name of the slice
	all     atomic.Pointer[[]string]
	next    atomic.Uint64
}

func newProxy(service string) *proxy {
	p := &proxy{service: service, slices: map[string][]string{}}
	p.all.Store(new([]string))
	p.Handler = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"
			r.Out.URL.Host = ""
			if all := *p.all.Load(); len(all) > 0 {
				r.Out.URL.Host = all[p.next.Add(1)%uint64(len(all))]
			}
		},
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
			DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	return p
}

// follow keeps the endpoints as the API server tells, until the context ends.
func (p *proxy) follow(ctx context.Context, a *api) error {
	for ctx.Err() == nil {
		err := watch(ctx, a, groups["EndpointSlice"], func(kind string, s discovery.EndpointSlice) {
			if s.Labels[discovery.LabelServiceName] == p.service {
				p.take(kind, s)
			}
		})
		var status statusError
		if errors.As(err, &status) {
			return err
		}
	}
	return nil
}

func (p *proxy) take(kind string, s discovery.EndpointSlice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.slices, s.Name)
	if kind != "DELETED" {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready != nil && *e.Conditions.Ready {
				p.slices[s.Name] = append(p.slices[s.Name], net.JoinHostPort(e.Addresses[0], "8080"))
			}
		}
	}
	all := []string{}
	for _, addresses := range p.slices {
		all = append(all, addresses...)
	}
	slices.Sort(all)
	p.all.Store(&all)
}

// ready returns how many endpoints are ready.
func (p *proxy) ready() int { return len(*p.all.Load()) }
