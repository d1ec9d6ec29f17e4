// Command service sends the lines of a file as single checks to a server of alike, over connections that are kept, and
// prints what the server's own processor took for an answer. It writes and reads the connections itself, since a client
// of net/http takes more than the server. On Linux, as the server's time is from /proc.
//
//	service -connections 32 -pid 4242 http://127.0.0.1:8080/v1/collections/c/check docs.jsonl
//
// With -rate it sends so many a second whatever the answers take, and counts waiting as part of their time. With -for it
// goes on so long, with other ids, and takes 429 for an answer; a check that finds no connection free when it is due is
// not sent. With -floor it is a server that does nothing, to compare with. With -log it sends entries of 64 documents to the
// log of that URL and reads them as they come back, as a replica does, and prints what that takes here and of the -servers.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alike-dev/alike/bench/internal/bare"
	"github.com/alike-dev/alike/index"
)

type load struct {
	at    *url.URL
	lines [][]byte
	pid   int
	rate  float64       // checks a second; 0: as fast as answers come
	last  time.Duration // 0: each line once, and every answer must be 200
}

func main() {
	var l load
	connections := flag.Int("connections", 32, "connections at once")
	flag.IntVar(&l.pid, "pid", 0, "process of the server")
	flag.Float64Var(&l.rate, "rate", 0, "checks a second; 0: as fast as answers come")
	flag.DurationVar(&l.last, "for", 0, "how long; 0: each line once")
	floor := flag.Bool("floor", false, "be a server that does nothing instead")
	var e entryLoad
	log := flag.String("log", "", "URL of a log of replicas, to append the documents to")
	flag.StringVar(&e.servers, "servers", "", "processes of the log's servers, separated by commas")
	flag.StringVar(&e.keep, "keep", string(index.KeepText), "what the collection of the log keeps: text or nothing")
	flag.IntVar(&e.flights, "flights", 1, "entries on their way to the log at once")
	flag.Parse()
	if *log != "" {
		if err := e.run(*log, flag.Arg(0)); err != nil {
			fmt.Fprintln(os.Stderr, "service:", err)
			os.Exit(1)
		}
		return
	}
	if *floor {
		fmt.Fprintln(os.Stderr, "service:", listen())
		os.Exit(1)
	}
	if err := l.run(flag.Arg(0), flag.Arg(1), *connections); err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}

func (l *load) run(target, file string, connections int) (err error) {
	if l.at, err = url.Parse(target); err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	l.lines = bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	due := make(chan check) // without room: who is free takes it
	outcomes := make([]outcome, connections)
	var group sync.WaitGroup
	for c := range connections {
		group.Go(func() {
			outcomes[c].err = outcomes[c].ask(l, due)
			for range due { // after an error
			}
		})
	}
	before, err := processor(l.pid)
	if err != nil {
		return err
	}
	begun := time.Now()
	unsent, memory, err := l.send(due, begun)
	close(due)
	group.Wait()
	wall := time.Since(begun)
	after, failed := processor(l.pid)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	return report(outcomes, unsent, wall, after-before, memory)
}

// check is the number of a check, and when it is due.
type check struct {
	i    int
	when time.Time
}

// send lets checks be sent when they are due. It returns how many were not sent, and the server's memory each second.
func (l *load) send(due chan<- check, begun time.Time) (unsent int, memory []int64, err error) {
	noted := begun
	for i := 0; l.last > 0 || i < len(l.lines); i++ {
		when := time.Now()
		if l.rate > 0 {
			when = begun.Add(time.Duration(float64(i) / l.rate * float64(time.Second)))
		}
		if l.last > 0 && when.Sub(begun) > l.last {
			break
		}
		if wait := time.Until(when); wait > 500*time.Microsecond {
			time.Sleep(wait)
		}
		switch c := (check{i, when}); {
		case l.last == 0 || l.rate == 0:
			due <- c
		default:
			select {
			case due <- c:
			default:
				unsent++
			}
		}
		if l.pid != 0 && time.Since(noted) > time.Second {
			noted = time.Now()
			m, err := resident(l.pid)
			if err != nil {
				return unsent, memory, err
			}
			memory = append(memory, m)
		}
	}
	return unsent, memory, nil
}

