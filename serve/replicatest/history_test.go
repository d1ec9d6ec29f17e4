package replicatest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// request is what a client asks about a document. Documents of a class are alike, and like no others.
type request struct {
	kind  string // check, put, delete, get
	class int
	id    string
	text  int // of the class
}

// answer is what it got; known is false if there was none.
type answer struct {
	known  bool
	status int
	of     string // duplicate_of
	flag   bool   // new, or replaced
	text   string // of get
}

// stored is a document of a class.
type stored struct {
	id   string
	text int
}

func textOf(class, version int) string {
	r := rand.New(rand.NewPCG(uint64(class), 1))
	var words []string
	for range 60 {
		words = append(words, fmt.Sprint("w", r.Uint32()))
	}
	words[10+version] = fmt.Sprint("v", version)
	return strings.Join(words, " ")
}

// model is one collection: of each class the documents in their order.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		of := map[int][]porcupine.Operation{}
		for _, o := range history {
			class := o.Input.(request).class
			of[class] = append(of[class], o)
		}
		var all [][]porcupine.Operation
		for _, o := range of {
			all = append(all, o)
		}
		return all
	},
	Init:  func() any { return []stored(nil) },
	Equal: func(a, b any) bool { return slices.Equal(a.([]stored), b.([]stored)) },
	Step: func(state, input, output any) (bool, any) {
		docs, in, out := state.([]stored), input.(request), output.(answer)
		want, after := step(docs, in)
		return !out.known || want == out, after
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// step returns what a request is answered, and the documents after it.
func step(docs []stored, in request) (answer, []stored) {
	at := slices.IndexFunc(docs, func(d stored) bool { return d.id == in.id })
	ok := answer{known: true, status: http.StatusOK}
	missing := answer{known: true, status: http.StatusNotFound}
	switch {
	case in.kind == "get" && at < 0:
		return missing, docs
	case in.kind == "get":
		ok.text = textOf(in.class, docs[at].text)
		return ok, docs
	case in.kind == "delete" && at < 0:
		return missing, docs
	case in.kind == "delete":
		return answer{known: true, status: http.StatusNoContent}, slices.Delete(slices.Clone(docs), at, at+1)
	case in.kind == "put":
		after := slices.Clone(docs)
		if at >= 0 {
			after, ok.flag = slices.Delete(after, at, at+1), true
		}
		return ok, append(after, stored{in.id, in.text})
	case at >= 0 && docs[at].text != in.text:
		return answer{known: true, status: http.StatusConflict}, docs
	case at >= 0:
		ok.flag = true
		return ok, docs
	case len(docs) > 0:
		ok.of = docs[0].id
		return ok, docs
	}
	ok.flag = true
	return ok, []stored{{in.id, in.text}}
}

// send asks a replica. sent is false if it certainly got nothing.
func (in *request) send(url string) (out answer, sent bool) {
	at := url + "/v1/collections/x/documents/" + in.id
	var status int
	var body string
	switch in.kind {
	case "check":
		status, body = ask(http.MethodPost, url+"/v1/collections/x/check", fmt.Sprintf(`{"id":%q,"text":%q}`, in.id, textOf(in.class, in.text)), 15*time.Second)
	case "put":
		status, body = ask(http.MethodPut, at, fmt.Sprintf(`{"text":%q}`, textOf(in.class, in.text)), 15*time.Second)
	case "delete":
		status, body = ask(http.MethodDelete, at, "", 15*time.Second)
	case "get":
		status, body = ask(http.MethodGet, at, "", 15*time.Second)
	}
	switch {
	case status == 0 || status == http.StatusTooManyRequests || strings.Contains(body, "the collection's state yet"):
		time.Sleep(50 * time.Millisecond)
		return out, false
	case status < 0 || status >= 500:
		return out, true
	}
	var told struct {
		New      bool   `json:"new"`
		Replaced bool   `json:"replaced"`
		Of       string `json:"duplicate_of"`
		Text     string `json:"text"`
	}
	if strings.HasPrefix(body, "{") && status == http.StatusOK {
		if json.Unmarshal([]byte(body), &told) != nil {
			return out, true
		}
	}
	return answer{known: true, status: status, of: told.Of, flag: told.New || told.Replaced, text: told.Text}, true
}

// run is one history.
type run struct {
	t        testing.TB
	nats     *natsServers
	stream   string
	replicas []*replica
}

// failures are what happens while clients ask, in the order of the histories.
var failures = []struct {
	name string
	do   func(r *run)
}{
	{"a replica is killed", func(r *run) { r.replicas[0].kill(); r.pause(); r.replicas[0].start(r.t) }},
	{"the log's leader is killed", func(r *run) { r.ofLeader(func(p *process) { p.kill(); r.pause(); p.start(r.t) }) }},
	{"a replica is cut off", func(r *run) { r.replicas[0].cut(true); r.pause(); r.replicas[0].cut(false) }},
	{"all are killed at once", (*run).allAreKilled},
	{"a replica is stopped", func(r *run) { r.stopped(&r.replicas[0].process) }},
	{"the log's leader is stopped", func(r *run) { r.ofLeader(r.stopped) }},
	{"the log's leader is parted from the other servers", func(r *run) { r.ofLeader(r.parted) }},
}

func (r *run) pause() { time.Sleep(1200 * time.Millisecond) }

func (r *run) stopped(p *process) {
	p.signal(r.t, syscall.SIGSTOP)
	r.pause()
	p.signal(r.t, syscall.SIGCONT)
}

// parted lasts until the others have a new leader: then there are two for a while, of which one is wrong.
func (r *run) parted(p *process) {
	r.nats.part(p.name, true)
	defer r.nats.part(p.name, false)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); r.pause() {
		if leader := r.nats.leaderAmong(r.stream, p); leader != nil {
			return
		}
	}
	r.t.Error("the others have found no leader")
}

