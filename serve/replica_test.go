package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/internal/ordered/memlog"
	"github.com/alike-dev/alike/internal/plant"
)

// replica starts a replica of a log and waits until it is ready.
func replica(t testing.TB, log *memlog.Log, name string, change func(c *Config)) *service {
	t.Helper()
	c := Config{Order: log.Client(), Replica: name}
	if change != nil {
		change(&c)
	}
	s := start(t, c)
	s.wait("/readyz", http.StatusOK)
	return s
}

// wait waits until a path is answered by a status.
func (s *service) wait(path string, status int) {
	s.t.Helper()
	var got int
	var out string
	for range 1000 {
		if got, out = s.do(http.MethodGet, path, jsonType, ""); got == status {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%s: %d %s, want %d", path, got, out, status)
}

// Replicas answer as one process does, whichever of them is asked: checks, lines, filters, windows that refresh, puts,
// deletes and reads.
func TestReplicasAnswerAsOneProcess(t *testing.T) {
	const settings = `{"threshold":0.6,"ngram":2,"window":{"docs":40,"refresh":true},"bucket_cap":8,"fields":{"lang":"string"}}`
	log := memlog.New()
	many := []*service{replica(t, log, "a", nil), replica(t, log, "b", nil), replica(t, log, "c", nil)}
	one := start(t, Config{})
	random := rand.New(rand.NewPCG(7, 8))
	lines := texts(400)
	ask := func(method, path, kind, body string) {
		t.Helper()
		status, out := one.do(method, path, kind, body)
		gotStatus, got := many[random.IntN(len(many))].do(method, path, kind, body)
		if gotStatus != status || got != out {
			t.Fatalf("%s %s %.90s: %d %s, want %d %s", method, path, body, gotStatus, got, status, out)
		}
	}
	ask(http.MethodPut, "/v1/collections/news", jsonType, settings)
	ask(http.MethodGet, "/v1/collections/news", jsonType, "")
	ask(http.MethodPut, "/v1/collections/news", jsonType, `{"threshold":0.8}`)
	ask(http.MethodPut, "/v1/collections/Bad", jsonType, settings)
	at := 0
	next := func() string {
		at++
		line := lines[at-1]
		switch random.IntN(3) {
		case 0:
			return strings.TrimSuffix(line, "}") + `,"lang":"en"}`
		case 1:
			return strings.TrimSuffix(line, "}") + `,"lang":"fr","filter":{"lang":["en","fr"]}}`
		}
		return line
	}
	for at < len(lines)-20 {
		id := fmt.Sprint("d", random.IntN(at+1))
		switch random.IntN(8) {
		case 0:
			var all []string
			for range 1 + random.IntN(9) {
				all = append(all, next())
			}
			ask(http.MethodPost, "/v1/collections/news/documents", ndjson, strings.Join(all, "\n"))
		case 1:
			ask(http.MethodDelete, "/v1/collections/news/documents/"+id, jsonType, "")
		case 2:
			ask(http.MethodPut, "/v1/collections/news/documents/"+id, jsonType, `{"text":`+strings.SplitN(next(), `"text":`, 2)[1])
		case 3:
			ask(http.MethodGet, "/v1/collections/news/documents/"+id, jsonType, "")
		case 4:
			ask(http.MethodPost, "/v1/collections/news/check?add=false", jsonType, lines[max(at-1, 0)])
		default:
			ask(http.MethodPost, "/v1/collections/news/check", jsonType, next())
		}
	}
	ask(http.MethodDelete, "/v1/collections/news", jsonType, "")
	ask(http.MethodGet, "/v1/collections", jsonType, "")
	ask(http.MethodPost, "/v1/collections/news/check", jsonType, lines[0])
	for _, s := range many {
		if n := s.server.machine.replica.Status(); n.Resets > 0 || n.Err != nil {
			t.Errorf("%+v", n)
		}
	}
}

// Many ask many replicas at once; one of them begins with what another has, and one with its own snapshot.
func TestReplicasHaveOneState(t *testing.T) {
	log := memlog.New()
	dir := t.TempDir()
	small := func(c *Config) { c.snapshotBytes = 20_000 }
	kept := func(c *Config) { c.Dir, c.snapshotBytes = dir, 20_000 }
	a, b := replica(t, log, "a", small), replica(t, log, "b", kept)
	a.want(http.StatusCreated, "", http.MethodPut, "/v1/collections/x", `{"threshold":0.6,"ngram":2,"window":{"docs":100},"bucket_cap":6}`)
	lines := texts(4000)
	load := func(from, to int, of ...*service) {
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				for i := from + n; i < to; i += 8 {
					if status, out := of[i%len(of)].do(http.MethodPost, "/v1/collections/x/check", jsonType, lines[i]); status != http.StatusOK {
						t.Errorf("%d %s", status, out)
					}
				}
			})
		}
		all.Wait()
	}
	load(0, 2600, a, b)
	for range 100 {
		if first, _ := log.Entries(); first > 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
		load(2600, 2700, a, b)
	}
	if first, _ := log.Entries(); first == 1 {
		t.Error("the log was never trimmed")
	}
	c := replica(t, log, "c", nil)
	load(2700, 3000, a, b, c)
	again := *b
	again.server.machine.replica.Close()
	d := replica(t, log, "d", kept)
	load(3000, 3300, a, c, d)
	var stats [3]statistics
	for i, s := range []*service{a, c, d} {
		if err := s.server.machine.catchUp(); err != nil {
			t.Fatal(err)
		}
		if st := s.server.machine.replica.Status(); st.Resets > 0 || st.Err != nil {
			t.Errorf("%d: %+v", i, st)
		}
		_, out := s.do(http.MethodGet, "/v1/collections/x/stats", jsonType, "")
		if err := json.Unmarshal([]byte(out), &stats[i]); err != nil || stats[i].Documents != stats[0].Documents || stats[i].Documents != 100 {
			t.Errorf("%d documents, %d on another replica (%v)", stats[i].Documents, stats[0].Documents, err)
		}
	}
}

