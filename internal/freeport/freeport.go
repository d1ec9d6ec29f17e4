// Package freeport finds ports for servers that tests run as processes.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

const least, ports = 10000, 20000

// last was given last, above least: none is given twice.
var last atomic.Uint32

func init() { last.Store(rand.Uint32N(ports)) }

// Find returns a port of this machine that no process listens on. It is below those that systems give to connections,
// and to listeners that ask for any: a process takes its port some time after it was chosen, and again when it begins
// anew, and until then the system must not give it to another one.
func Find() (port string, err error) {
	for range ports {
		port := strconv.Itoa(least + int(last.Add(1)%ports))
		if l, err := net.Listen("tcp", ":"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", errors.New("no port is free")
}