func report(outcomes []outcome, unsent int, wall, processor time.Duration, memory []int64) error {
	var all outcome
	for _, o := range outcomes {
		if o.err != nil {
			return o.err
		}
		all.took = append(all.took, o.took...)
		all.turnedAway += o.turnedAway
		all.others += o.others
		all.lastTurnedFor = max(all.lastTurnedFor, o.lastTurnedFor)
	}
	n := len(all.took)
	if n == 0 {
		return fmt.Errorf("no check was answered; %d were turned away", all.turnedAway)
	}
	slices.Sort(all.took)
	second := func(n int) float64 { return float64(n) / wall.Seconds() }
	fmt.Printf("%.0f/s answered, median %v, p99 %v; %.1f µs of the server's processor each, %.2f processors\n", second(n),
		all.took[n/2].Round(time.Microsecond), all.took[n*99/100].Round(time.Microsecond),
		float64(processor.Microseconds())/float64(n), processor.Seconds()/wall.Seconds())
	if all.turnedAway+all.others+unsent > 0 {
		fmt.Printf("%.0f/s turned away (within %v), %d other answers, %.0f/s not sent since no connection was free\n", second(all.turnedAway),
			all.lastTurnedFor.Round(time.Millisecond), all.others, second(unsent))
	}
	if len(memory) > 0 {
		fmt.Printf("resident: %d to %d MiB, at the end %d\n", slices.Min(memory)>>20, slices.Max(memory)>>20, memory[len(memory)-1]>>20)
	}
	return nil
}

// listen is a server that does nothing: it reads a request up to the end of its body and sends an answer of fixed bytes.
// What it takes is the floor of any server in Go on the machine.
func listen() error { return bare.Listen(func([]byte) []byte { return fixedAnswer }) }

var fixedAnswer = []byte("HTTP/1.1 200 OK\r\nAlike-Durability: memory\r\nCache-Control: no-store\r\nContent-Type: application/json\r\n" +
	"Date: Thu, 26 Nov 2026 23:15:52 GMT\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 25\r\n\r\n{\"id\":\"12345\",\"new\":true}")

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

// resident returns the memory of a process in bytes; 0 without one.
func resident(pid int) (int64, error) {
	if pid == 0 {
		return 0, nil
	}
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// outcome is what one connection has seen.
type outcome struct {
	took          []time.Duration // of answers with what was asked for
	turnedAway    int
	others        int
	lastTurnedFor time.Duration // the longest answer that turned away
	err           error
}

// ask sends checks over one connection when they are due.
func (o *outcome) ask(l *load, due <-chan check) error {
	conn, err := net.Dial("tcp", l.at.Host)
	if err != nil {
		return err
	}
	defer func() { conn.Close() }()
	in := bufio.NewReader(conn)
	var request []byte
	for c := range due {
		body := l.lines[c.i%len(l.lines)]
		if l.last > 0 {
			_, rest, _ := bytes.Cut(body, []byte(","))
			body = append([]byte(`{"id":"r`+strconv.Itoa(c.i)+`",`), rest...)
		}
		request = fmt.Appendf(request[:0], "POST %s HTTP/1.1\r\nHost: %s\r\n", l.at.RequestURI(), l.at.Host)
		request = fmt.Appendf(request, "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
		status := 0
		if _, err = conn.Write(append(request, body...)); err == nil {
			status, err = answer(in)
		}
		took := time.Since(c.when)
		switch {
		case l.last == 0 && err != nil:
			return err
		case err != nil: // the server may end a connection
			o.others++
			conn.Close()
			if conn, err = net.Dial("tcp", l.at.Host); err != nil {
				return err
			}
			in = bufio.NewReader(conn)
		case status == http.StatusOK:
			o.took = append(o.took, took)
		case l.last == 0:
			return fmt.Errorf("a check was answered %d", status)
		case status == http.StatusTooManyRequests:
			o.turnedAway++
			o.lastTurnedFor = max(o.lastTurnedFor, took)
		default:
			o.others++
		}
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
