package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
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
