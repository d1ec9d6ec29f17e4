package kubetest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"
)

// replicaValues are of replicas of a twentieth of a processor each, and a hasty autoscaler.
const replicaValues = `
tokens: {secret: keys}
drainSeconds: 3
stateless: {enabled: false}
collections:
  log: %s
  autoscaling:
    minReplicas: 2
    maxReplicas: 4
    cpu: 60
    ` + hasty + `
  resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {cpu: 50m}}
`

// TestReplicas has replicas of one log come and go, be replaced, moved and cut from the log's leader, while documents
// are added and searched.
func TestReplicas(t *testing.T) {
	ctx := limited(t)
	s := newScene(t, ctx)
	log, err := startNATS(s.cluster, os.Getenv("KUBETEST_NATS"))
	s.must(err)
	s.must(log.ready(ctx))
	for i := range 4 {
		s.addVolume(ctx, fmt.Sprint("volume-", i))
	}
	s.installChart(ctx, fmt.Sprintf(replicaValues, log.url()), 0, 2)
	a := newAsker(s.dataURL)
	if status, answer, err := a.ask(ctx, http.MethodPut, "", map[string]int{"ngram": 3}); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s %v", status, answer, err)
	}
	s.replicasAddUp(ctx, a)
	s.replicasMove(ctx, a, log)
	lost := a.lost(ctx)
	s.say("of %d acknowledged documents %d are lost", a.acked.Load(), len(lost))
	if len(lost) > 0 {
		s.Errorf("the first: %s", lost[0])
	}
}

// many clients keep four replicas busy, of which each waits for most of a tenth of a second when its quota is used up.
const many = 48

// replicasAddUp measures checks and searches a second of 1, 2 and 4 replicas of equal quota.
func (s *scene) replicasAddUp(ctx context.Context, a *asker) {
	for _, what := range []struct {
		name string
		ask  func(ctx context.Context)
	}{{"checks", a.check}, {"searches", a.search}} {
		s.addUp(ctx, s.collections, "replicas, "+what.name, func(during context.Context) *seen {
			a.run(during, many, 0, what.ask)
			return &a.seen
		})
	}
}

// replicasMove has load come, replicas be replaced, moved and be without the log's leader under it, and load go.
func (s *scene) replicasMove(ctx context.Context, a *asker, log *natsServers) {
	s.limit(ctx, s.collections, 2, 2, 2)
	s.limit(ctx, s.collections, 2, 4, 0)
	var group sync.WaitGroup
	loaded, less := context.WithCancel(ctx)
	defer less()
	begun := time.Now()
	group.Go(func() { a.run(loaded, clients/2, 0, a.check) })
	group.Go(func() { a.run(loaded, clients/2, 0, a.search) })
	s.during(&a.seen, "from 2 to 4 replicas", func() {
		s.must(until(ctx, 3*time.Minute, "the autoscaler has added replicas", func() error { return s.areReady(0, 4) }))
	})
	time.Sleep(settle)
	s.during(&a.seen, "4 replicas", func() { time.Sleep(span) })
	s.during(&a.seen, "helm upgrade", func() { s.roll(ctx, "collections") })
	s.during(&a.seen, "node-a drained", func() {
		moved := s.drain(ctx, "node-a", "collections")
		s.must(until(ctx, time.Minute, "replicas are back", func() error { return s.areReady(0, 4) }))
		s.say("%d replicas moved to node-b", moved)
		if moved == 0 {
			s.Errorf("none moved")
		}
	})
	s.cordon(ctx, "node-a", false)
	s.during(&a.seen, "the log's leader killed", func() {
		name, err := log.killLeader(ctx, span)
		s.must(err)
		s.say("%s was killed and is started again", name)
		time.Sleep(span)
	})
	less()
	group.Wait()
	s.say("load ends")
	light, end := context.WithCancel(ctx)
	defer end()
	group.Go(func() { a.run(light, 2, 100*time.Millisecond, a.check) })
	s.during(&a.seen, "back to 2 replicas", func() {
		s.must(until(ctx, 4*time.Minute, "the autoscaler has removed replicas", func() error {
			if n := len(s.podsOn(ctx, "", "collections")); n != 2 {
				return fmt.Errorf("there are %d", n)
			}
			return s.areReady(0, 2)
		}))
	})
	end()
	group.Wait()
	for _, message := range s.rescales(ctx) {
		s.say("autoscaler: %s", message)
	}
	whole := a.between(begun, time.Now())
	s.say("of %d requests in all %d were answered, %d failed", whole.answers, whole.answers-whole.failed, whole.failed)
	if whole.failed > 0 {
		s.Errorf("the first that failed: %v", whole.fault)
	}
}

// An asker checks and searches documents by a number of clients. No request is sent twice: what fails is seen.
type asker struct {
	writer
	seen
}

func newAsker(url string) *asker {
	a := new(asker)
	a.url, a.client = url, &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	return a
}

// run asks by a number of clients until the context ends.
func (a *asker) run(ctx context.Context, clients int, pause time.Duration, ask func(ctx context.Context)) {
	repeat(ctx, clients, pause, func(int, int) { ask(context.WithoutCancel(ctx)) })
}

// check adds a document that is like none.
func (a *asker) check(ctx context.Context) {
	n := a.number.Add(1)
	id, text := fmt.Sprint(n), randomText(uint64(n))
	a.observe(func() error {
		status, answer, err := a.ask(ctx, http.MethodPost, "/check", map[string]string{"id": id, "text": text})
		if err = asked(status, answer, err, `{"new":true}`); err == nil {
			a.texts.Store(id, text)
			a.acked.Add(1)
		}
		return err
	})
}

// search looks for a document that every replica has had for long: the first.
func (a *asker) search(ctx context.Context) {
	a.observe(func() error {
		status, answer, err := a.ask(ctx, http.MethodPost, "/search", map[string]string{"text": randomText(1)})
		return asked(status, answer, err, `"id":"1"`)
	})
}