func (r *run) ofLeader(do func(p *process)) {
	if p := r.nats.leader(r.stream); p != nil {
		do(p)
	} else {
		r.t.Error("the stream has no leader")
	}
}

// processes returns the servers of the log and the replicas.
func (r *run) processes() (all []*process) {
	all = append(all, r.nats.all...)
	for _, one := range r.replicas {
		all = append(all, &one.process)
	}
	return all
}

func (r *run) allAreKilled() {
	all := r.processes()
	for _, p := range all {
		p.signal(r.t, syscall.SIGKILL)
	}
	for _, p := range all {
		_ = p.cmd.Wait()
	}
	for _, p := range all {
		p.start(r.t)
	}
}

// load has clients ask until done is closed, and returns what they recorded.
func (r *run) load(seed uint64, begun time.Time, done chan struct{}) (history []porcupine.Operation) {
	var mu sync.Mutex
	var group sync.WaitGroup
	for c := range 8 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(c)))
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Duration(random.IntN(16)) * time.Millisecond):
				}
				in := request{kind: "check", class: random.IntN(40), text: random.IntN(4)}
				in.id = fmt.Sprintf("%d-%d", in.class, random.IntN(12))
				switch random.IntN(10) {
				case 0:
					in.kind = "put"
				case 1:
					in.kind = "delete"
				case 2:
					in.kind = "get"
				}
				from := time.Since(begun)
				out, sent := in.send(r.replicas[random.IntN(len(r.replicas))].url)
				to := time.Since(begun)
				if !sent {
					continue
				}
				if !out.known {
					if in.kind == "get" {
						continue
					}
					to = 1 << 60 // it may still be done
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: c, Input: in, Output: out, Call: int64(from), Return: int64(to)})
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return history
}

// Whatever fails, what replicas answer is what one collection would have, and the log gives the same verdicts again.
func TestHistoriesAreLinearizable(t *testing.T) {
	first, most := 0, 5
	if n, err := strconv.Atoi(os.Getenv("ALIKE_HISTORIES")); err == nil {
		most = n
	}
	if n, err := strconv.Atoi(os.Getenv("ALIKE_FIRST")); err == nil {
		first = n
	}
	n := startNATS(t, "")
	for i := first; i < first+most; i++ {
		failure := failures[i%len(failures)]
		t.Run(fmt.Sprint(i, " ", failure.name), func(t *testing.T) {
			r := &run{t: t, nats: n, stream: fmt.Sprint("h", i)}
			for j := range replicasOf(i) {
				r.replicas = append(r.replicas, n.replica(t, r.stream, fmt.Sprint("r", j)))
			}
			r.history(t, uint64(i), failure.do)
		})
	}
}

func (r *run) history(t *testing.T, seed uint64, fails func(r *run)) {
	for _, one := range r.replicas {
		one.ready(t)
	}
	if status, body := ask(http.MethodPut, r.replicas[0].url+"/v1/collections/x", `{"threshold":0.6,"ngram":2}`, 10*time.Second); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	begun, done := time.Now(), make(chan struct{})
	recorded := make(chan []porcupine.Operation)
	go func() { recorded <- r.load(seed, begun, done) }()
	time.Sleep(500 * time.Millisecond)
	fails(r)
	for _, one := range r.replicas {
		one.ready(t)
	}
	time.Sleep(500 * time.Millisecond)
	close(done)
	history := <-recorded
	unknown := 0
	for _, o := range history {
		if !o.Output.(answer).known {
			unknown++
		}
	}
	if len(history)-unknown < 20 { // of a busy machine
		t.Errorf("%d of %d requests were answered", len(history)-unknown, len(history))
	}
	switch porcupine.CheckOperationsTimeout(model, history, 30*time.Second) {
	case porcupine.Illegal:
		t.Error("the history is not linearizable")
	case porcupine.Unknown:
		t.Error("the history was not decided in 30 s")
	}
	again := r.nats.replica(t, r.stream, "again") // every entry tells it what its sender had decided
	again.ready(t)
	for _, one := range append(r.replicas, again) {
		if n := one.metric(t, "alike_log_resets_total"); n != 0 {
			t.Errorf("%s went back %v times", one.name, n)
		}
	}
	t.Logf("%d replicas, %d answered, %d unknown", len(r.replicas), len(history)-unknown, unknown)
}

// replicasOf is how many replicas a history has: 2 or 4, each with each failure in the end.
func replicasOf(i int) int { return 2 + 2*((i+i/len(failures))%2) }