// A rule that one replica does not know is not used until that one has gone; then the collection decides by it, and a
// replica that does not know it says so.
func TestARuleChangesWhenAllKnowIt(t *testing.T) {
	log := memlog.New()
	newer := append(append([]decidingRule{}, rules...), func(o index.Options) index.Options {
		o.BucketCap = 2
		return o
	})
	dir := t.TempDir()
	knows := func(c *Config) { c.rules, c.Dir = newer, dir }
	old := replica(t, log, "old", nil)
	old.want(http.StatusCreated, "", http.MethodPut, "/v1/collections/x", `{"threshold":0.6,"ngram":2}`)
	one := replica(t, log, "new1", knows)
	lines := texts(60)
	for i, line := range lines[:30] {
		[]*service{old, one}[i%2].want(http.StatusOK, "", http.MethodPost, "/v1/collections/x/check", line)
	}
	if rule := one.server.store.get("x").log.rule; rule != 1 {
		t.Fatalf("rule %d while one replica does not know it", rule)
	}
	old.server.machine.replica.Close() // it says that it leaves
	for range 500 {
		if one.server.store.get("x").log.rule == 2 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := one.server.store.get("x").index.Options().BucketCap; got != 2 {
		t.Fatalf("bucket cap %d, want that of the new rule", got)
	}
	one.want(http.StatusOK, "", http.MethodPost, "/v1/collections/x/check", lines[40])
	one.want(http.StatusOK, `{"new":true}`, http.MethodPost, "/v1/collections/x/check", lines[0])
	one.server.machine.replica.Close() // it leaves a snapshot
	for name, c := range map[string]Config{"log": {}, "snapshot": {Dir: dir}} {
		c.Order, c.Replica = log.Client(), "late"
		late := start(t, c)
		for range 500 {
			if _, out := late.do(http.MethodGet, "/readyz", jsonType, ""); strings.Contains(out, "needs another version") {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		status, out := late.do(http.MethodPost, "/v1/collections/x/check", jsonType, lines[41])
		if status != http.StatusServiceUnavailable || !strings.Contains(out, "needs another version") {
			t.Errorf("by the %s a replica that does not know the rule says %d %s", name, status, out)
		}
	}
}

// Lines whose documents one entry has no room for go in several; a document that none has room for is a problem of its line.
func TestLinesThatOneEntryHasNoRoomForAreAnswered(t *testing.T) {
	log := memlog.New()
	client := log.Client()
	client.Most = 4 << 10
	s := replica(t, log, "a", func(c *Config) { c.Order = client })
	one := start(t, Config{})
	lines := texts(200)
	large := slices.Insert(slices.Clone(lines), 100, fmt.Sprintf(`{"id":"large","text":%q}`, strings.Repeat("some words ", 1000)))
	large = append(large, strings.Replace(large[100], "large", "last", 1))
	for _, x := range []*service{s, one} {
		x.want(http.StatusCreated, "", http.MethodPut, "/v1/collections/x", `{"threshold":0.6,"ngram":2}`)
	}
	_, want := one.do(http.MethodPost, "/v1/collections/x/documents", ndjson, strings.Join(lines, "\n"))
	status, out := s.do(http.MethodPost, "/v1/collections/x/documents", ndjson, strings.Join(large, "\n"))
	got := strings.SplitAfter(out, "\n")
	if status != http.StatusOK || len(got) != len(large)+1 {
		t.Fatalf("%d, %d answers", status, len(got))
	}
	for _, at := range []int{100, 201} {
		if !strings.Contains(got[at], "max_payload") {
			t.Errorf("line %d: %s", at, got[at])
		}
	}
	if got := strings.Join(slices.Delete(got[:201], 100, 101), ""); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if status, out := s.do(http.MethodPost, "/v1/collections/x/check", jsonType, large[100]); status != http.StatusRequestEntityTooLarge || !strings.Contains(out, "max_payload") {
		t.Errorf("%d %s", status, out)
	}
}

// A replica that was cut off while a collection was removed and made anew answers by the new one.
func TestACollectionIsMadeAnewWhileAReplicaIsAway(t *testing.T) {
	log := memlog.New()
	client := log.Client()
	a, b := replica(t, log, "a", nil), replica(t, log, "b", func(c *Config) { c.Order = client })
	lines := texts(10)
	a.want(http.StatusCreated, "", http.MethodPut, "/v1/collections/x", `{"threshold":0.6,"ngram":2}`)
	b.want(http.StatusOK, `{"new":true}`, http.MethodPost, "/v1/collections/x/check", lines[0])
	client.Set(func(c *memlog.Client) { c.Down = true })
	b.wait("/readyz", http.StatusServiceUnavailable)
	a.want(http.StatusNoContent, "", http.MethodDelete, "/v1/collections/x", "")
	again := strings.Replace(lines[0], `"d0"`, `"other"`, 1)
	var asked sync.WaitGroup // while it is away
	asked.Go(func() { b.want(http.StatusOK, `{"new":true}`, http.MethodPost, "/v1/collections/x/check", again) })
	asked.Go(func() { b.want(http.StatusNotFound, "", http.MethodGet, "/v1/collections/x/documents/d0", "") })
	time.Sleep(100 * time.Millisecond)
	a.want(http.StatusCreated, "", http.MethodPut, "/v1/collections/x", `{"threshold":0.9,"ngram":3}`)
	client.Set(func(c *memlog.Client) { c.Down = false })
	b.wait("/readyz", http.StatusOK)
	asked.Wait()
	_, settings := a.do(http.MethodGet, "/v1/collections/x", jsonType, "")
	b.want(http.StatusOK, strings.TrimSpace(settings), http.MethodGet, "/v1/collections/x", "")
}

// A document without a time has that of the log, and not that of the replica which is asked, whose clock may be wrong.
func TestDocumentsWithoutATimeHaveThatOfTheLog(t *testing.T) {
	log, now := memlog.New(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	log.Now = func() time.Time { return now }
	a := replica(t, log, "a", func(c *Config) { c.Now = func() time.Time { return now.Add(100 * time.Hour) } })
	b := replica(t, log, "b", nil)
	a.want(http.StatusCreated, "", http.MethodPut, "/v1/collections/x", `{"threshold":0.6,"ngram":2,"window":{"age":"1h"}}`)
	for i, line := range texts(10) {
		[]*service{a, b}[i%2].want(http.StatusOK, "", http.MethodPost, "/v1/collections/x/check", line)
	}
	for _, s := range []*service{a, b} {
		if err := s.server.machine.catchUp(); err != nil {
			t.Fatal(err)
		}
		var told statistics
		if _, out := s.do(http.MethodGet, "/v1/collections/x/stats", jsonType, ""); json.Unmarshal([]byte(out), &told) != nil || !told.Newest.Equal(now) {
			t.Errorf("the newest is of %v, want %v", told.Newest, now)
		}
	}
}

// Settings that a newer program has accepted, and this one does not know, are nothing to leave out.
func TestSettingsOfANewerProgramAreNotLeftOut(t *testing.T) {
	s := replica(t, memlog.New(), "a", nil)
	about := aboutCollection{Name: "x", Settings: json.RawMessage(`{"newer":1}`)}
	op, err := about.op(opCreate)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.server.machine.replica.Begin(op); err != nil {
		t.Fatal(err)
	}
	s.wait("/readyz", http.StatusServiceUnavailable)
	if status, out := s.do(http.MethodPost, "/v1/collections/x/check", jsonType, texts(1)[0]); status != http.StatusServiceUnavailable || !strings.Contains(out, "needs another version") {
		t.Errorf("%d %s", status, out)
	}
}

// The folder of a process without a log is not one of snapshots, and the other way round.
func TestFoldersOfReplicasAndOfOneProcessAreNotMixedUp(t *testing.T) {
	alone, shared := t.TempDir(), t.TempDir()
	for name, c := range map[string]Config{
		filepath.Join(alone, "x.json"): {Dir: alone, Order: memlog.New().Client(), Replica: "a"}, filepath.Join(shared, strings.Repeat("0", 20)+".snapshot"): {Dir: shared},
	} {
		if err := os.WriteFile(name, []byte("{}"), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := New(c)
		if err == nil {
			t.Fatalf("%s: the server begins", name)
		}
		if s != nil || !strings.Contains(err.Error(), "another folder") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// noAnswers is a log whose servers take no questions.
type noAnswers struct{ *memlog.Client }

func (noAnswers) Answer(func([]byte) []byte) (func(), error) { return nil, os.ErrDeadlineExceeded }

// Snapshots of a replica without a folder are in one that is locked, so that the next process removes it if this one is killed.
func TestSnapshotsWithoutAFolderDoNotStay(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // of Windows
	held := func(want int) {
		t.Helper()
		locks, _ := filepath.Glob(filepath.Join(dir, "alike-replica-*.lock"))
		if all, err := os.ReadDir(dir); err != nil || len(all) != 2*want || len(locks) != want {
			t.Errorf("%v and the locks %q are left, want %d; %v", all, locks, want, err)
		}
	}
	s, err := New(Config{Order: memlog.New().Client(), Replica: "a", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	held(1)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	held(0)
	if _, err := New(Config{Order: noAnswers{memlog.New().Client()}, Replica: "a", Log: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("it begins")
	}
	held(0)
}

// BenchmarkFollow has a replica that begins apply 64,000 documents of 2 KB, in entries of 64 that another one has sent.
func BenchmarkFollow(b *testing.B) {
	const size, entries = 64, 1000
	log := memlog.New()
	const never = 1 << 40 // bytes of entries before a snapshot is made
	sender := replica(b, log, "sender", func(c *Config) { c.snapshotBytes = never })
	sender.want(http.StatusCreated, "", http.MethodPut, "/v1/collections/c", "{}")
	news := plant.NewStamped(2048)
	for e := range entries {
		var body strings.Builder
		for i := range size {
			fmt.Fprintf(&body, "{\"id\":\"%d\",\"text\":%q}\n", e*size+i, news.Text(e*size+i, 1))
		}
		if status, out := sender.do(http.MethodPost, "/v1/collections/c/documents", ndjson, body.String()); status != http.StatusOK {
			b.Fatal(status, out)
		}
	}
	last := sender.server.machine.replica.Status().Applied
	for b.Loop() {
		follower, err := New(Config{Order: log.Client(), Replica: "follower", Log: slog.New(slog.DiscardHandler), snapshotBytes: never})
		if err != nil {
			b.Fatal(err)
		}
		for follower.machine.replica.Status().Applied < last {
			time.Sleep(time.Millisecond)
		}
		if err := follower.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/size/entries, "µs/doc")
}
