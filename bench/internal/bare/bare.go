// Package bare is the least that answers bench/service over HTTP, to measure what a server takes beside that.
package bare

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
)

// Listen answers requests on a free port, which it tells on standard error as alike serve does, by what answer returns for
// their bodies.
func Listen(answer func(body []byte) []byte) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "{\"address\":\"%s\"}\n", listener.Addr())
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go answerAll(conn, answer)
	}
}

// answerAll answers requests that come one by one and say the length of their bodies: as bench/service sends them.
func answerAll(conn net.Conn, answer func(body []byte) []byte) {
	defer conn.Close()
	in := make([]byte, 64<<10)
	for n := 0; ; {
		m, err := conn.Read(in[n:])
		if err != nil {
			return
		}
		n += m
		head, body, _ := bytes.Cut(in[:n], []byte("\r\n\r\n"))
		_, length, _ := bytes.Cut(head, []byte("Content-Length: "))
		if size, err := strconv.Atoi(string(length)); err != nil || len(body) < size {
			continue
		}
		n = 0
		if _, err := conn.Write(answer(body)); err != nil {
			return
		}
	}
}
