package replicatest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/alike-dev/alike/internal/freeport"
	"github.com/alike-dev/alike/internal/natslog"
	"github.com/alike-dev/alike/internal/ordered"
	"github.com/alike-dev/alike/serve"
)

// These variables make the test's program a server of NATS, or a replica.
const (
	asNATS    = "ALIKE_TEST_NATS"    // file of its configuration
	asReplica = "ALIKE_TEST_REPLICA" // URL of the log; name, folder, address behind it, by spaces
)

func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(asNATS) != "":
		err = runNATS(os.Getenv(asNATS))
	case os.Getenv(asReplica) != "":
		err = runReplica(strings.Fields(os.Getenv(asReplica)))
	default:
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func runNATS(file string) error {
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		return err
	}
	o.NoSigs = true
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.ConfigureLogger() // without one it goes on when a port is taken, and is of no cluster
	s.Start()
	s.WaitForShutdown()
	return errors.New("ended")
}

func runReplica(args []string) error {
	log, err := natslog.Connect(args[0], args[1])
	if err != nil {
		return err
	}
	var order ordered.Log = log
	if strings.HasSuffix(args[1], "1") {
		order = smallEntries{log}
	}
	s, err := serve.New(serve.Config{Order: order, Replica: args[1], Dir: args[2], Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", args[3])
	if err != nil {
		return err
	}
	return s.Serve(listener)
}

// smallEntries is a log whose entries have few documents, so that the clients of a test are enough to have several of a replica
// on their way at once.
type smallEntries struct{ *natslog.Log }

func (smallEntries) MostBytes() int { return 2 << 10 }

// process is a process that can be ended and begun again.
type process struct {
	name string
	env  string
	log  string
	cmd  *exec.Cmd
}

func (p *process) start(t testing.TB) {
	t.Helper()
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), p.env, "GOMAXPROCS=2")
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// tail returns the end of what the process has said.
func (p *process) tail() []byte {
	body, _ := os.ReadFile(p.log)
	return body[max(0, len(body)-3000):]
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *process) signal(t testing.TB, s syscall.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// natsServers are three servers of NATS, each behind links of its own to the others.
type natsServers struct {
	all      []*process
	hosts    []string
	monitors []string
	routes   [3][3]*link // from, to
	dir      string      // of all files that must last; "": anywhere
}

// folder returns a new folder for files that must last.
func (n *natsServers) folder(t testing.TB) string {
	t.Helper()
	if n.dir == "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(n.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// part cuts a server off from the others, or lets it reach them again.
func (n *natsServers) part(name string, is bool) {
	for from := range n.routes {
		for to, route := range n.routes[from] {
			if route != nil && (n.all[from].name == name || n.all[to].name == name) {
				route.cut(is)
			}
		}
	}
}

func startNATS(t testing.TB, dir string) *natsServers {
	t.Helper()
	n := &natsServers{dir: dir}
	dir = n.folder(t)
	var ports []string
	for range 3 {
		ports = append(ports, freePort(t))
	}
	for i := range 3 {
		var routes []string
		for j, port := range ports {
			if i != j {
				n.routes[i][j] = newLink(t, "127.0.0.1:"+port)
				routes = append(routes, "nats://"+n.routes[i][j].Addr().String())
			}
		}
		host := "127.0.0.1:" + freePort(t)
		n.hosts = append(n.hosts, host)
		n.monitors = append(n.monitors, "127.0.0.1:"+freePort(t))
		config := filepath.Join(dir, fmt.Sprintf("n%d.conf", i))
		body := fmt.Sprintf("server_name: n%d\nlisten: %s\nhttp: %s\nmax_payload: 8MB\njetstream { store_dir: %q, sync_interval: always, max_file: 4GB, max_mem: 1GB }\ncluster { name: c, listen: 127.0.0.1:%s, no_advertise: true, routes: [%s] }\n",
			i, host, n.monitors[i], filepath.Join(dir, fmt.Sprint("js", i)), ports[i], strings.Join(routes, ", "))
		if err := os.WriteFile(config, []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
		p := &process{name: fmt.Sprint("n", i), env: asNATS + "=" + config, log: filepath.Join(dir, fmt.Sprintf("n%d.log", i))}
		n.all = append(n.all, p)
		p.start(t)
	}
	t.Cleanup(func() {
		for _, p := range n.all {
			p.kill()
		}
	})
	n.ready(t)
	return n
}

// ready waits until one server leads and has both others at hand: before that no stream can be put on three.
func (n *natsServers) ready(t testing.TB) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if slices.ContainsFunc(n.monitors, leadsAll) {
			return
		}
	}
	for _, p := range n.all {
		t.Logf("%s:\n%s", p.name, p.tail())
	}
	t.Fatal("the servers of the log have not found each other")
}

// leadsAll tells whether a server leads, and has two others at hand.
func leadsAll(monitor string) bool {
	var told struct {
		Meta struct {
			Replicas []struct {
				Current, Offline bool
			}
		} `json:"meta_cluster"`
	}
	status, body := ask(http.MethodGet, "http://"+monitor+"/jsz", "", time.Second)
	if status != http.StatusOK || json.Unmarshal([]byte(body), &told) != nil {
		return false
	}
	there := 0
	for _, r := range told.Meta.Replicas {
		if r.Current && !r.Offline {
			there++
		}
	}
	return there == 2
}

// leader returns the server that leads a stream, nil if there is none now.
func (n *natsServers) leader(stream string) *process { return n.leaderAmong(stream, nil) }

// leaderAmong returns the server that leads a stream as others than one say, nil if they say that of none or of that one.
func (n *natsServers) leaderAmong(stream string, without *process) *process {
	for i, host := range n.hosts {
		if n.all[i] == without {
			continue
		}
		conn, err := nats.Connect("nats://"+host, nats.Timeout(time.Second))
		if err != nil {
			continue
		}
		m, err := conn.Request("$JS.API.STREAM.INFO."+stream, nil, time.Second)
		conn.Close()
		var info struct {
			Cluster struct {
				Leader string `json:"leader"`
			} `json:"cluster"`
		}
		if err != nil || json.Unmarshal(m.Data, &info) != nil {
			continue
		}
		for _, p := range n.all {
			if p.name == info.Cluster.Leader && p != without {
				return p
			}
		}
	}
	return nil
}

// link is a way to a server that can be cut: then nothing comes through, and nothing is told of it.
type link struct {
	net.Listener
	mu    sync.Mutex
	open  sync.Cond
	isCut bool
	conns []net.Conn
}

func newLink(t testing.TB, to string) *link {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{Listener: l}
	k.open.L = &k.mu
	t.Cleanup(func() {
		k.cut(false)
		l.Close()
		k.mu.Lock()
		defer k.mu.Unlock()
		for _, c := range k.conns {
			c.Close()
		}
	})
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", to)
			if err != nil {
				a.Close()
				continue
			}
			k.mu.Lock()
			k.conns = append(k.conns, a, b)
			k.mu.Unlock()
			go k.copy(a, b)
			go k.copy(b, a)
		}
	}()
	return k
}

