package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/internal/testsize"
)

// childDir, if set, makes the test's program a server of that folder.
const childDir = "ALIKE_TEST_SERVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := serveUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		http.DefaultClient.CloseIdleConnections()
		os.Exit(code)
	}))
}

func serveUntilKilled(dir string) error {
	s, err := New(Config{Dir: dir, Durability: Durability(os.Getenv(childDir + "_DURABILITY")), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	return s.Serve(listener)
}

// child is a server in a process of its own.
type child struct {
	*service
	cmd *exec.Cmd
}

func startChild(t *testing.T, dir string, durability Durability) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childDir+"_DURABILITY="+string(durability))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &child{&service{t: t, url: strings.TrimSpace(url)}, cmd}
}

// kill ends the process at once.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// sendUntilKilled sends single checks and NDJSON until the server is gone; after some answers it calls enough. It
// returns the ids of documents that the answers said were added.
func (c *child) sendUntilKilled(round int, enough func()) (acknowledged []string) {
	var mu sync.Mutex
	note := func(ids ...string) {
		mu.Lock()
		defer mu.Unlock()
		before := len(acknowledged)
		if acknowledged = append(acknowledged, ids...); before < 200 && len(acknowledged) >= 200 {
			enough()
		}
	}
	line := func(id string) string { return fmt.Sprintf(`{"id":%q,"text":"text of %s alone"}`, id, id) }
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("s%d-%d-%d", round, w, n)
				answer, err := http.Post(c.url+"/v1/collections/c/check", jsonType, strings.NewReader(line(id)))
				if err != nil {
					return
				}
				out, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || string(out) != "{\"new\":true}\n" {
					return
				}
				note(id)
			}
		})
	}
	group.Go(func() { c.sendLines(round, line, note) })
	group.Wait()
	return acknowledged
}

// sendLines sends one body without an end, and notes the ids of the lines that are answered.
func (c *child) sendLines(round int, line func(id string) string, note func(ids ...string)) {
	in, out := io.Pipe()
	go func() {
		for n := 0; ; n++ {
			if _, err := io.WriteString(out, line(fmt.Sprintf("l%d-%d", round, n))+"\n"); err != nil {
				return
			}
		}
	}()
	defer in.Close()
	answer, err := http.Post(c.url+"/v1/collections/c/documents", ndjson, in)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for n := 0; lines.Scan(); n++ {
		if !bytes.Equal(lines.Bytes(), []byte(`{"new":true}`)) {
			return
		}
		note(fmt.Sprintf("l%d-%d", round, n))
	}
}

// A server under load is killed again and again. What it has acknowledged is there when it is started again, and a
// repeated check of it gets the same answer.
func TestAKilledServerHasWhatItAcknowledged(t *testing.T) {
	kills := 5 // ALIKE_RUNS=50 takes some minutes
	if n, err := strconv.Atoi(os.Getenv("ALIKE_RUNS")); err == nil {
		kills = n
	}
	if testsize.Small() {
		kills = 2
	}
	for _, durability := range []Durability{Sync, Interval} {
		t.Run(string(durability), func(t *testing.T) {
			dir := t.TempDir()
			for round := range kills {
				c := startChild(t, dir, durability)
				if round == 0 {
					c.want(http.StatusCreated, "", "PUT", "/v1/collections/c", `{"ngram":2,"threshold":0.9,"keys":"memory"}`)
				}
				acknowledged := c.sendUntilKilled(round, c.kill)
				_ = c.cmd.Process.Kill()
				c = startChild(t, dir, durability)
				for _, id := range acknowledged {
					code, out := c.do("GET", "/v1/collections/c/documents/"+id, jsonType, "")
					var d struct{ ID string }
					if err := json.Unmarshal([]byte(out), &d); err != nil || code != http.StatusOK || d.ID != id {
						t.Fatalf("%s was acknowledged: %d %s", id, code, out)
					}
				}
				c.want(http.StatusOK, `{"new":true}`, "POST", "/v1/collections/c/check", fmt.Sprintf(`{"id":%q,"text":"text of %s alone"}`, acknowledged[0], acknowledged[0]))
				c.kill()
			}
		})
	}
}
