// Command valkey is what replicas of alike serve are compared with: a server that keeps documents, and the keys by which
// they are found, in a server of Valkey or Redis, and decides by one Lua call a check.
//
//	valkey -store 127.0.0.1:6379 [-wait has|disk]                                 answers checks of bench/service
//	valkey -store 127.0.0.1:6379 -second 127.0.0.1:6380 -kill PID docs.jsonl      what is lost in failover
//
// For failover the second server is made to follow the first through a link. Under load the link is cut, as when a
// machine loses its network, and 50 ms later the first server is killed and the second one takes its place.
//
// With -wait has a check is answered when a second server has what it has written (WAIT 1), with disk when the disks of
// both have it (WAITAOF 1 1).
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/bench/internal/bare"
)

func main() {
	store := flag.String("store", "", "address of the server")
	second := flag.String("second", "", "address of the server that follows it")
	wait := flag.String("wait", "", "answer when the second server has what was written, or the disks of both have: has or disk")
	pid := flag.Int("kill", 0, "process of the first server, to be killed under load")
	after := flag.Duration("after", time.Second, "when it is killed")
	flag.Parse()
	b, err := newBands(*store, map[string][]string{"has": {"WAIT", "1", "10000"}, "disk": {"WAITAOF", "1", "1", "10000"}}[*wait])
	switch {
	case err != nil:
	case *pid > 0:
		err = b.losses(flag.Arg(0), *pid, *after, *second)
	default:
		err = b.listen()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "valkey:", err)
		os.Exit(1)
	}
}

// listen answers checks.
func (b *bands) listen() error {
	return bare.Listen(func(body []byte) []byte {
		status, answer := "200 OK", `{"new":true}`
		id, text, ok := fields(string(body))
		if !ok {
			status, answer = "400 Bad Request", `{}`
		} else if of, err := b.check(id, text); err != nil {
			status, answer = "503 Service Unavailable", `{}`
		} else if of != "" {
			answer = `{"new":false,"duplicate_of":"` + of + `"}`
		}
		return fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(answer), answer)
	})
}

// losses checks documents by 64 goroutines until the first server is killed, and counts what the second one has not.
func (b *bands) losses(file string, pid int, after time.Duration, second string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	first, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	cut, left, err := b.follow(second)
	if err != nil {
		return err
	}
	time.AfterFunc(after, func() {
		cut()
		time.Sleep(50 * time.Millisecond)
		_ = first.Kill()
	})
	var mu sync.Mutex
	var group sync.WaitGroup
	acknowledged := map[string]string{} // id → what it is a duplicate of
	for c := range 64 {
		group.Go(func() {
			for i := c; i < len(lines); i += 64 {
				id, text, _ := fields(lines[i])
				of, err := b.check(id, text)
				if errors.Is(err, errUnconfirmed) {
					continue
				}
				if err != nil {
					return
				}
				mu.Lock()
				acknowledged[id] = of
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if _, err := left.do([]string{"REPLICAOF", "NO", "ONE"}); err != nil {
		return err
	}
	added, lost, wrong := 0, 0, 0
	for id, of := range acknowledged {
		kept := id
		if of != "" {
			kept = of
		} else {
			added++
		}
		there, err := left.do([]string{"HEXISTS", "d", kept})
		if err != nil {
			return err
		}
		switch {
		case there[0] == int64(1):
		case of == "":
			lost++
		default:
			wrong++
		}
	}
	fmt.Printf("%d acknowledged, %d added: %d lost, %d duplicates of something lost\n", len(acknowledged), added, lost, wrong)
	return nil
}

// follow has a server follow the first one through a link, which cut cuts.
func (b *bands) follow(second string) (cut func(), to *client, err error) {
	if to, err = dial(second); err != nil {
		return nil, nil, err
	}
	link, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	var isCut atomic.Bool
	go func() {
		for {
			from, err := link.Accept()
			if err != nil {
				return
			}
			if on, err := net.Dial("tcp", b.address); err == nil {
				go carry(on, from, &isCut)
				go carry(from, on, &isCut)
			}
		}
	}()
	_, port, _ := net.SplitHostPort(link.Addr().String())
	_, err = to.do([]string{"REPLICAOF", "127.0.0.1", port})
	for err == nil {
		var told []any
		if told, err = to.do([]string{"INFO", "replication"}); err == nil && strings.Contains(told[0].(string), "master_link_status:up") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return func() { isCut.Store(true); link.Close() }, to, err
}

// carry copies what comes until the link is cut: then it is lost.
func carry(to, from net.Conn, isCut *atomic.Bool) {
	defer to.Close()
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if err != nil || isCut.Load() {
			return
		}
		if _, err := to.Write(piece[:n]); err != nil {
			return
		}
	}
}
