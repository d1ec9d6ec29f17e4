package serve

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alike-dev/alike/internal/testsize"
	"github.com/alike-dev/alike/vfs"
	"github.com/alike-dev/alike/vfs/vfstest"
)

// outage is a file system whose power fails before one of its write operations: left is then what the disk has. The
// server goes on, on a disk that nobody looks at any more, so that its goroutines can end.
type outage struct {
	disk *vfstest.Mem
	cfg  vfstest.CrashCloneCfg
	at   atomic.Int64 // operations to go
	mu   sync.Mutex
	safe []string // ids that were acknowledged before it
	left *vfstest.Mem
	sent []string // ids that are acknowledged
}

func (o *outage) fs() vfs.FS {
	return vfstest.Inject(o.disk, func(op vfstest.Op) error {
		if op.Kind.Writes() && o.at.Add(-1) == 0 {
			o.mu.Lock()
			o.safe = slices.Clone(o.sent) // an answer that comes while the disk is copied may be of a sync that is not in it
			o.left = o.disk.CrashClone(o.cfg)
			o.mu.Unlock()
		}
		return nil
	})
}

// acknowledge notes ids; more says that the power has not failed.
func (o *outage) acknowledge(ids ...string) (more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(o.sent, ids...)
	return o.left == nil
}

// load checks documents, one by one and by lines, until the power fails.
func (o *outage) load(s *Server, round int) {
	document := func(id string) string { return fmt.Sprintf(`{"id":%q,"text":"text of %s alone"}`, id, id) }
	ask := func(path, kind, body string) string {
		r := httptest.NewRequest(http.MethodPost, "/v1/collections/c"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Body.String()
	}
	const added = "{\"new\":true}\n"
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("%d-%d-%d", round, w, n)
				if ask("/check", jsonType, document(id)) != added || !o.acknowledge(id) {
					return
				}
			}
		})
	}
	group.Go(func() {
		for n := 0; ; n++ {
			var ids, lines []string
			for k := range 10 {
				ids = append(ids, fmt.Sprintf("%d-l-%d-%d", round, n, k))
				lines = append(lines, document(ids[k]))
			}
			if strings.Count(ask("/documents", ndjson, strings.Join(lines, "\n")), added) != len(ids) || !o.acknowledge(ids...) {
				return
			}
		}
	})
	group.Wait()
}

// The power fails twenty times under load, with some of what was not synced on the disk or nothing of it, and each time
// the server begins on what is left.
func TestNothingAcknowledgedIsLostWhenThePowerFails(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	disk, log := vfstest.NewCrashable(), slog.New(slog.NewTextHandler(io.Discard, nil))
	var all []string
	rounds := 20
	if testsize.Small() {
		rounds = 3
	}
	for round := range rounds {
		o := &outage{disk: disk, cfg: vfstest.CrashCloneCfg{UnsyncedDataPercent: 50 * (round % 3), RNG: rand.New(rand.NewPCG(uint64(round), 1))}}
		o.at.Store(100 + random.Int64N(300))
		s, err := New(Config{Dir: "data", FS: o.fs(), Log: log})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/v1/collections/c", strings.NewReader(`{"ngram":2,"threshold":0.9}`)))
		if w.Code >= http.StatusBadRequest {
			t.Fatal(w.Code, w.Body)
		}
		if o.load(s, round); o.left == nil {
			t.Fatal("the power did not fail")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		all, disk = append(all, o.safe...), o.left
		after, err := New(Config{Dir: "data", FS: disk, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range all {
			w := httptest.NewRecorder()
			after.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/collections/c/documents/"+id, nil))
			if w.Code != http.StatusOK {
				t.Fatalf("round %d: %s was acknowledged: %d", round, id, w.Code)
			}
		}
		if err := after.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 20*rounds {
		t.Errorf("only %d were acknowledged: the test does not look at enough", len(all))
	}
}
