package main

import "github.com/alike-dev/alike/bench/internal/bare"

// listen is a server that does nothing: it reads a request up to the end of its body and sends an answer of fixed bytes.
// What it takes is the floor of any server in Go on the machine.
func listen() error { return bare.Listen(func([]byte) []byte { return fixedAnswer }) }

var fixedAnswer = []byte("HTTP/1.1 200 OK\r\nAlike-Durability: memory\r\nCache-Control: no-store\r\nContent-Type: application/json\r\n" +
	"Date: Thu, 26 Nov 2026 23:15:52 GMT\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 25\r\n\r\n{\"id\":\"12345\",\"new\":true}")
