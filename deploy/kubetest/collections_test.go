package kubetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A writer adds documents to a collection, each again until it is acknowledged.
type writer struct {
	url    string
	client *http.Client
	texts  sync.Map // acknowledged, by id
	number atomic.Int64
	acked  atomic.Int64
	failed atomic.Int64 // requests without an answer, or with one that says to try again
}

func (w *writer) ask(ctx context.Context, method, path string, body any) (status int, answer string, err error) {
	content, err := json.Marshal(body)
	if err != nil {
		return 0, "", err
	}
	r, err := http.NewRequestWithContext(ctx, method, w.url+"/v1/collections/news"+path, bytes.NewReader(content))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+writeToken)
	got, err := w.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer got.Body.Close()
	out, err := io.ReadAll(got.Body)
	return got.StatusCode, string(out), err
}

// asked is an error unless a request was answered well, by an answer that has some text.
func asked(status int, answer string, err error, has string) error {
	if err == nil && (status != http.StatusOK || !strings.Contains(answer, has)) {
		err = fmt.Errorf("%d: %.200s", status, answer)
	}
	return err
}

// randomText returns a text that no other is like.
func randomText(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for range 50 {
		fmt.Fprintf(&b, "%x ", r.Uint32())
	}
	return b.String()
}

// run adds documents until the context ends.
func (w *writer) run(ctx context.Context, wrong func(format string, args ...any)) {
	for ctx.Err() == nil {
		n := w.number.Add(1)
		id, text := fmt.Sprint(n), randomText(uint64(n))
		for ctx.Err() == nil {
			status, answer, err := w.ask(ctx, http.MethodPost, "/check", map[string]string{"id": id, "text": text})
			if err == nil && status == http.StatusOK {
				if strings.TrimSpace(answer) != `{"new":true}` {
					wrong("document %s: %s", id, answer)
				}
				w.texts.Store(id, text)
				w.acked.Add(1)
				break
			}
			if err == nil && status < 500 {
				wrong("document %s: %d %s", id, status, answer)
			}
			w.failed.Add(1)
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// lost returns the acknowledged documents that are not there any more.
func (w *writer) lost(ctx context.Context) (lost []string) {
	var mu sync.Mutex
	var group sync.WaitGroup
	turns := make(chan struct{}, clients)
	w.texts.Range(func(id, text any) bool {
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			status, answer, err := w.ask(ctx, http.MethodGet, "/documents/"+id.(string), nil)
			if err != nil || status != http.StatusOK || !strings.Contains(answer, text.(string)) {
				mu.Lock()
				defer mu.Unlock()
				lost = append(lost, fmt.Sprintf("%s: %d %s %v", id, status, answer, err))
			}
		})
		return true
	})
	group.Wait()
	return lost
}

// collectionsMove has the pod of the collections killed, moved, and replaced by force, while documents are added.
func (s *scene) collectionsMove(ctx context.Context) {
	w := &writer{url: s.dataURL, client: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	if status, answer, err := w.ask(ctx, http.MethodPut, "", map[string]int{"ngram": 3}); err != nil || status != http.StatusCreated {
		s.Fatalf("%d %s %v", status, answer, err)
	}
	writing, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { w.run(writing, s.Errorf) })
	}
	// goesOn waits until more documents are acknowledged.
	goesOn := func(what string) {
		at, begun := w.acked.Load(), time.Now()
		s.must(until(ctx, 2*time.Minute, what, func() error {
			if n := w.acked.Load(); n < at+50 {
				return fmt.Errorf("%d documents are acknowledged", n)
			}
			return nil
		}))
		pods := s.podsOn(ctx, "", "collections")
		s.say("%s: goes on after %.1f s on %s; %d documents acknowledged, %d requests repeated", what, time.Since(begun).Seconds(), pods[0].Spec.NodeName, w.acked.Load(), w.failed.Load())
	}
	goesOn("documents are added")
	for _, n := range s.nodes {
		for _, worker := range n.running() {
			if c := worker.container.Load(); c != nil && worker.pod.Labels["app.kubernetes.io/component"] == "collections" {
				s.must(c.kill(syscall.SIGKILL))
			}
		}
	}
	goesOn("kill -9")
	from := s.podsOn(ctx, "", "collections")[0].Spec.NodeName
	s.drain(ctx, from, "collections")
	goesOn("its node drained")
	s.cordon(ctx, from, false)
	pod := s.podsOn(ctx, "", "collections")[0]
	s.cordon(ctx, pod.Spec.NodeName, true)
	s.must(s.remove(ctx, pathOf("Pod", pod.Name), ""))
	goesOn("removed by force")
	stop()
	group.Wait()
	lost := w.lost(ctx)
	s.say("of %d acknowledged documents %d are lost", w.acked.Load(), len(lost))
	if len(lost) > 0 {
		s.Errorf("the first: %s", lost[0])
	}
}
