package freeport

import (
	"net"
	"strconv"
	"testing"
)

// The ports that systems give out begin at 32768 on Linux, and at 49152 elsewhere.
func TestPortsAreFreeAndGivenOnce(t *testing.T) {
	given := map[string]bool{}
	for range 50 {
		port, err := Find()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := strconv.Atoi(port); err != nil || n >= 32768 || given[port] {
			t.Errorf("%s: %v, given before: %v", port, err, given[port])
		}
		given[port] = true
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}
