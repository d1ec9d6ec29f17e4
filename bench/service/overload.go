package main

import (
	"bufio"
	"bytes"
	"fmt"
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

// outcome is what one connection has seen.
type outcome struct {
	took          []time.Duration // of answers with what was asked for
	turnedAway    int
	others        int
	lastTurnedFor time.Duration // the longest answer that turned away
	err           error
}

// overload sends a rate of checks for a time whatever becomes of them: one that finds no connection free when it is due
// is not sent. Every document has an id of its own. Every second it notes the memory of the server.
func overload(at *url.URL, lines [][]byte, connections, pid int, rate float64, last time.Duration) error {
	due := make(chan int) // without room: who is free takes it
	outcomes := make([]outcome, connections)
	var group sync.WaitGroup
	for c := range connections {
		group.Go(func() { outcomes[c].err = outcomes[c].ask(at, lines, due) })
	}
	var memory []int64
	var unsent atomic.Int64
	begun := time.Now()
	before, err := processor(pid)
	if err != nil {
		return err
	}
	noted := begun
	for i := 0; ; i++ {
		when := begun.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if when.Sub(begun) > last {
			break
		}
		if wait := time.Until(when); wait > 500*time.Microsecond {
			time.Sleep(wait)
		}
		select {
		case due <- i:
		default:
			unsent.Add(1)
		}
		if time.Since(noted) > time.Second {
			noted = time.Now()
			m, err := resident(pid)
			if err != nil {
				return err
			}
			memory = append(memory, m)
		}
	}
	close(due)
	wall := time.Since(begun)
	after, err := processor(pid)
	if err != nil {
		return err
	}
	group.Wait()
	return report(outcomes, unsent.Load(), wall, after-before, memory)
}

func report(outcomes []outcome, unsent int64, wall, processor time.Duration, memory []int64) error {
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
	fmt.Printf("%.0f/s answered, median %v, p99 %v; %.0f/s turned away (within %v), %d other answers, %.0f/s not sent since no connection was free; %.2f processors\n",
		float64(n)/wall.Seconds(), all.took[n/2].Round(time.Microsecond), all.took[n*99/100].Round(time.Microsecond), float64(all.turnedAway)/wall.Seconds(),
		all.lastTurnedFor.Round(time.Millisecond), all.others, float64(unsent)/wall.Seconds(), processor.Seconds()/wall.Seconds())
	if len(memory) > 0 {
		fmt.Printf("resident: %d to %d MiB, at the end %d\n", slices.Min(memory)>>20, slices.Max(memory)>>20, memory[len(memory)-1]>>20)
	}
	return nil
}

// ask sends checks when they are due.
func (o *outcome) ask(at *url.URL, lines [][]byte, due <-chan int) error {
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		return err
	}
	defer func() { conn.Close() }()
	in := bufio.NewReader(conn)
	var request []byte
	for i := range due {
		_, rest, _ := bytes.Cut(lines[i%len(lines)], []byte(","))
		body := append([]byte(`{"id":"r`+strconv.Itoa(i)+`",`), rest...)
		request = fmt.Appendf(request[:0], "POST %s HTTP/1.1\r\nHost: %s\r\n", at.RequestURI(), at.Host)
		request = fmt.Appendf(request, "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
		sent := time.Now()
		status := 0
		if _, err = conn.Write(append(request, body...)); err == nil {
			status, err = answer(in)
		}
		took := time.Since(sent)
		switch {
		case err != nil: // the server may end a connection
			o.others++
			conn.Close()
			if conn, err = net.Dial("tcp", at.Host); err != nil {
				return err
			}
			in = bufio.NewReader(conn)
		case status == 200:
			o.took = append(o.took, took)
		case status == 429:
			o.turnedAway++
			o.lastTurnedFor = max(o.lastTurnedFor, took)
		default:
			o.others++
		}
	}
	return nil
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
