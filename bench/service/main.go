// Command service sends the lines of a file as single checks to a server of alike, over connections that are kept, and
// prints what the server's own processor took for a document. It writes and reads the connections itself, since a
// client of net/http takes more than the server. On Linux, as the server's time is from /proc.
//
//	service -connections 32 -pid 4242 http://127.0.0.1:8080/v1/collections/c/check docs.jsonl
//
// With -rate it sends so many a second whatever the answers take, and counts waiting as part of their time. With -for it
// goes on so long, with other ids, takes 429 for an answer, and sends nothing on a connection that waits for one.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	connections := flag.Int("connections", 32, "connections at once")
	pid := flag.Int("pid", 0, "process of the server")
	rate := flag.Float64("rate", 0, "checks a second; 0: as fast as answers come")
	last := flag.Duration("for", 0, "how long; 0: each line once")
	flag.Parse()
	if err := run(flag.Arg(0), flag.Arg(1), *connections, *pid, *rate, *last); err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}

func run(target, file string, connections, pid int, rate float64, last time.Duration) error {
	at, err := url.Parse(target)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if last > 0 {
		return overload(at, lines, connections, pid, rate, last)
	}
	took := make([]time.Duration, len(lines))
	before, err := processor(pid)
	if err != nil {
		return err
	}
	var next atomic.Int64
	var group sync.WaitGroup
	failed := make([]error, connections)
	begun := time.Now()
	for c := range connections {
		group.Go(func() { failed[c] = send(at, lines, took, &next, begun, rate) })
	}
	group.Wait()
	wall := time.Since(begun)
	if err := errors.Join(failed...); err != nil {
		return err
	}
	after, err := processor(pid)
	if err != nil {
		return err
	}
	slices.Sort(took)
	n := len(took)
	fmt.Printf("%d checks, %.0f/s, %.1f µs of the server's processor each, median %v, p99 %v\n", n, float64(n)/wall.Seconds(),
		float64((after-before).Microseconds())/float64(n), took[n/2], took[n*99/100])
	return nil
}

// send sends lines over one connection, and notes how long each answer took.
func send(at *url.URL, lines [][]byte, took []time.Duration, next *atomic.Int64, begun time.Time, rate float64) error {
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	var request []byte
	for i := next.Add(1) - 1; int(i) < len(lines); i = next.Add(1) - 1 {
		sent := time.Now()
		if rate > 0 {
			sent = begun.Add(time.Duration(float64(i) / rate * float64(time.Second)))
			time.Sleep(time.Until(sent))
		}
		request = fmt.Appendf(request[:0], "POST %s HTTP/1.1\r\nHost: %s\r\n", at.RequestURI(), at.Host)
		request = fmt.Appendf(request, "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(lines[i]))
		if _, err := conn.Write(append(request, lines[i]...)); err != nil {
			return err
		}
		status, err := answer(in)
		if err != nil {
			return err
		}
		if status != 200 {
			return fmt.Errorf("a check was answered %d", status)
		}
		took[i] = time.Since(sent)
	}
	return nil
}

// answer reads an answer, which must have a length, and returns its status.
func answer(in *bufio.Reader) (status int, err error) {
	first, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscanf(first, "HTTP/1.1 %d", &status); err != nil {
		return 0, errors.New(strings.TrimSpace(first))
	}
	length := 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		name, value, more := strings.Cut(strings.TrimSpace(line), ": ")
		if !more {
			break
		}
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(value); err != nil {
				return 0, err
			}
		}
	}
	_, err = io.CopyN(io.Discard, in, int64(length))
	return status, err
}

// processor returns the processor time that a process has taken so far; 0 without one.
func processor(pid int) (time.Duration, error) {
	if pid == 0 {
		return 0, nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	words := strings.Fields(rest)
	const user, system = 11, 12 // behind the name
	ticks := 0
	for _, at := range []int{user, system} {
		n, err := strconv.Atoi(words[at])
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
