package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"sync"
)

// client is a connection to a server of Valkey. Calls of any number of goroutines go on their way together, and are
// answered in their order.
type client struct {
	conn    net.Conn
	waiting chan chan reply // in the order of the calls

	mu     sync.Mutex
	out    *bufio.Writer
	failed error
}

type reply struct {
	value any // string, int64, []any; nil: none
	err   error
}

func dial(address string) (*client, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn, waiting: make(chan chan reply, 4096), out: bufio.NewWriterSize(conn, 256<<10)}
	go c.read()
	return c, nil
}

func (c *client) read() {
	in := bufio.NewReaderSize(c.conn, 256<<10)
	for done := range c.waiting {
		value, err := parse(in)
		done <- reply{value, err}
		var refused refusal
		if err != nil && !errors.As(err, &refused) {
			c.conn.Close()
			c.mu.Lock()
			c.failed = err
			c.mu.Unlock()
		}
	}
}

// do sends commands one after the other, and returns the answers.
func (c *client) do(commands ...[]string) (values []any, err error) {
	var all []chan reply
	c.mu.Lock()
	err = c.failed
	for _, words := range commands {
		if err != nil {
			break
		}
		fmt.Fprintf(c.out, "*%d\r\n", len(words))
		for _, w := range words {
			c.out.WriteString("$" + strconv.Itoa(len(w)) + "\r\n" + w + "\r\n")
		}
		done := make(chan reply, 1)
		all = append(all, done)
		c.waiting <- done
	}
	c.mu.Unlock()
	runtime.Gosched() // others write meanwhile what goes in the same packet
	c.mu.Lock()
	_ = c.out.Flush() // what is not sent is not answered
	c.mu.Unlock()
	for _, done := range all {
		r := <-done
		values, err = append(values, r.value), errors.Join(err, r.err)
	}
	return values, err
}

// refusal is an error that the server tells.
type refusal string

func (r refusal) Error() string { return "valkey: " + string(r) }

func parse(in *bufio.Reader) (any, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 {
		return nil, fmt.Errorf("valkey: an answer %q", line)
	}
	kind, rest := line[0], line[1:len(line)-2]
	switch kind {
	case '+':
		return rest, nil
	case '-':
		return nil, refusal(rest)
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	switch {
	case err != nil:
		return nil, err
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		b := make([]byte, n+2)
		_, err := io.ReadFull(in, b)
		return string(b[:n]), err
	}
	all := make([]any, n)
	for i := range all {
		one, bad := parse(in)
		all[i], err = one, errors.Join(err, bad)
	}
	return all, err
}
