package replicatest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/alike-dev/alike/internal/natslog"
	"github.com/alike-dev/alike/internal/ordered"
)

// oneServer starts a server of NATS on a port.
func oneServer(t *testing.T, port int, change func(o *server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server of NATS does not begin")
	}
	return s
}

// connected returns a log on a port.
func connected(t *testing.T, port int, user string) *natslog.Log {
	t.Helper()
	log, err := natslog.Connect("nats://"+user+"127.0.0.1:"+strconv.Itoa(port)+"/s?replicas=1", "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	return log
}

// opened opens a log until that is no error, or one that says something.
func opened(t *testing.T, log *natslog.Log, says string) {
	t.Helper()
	var err error
	for range 200 {
		if err = log.Open(t.Context(), 1); err == nil && says == "" || err != nil && says != "" && strings.Contains(err.Error(), says) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%v, want %q", err, says)
}

func portOf(t *testing.T) int {
	t.Helper()
	port, err := strconv.Atoi(freePort(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// A log that cannot be reached says why, and is used as soon as it can be.
func TestALogIsUsedWhenItsServersComeAndKnowThePassword(t *testing.T) {
	port := portOf(t)
	log := connected(t, port, "")
	opened(t, log, "connection refused")
	oneServer(t, port, nil)
	opened(t, log, "")

	port = portOf(t)
	password := func(p string) func(o *server.Options) {
		return func(o *server.Options) { o.Username, o.Password = "u", p }
	}
	s := oneServer(t, port, password("old"))
	log = connected(t, port, "u:new@")
	opened(t, log, "Authorization Violation")
	time.Sleep(2 * time.Second) // more than two attempts
	s.Shutdown()
	s.WaitForShutdown()
	oneServer(t, port, password("new"))
	opened(t, log, "")
}

// What a user may not do is said, though servers do not answer it.
func TestWhatAUserMayNotDoIsSaid(t *testing.T) {
	may := func(publish ...string) *natslog.Log {
		port := portOf(t)
		oneServer(t, port, func(o *server.Options) {
			all := &server.SubjectPermission{Allow: []string{">"}}
			o.Users = []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{Subscribe: all, Publish: &server.SubjectPermission{Allow: publish}}}}
		})
		return connected(t, port, "u:p@")
	}
	log := may("$JS.API.>")
	opened(t, log, "")
	if err := log.Append(t.Context(), []byte("x")); err == nil || !strings.Contains(err.Error(), `Permissions Violation for Publish to "s.entries"`) {
		t.Error(err)
	}
	opened(t, may("s.>"), `Permissions Violation for Publish to "$JS.API.STREAM.INFO.s"`)
}

// A server without JetStream has no log.
func TestAServerWithoutJetStreamIsNamed(t *testing.T) {
	port := portOf(t)
	oneServer(t, port, func(o *server.Options) { o.JetStream = false })
	opened(t, connected(t, port, ""), "no JetStream")
}

// A stream in which entries would not last is not used, and what is wrong with it is said.
func TestAStreamThatMayLoseEntriesIsNotUsed(t *testing.T) {
	port := portOf(t)
	s := oneServer(t, port, nil)
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request := func(verb string, body []byte) {
		t.Helper()
		m, err := conn.Request("$JS.API.STREAM."+verb+".s", body, 5*time.Second)
		if err != nil || strings.Contains(string(m.Data), `"error"`) {
			t.Fatalf("%s: %v %s", verb, err, m.Data)
		}
	}
	log := connected(t, port, "")
	for _, c := range []struct {
		says   string
		config map[string]any
	}{
		{"other subjects", map[string]any{"subjects": []string{"other"}}},
		{"other subjects", map[string]any{"subjects": []string{"s.entries", "other"}}},
		{"in memory", map[string]any{"storage": "memory"}},
		{"were read", map[string]any{"retention": "workqueue"}},
		{"its oldest", map[string]any{"max_age": int64(time.Hour)}},
		{"its oldest", map[string]any{"max_msgs": 10}},
		{"its oldest", map[string]any{"max_bytes": 1000}},
		{"its oldest", map[string]any{"max_msgs_per_subject": 10}},
		{"max_msg_size", map[string]any{"max_msg_size": 1000}},
		{"", map[string]any{"max_bytes": 20000, "discard": "new"}},
	} {
		config := map[string]any{"name": "s", "subjects": []string{"s.entries"}}
		maps.Copy(config, c.config)
		body, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		request("CREATE", body)
		opened(t, log, "")
		_, _, err = log.Bounds(t.Context())
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v: %v, want %q", c.config, err, c.says)
		}
		if c.says != "" {
			request("DELETE", nil)
		}
	}
	three, err := natslog.Connect(s.ClientURL()+"/s", "test")
	if err != nil {
		t.Fatal(err)
	}
	defer three.Close()
	opened(t, three, "")
	if _, _, err := three.Bounds(t.Context()); err == nil || !strings.Contains(err.Error(), "on 1 servers, not on 3") {
		t.Error(err)
	}
	// The last stream is full at some time: then nothing more is confirmed, and nothing goes.
	for err = nil; err == nil; {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err = log.Append(ctx, make([]byte, 100))
		cancel()
	}
	if !strings.Contains(err.Error(), "maximum bytes exceeded") {
		t.Error(err)
	}
	if first, last, err := log.Bounds(t.Context()); first != 1 || last < 10 || err != nil {
		t.Errorf("entries %d to %d, %v", first, last, err)
	}
	large := make([]byte, log.MostBytes()+1)
	for i := range large {
		large[i] = byte(rand.Uint32())
	}
	if err := log.Append(t.Context(), large); !errors.Is(err, ordered.ErrTooLarge) {
		t.Error(err)
	}
}
