package kubetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apps "k8s.io/api/apps/v1"
)

// clients is how many ask at once under load.
const clients = 24

// settle is what a measurement waits for first, and span how long it takes.
const (
	settle = 3 * time.Second
	span   = 10 * time.Second
)

// podsAddUp measures answers a second of 1, 2 and 4 pods of equal quota.
func (s *scene) podsAddUp(ctx context.Context) {
	s.addUp(ctx, s.stateless, "pods", func(during context.Context) *seen {
		l, err := newLoad(s.statelessURL, readToken)
		s.must(err)
		l.run(during, clients, 0)
		return &l.seen
	})
}

// addUp measures answers a second of 1, 2 and 4 pods; run puts them under load until its context ends.
func (s *scene) addUp(ctx context.Context, of *proxy, what string, run func(ctx context.Context) *seen) {
	var one float64
	for _, pods := range []int{1, 2, 4} {
		s.limit(ctx, of, pods, pods, pods)
		during, stop := context.WithTimeout(ctx, settle+span)
		begun := time.Now()
		f := run(during).between(begun.Add(settle), begun.Add(settle+span))
		stop()
		if pods == 1 {
			one = f.second
		}
		s.say("%d %s, 0.05 processors each: %v, %.2f times one", pods, what, f, f.second/one)
		if f.failed > 0 {
			s.Errorf("%d requests failed: %v", f.failed, f.fault)
		}
	}
}

// loadScales has load come, pods be replaced and moved under it, and load go.
func (s *scene) loadScales(ctx context.Context) {
	s.limit(ctx, s.stateless, 2, 2, 2)
	s.limit(ctx, s.stateless, 2, 6, 0)
	l, err := newLoad(s.statelessURL, readToken)
	s.must(err)
	before := len(s.rescales(ctx))
	var group sync.WaitGroup
	loaded, less := context.WithCancel(ctx)
	defer less()
	begun := time.Now()
	group.Go(func() { l.run(loaded, clients, 0) })
	highest := 0
	s.must(until(ctx, 3*time.Minute, "the autoscaler has added pods", func() error {
		if n := s.stateless.ready(); n != highest {
			if highest == 2 {
				s.say("load with 2 pods: %v", l.between(begun, time.Now()))
			}
			highest = n
			s.say("%d pods are ready", n)
		}
		return s.areReady(6, 1)
	}))
	few := l.between(begun, begun.Add(5*time.Second))
	time.Sleep(settle)
	from := time.Now()
	time.Sleep(span)
	many := l.between(from, time.Now())
	s.say("load with 2 pods, first 5 s: %v", few)
	s.say("load with 6 pods: %v", many)
	if many.second < 1.5*few.second || many.median >= few.median { // the 99th percentile of 5 s is told only
		s.Errorf("more pods did not answer more, sooner")
	}
	for _, message := range s.rescales(ctx)[before:] {
		s.say("autoscaler: %s", message)
	}

	s.during(&l.seen, "helm upgrade", func() { s.roll(ctx, "stateless") })
	s.during(&l.seen, "node-a drained", func() {
		moved := s.drain(ctx, "node-a", "stateless")
		s.must(until(ctx, time.Minute, "pods are back", func() error { return s.areReady(6, 1) }))
		s.say("%d pods moved to node-b", moved)
		if moved == 0 || len(s.podsOn(ctx, "node-b", "stateless")) < 6 {
			s.Errorf("%d pods moved", moved)
		}
	})
	s.cordon(ctx, "node-a", false)

	less()
	group.Wait()
	s.say("load ends")
	light, end := context.WithCancel(ctx)
	defer end()
	group.Go(func() { l.run(light, 2, 100*time.Millisecond) })
	s.during(&l.seen, "back to 2 pods", func() {
		s.must(until(ctx, 4*time.Minute, "the autoscaler has removed pods", func() error {
			if n := len(s.podsOn(ctx, "", "stateless")); n != 2 {
				return fmt.Errorf("there are %d pods", n)
			}
			return s.areReady(2, 1)
		}))
	})
	end()
	group.Wait()
	messages := s.rescales(ctx)
	s.say("autoscaler: %s", messages[len(messages)-1])
	if all := strings.Join(messages[before:], "\n"); !strings.Contains(all, "cpu resource utilization (percentage of request) above target") {
		s.Errorf("the autoscaler had other reasons:\n%s", all)
	}
	whole := l.between(begun, time.Now())
	s.say("of %d requests in all %d were answered, %d failed", l.sent.Load(), whole.answers-whole.failed, whole.failed)
	if whole.failed > 0 || int64(whole.answers) != l.sent.Load() {
		s.Errorf("the first that failed: %v", whole.fault)
	}
}

// during tells what a load saw while something was done.
func (s *scene) during(l *seen, what string, do func()) {
	from := time.Now()
	do()
	f := l.between(from, time.Now())
	s.say("%s, %.0f s: %v", what, time.Since(from).Seconds(), f)
	if f.failed > 0 {
		s.Errorf("%s: %v", what, f.fault)
	}
}

// roll changes what the pods of a component are made from, and waits until all are new.
func (s *scene) roll(ctx context.Context, component string) {
	_, err := s.helm(ctx, "upgrade", release, chartFolder, "--values", s.values, "--set", component+".podAnnotations.revision=two")
	s.must(err)
	path := pathOf("Deployment", statelessName)
	if component == "collections" {
		path = pathOf("StatefulSet", collectionsName)
	}
	s.must(until(ctx, 4*time.Minute, "the update is rolled out", func() error {
		// Both kinds have these fields.
		d, err := get[apps.Deployment](ctx, s.api, path)
		if err != nil {
			return err
		}
		n := d.Status
		if n.ObservedGeneration < d.Generation || n.UpdatedReplicas != *d.Spec.Replicas || n.Replicas != n.UpdatedReplicas || n.AvailableReplicas != n.Replicas {
			return errors.New("old pods are left")
		}
		return nil
	}))
}