func (k *link) copy(to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		k.mu.Lock()
		for k.isCut {
			k.open.Wait()
		}
		k.mu.Unlock()
		if n > 0 {
			_, err2 := to.Write(buffer[:n])
			err = errors.Join(err, err2)
		}
		if err != nil {
			to.Close()
			from.Close()
			return
		}
	}
}

func (k *link) cut(is bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.isCut = is
	k.open.Broadcast()
}

// replica is a replica behind links of its own.
type replica struct {
	process
	url   string
	links []*link
}

func (n *natsServers) replica(t testing.TB, stream, name string) *replica {
	t.Helper()
	r := &replica{}
	var hosts []string
	for _, host := range n.hosts {
		k := newLink(t, host)
		r.links = append(r.links, k)
		hosts = append(hosts, k.Addr().String())
	}
	address := "127.0.0.1:" + freePort(t)
	r.url = "http://" + address
	log := "nats://" + strings.Join(hosts, ",") + "/" + stream
	dir := n.folder(t)
	r.process = process{name: name, env: asReplica + "=" + strings.Join([]string{log, name, dir, address}, " "), log: filepath.Join(dir, "log")}
	r.start(t)
	t.Cleanup(r.kill)
	return r
}

func (r *replica) cut(is bool) {
	for _, k := range r.links {
		k.cut(is)
	}
}

// ready waits until the replica is ready.
func (r *replica) ready(t testing.TB) {
	t.Helper()
	until := time.Now().Add(60 * time.Second)
	for time.Now().Before(until) {
		if status, _ := ask(http.MethodGet, r.url+"/readyz", "", time.Second); status == http.StatusOK {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s is not ready:\n%s", r.name, r.tail())
}

// metric returns a number of a replica.
func (r *replica) metric(t testing.TB, name string) float64 {
	_, body := ask(http.MethodGet, r.url+"/metrics", "", 5*time.Second)
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			f, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Error(err)
			}
			return f
		}
	}
	t.Errorf("%s has no metric %s", r.name, name)
	return 0
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// ask sends a request. Status 0: it was not sent; -1: there was no answer.
func ask(method, url, body string, limit time.Duration) (status int, answer string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	out, err := client.Do(r)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return 0, err.Error()
	}
	if err != nil {
		return -1, err.Error()
	}
	defer out.Body.Close()
	all, err := io.ReadAll(out.Body)
	if err != nil {
		return -1, err.Error()
	}
	return out.StatusCode, string(all)
}
