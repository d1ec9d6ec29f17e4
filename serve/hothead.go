package serve

import (
	"bytes"
	"strings"
)

// A hotHead is the head of a request that a front answers itself.
type hotHead struct {
	route         *hotRoute
	collection    string // "": the route has none
	authorization string
	length        int // of the body, in bytes
}

// mostHotBody is the largest body that a front reads, in bytes: of a larger one the work is most of the time anyway.
const mostHotBody = 64 << 10

// parseHotHead reads a head up to and including its empty line. ok is false for whatever is not plainly a request of
// a hot route: another route, another version, a body without a length, a header that is twice there or not known here,
// a byte that need not be in any. That is net/http's, which reads it from its first byte. So no head is read in two
// ways.
func parseHotHead(head []byte) (h hotHead, ok bool) {
	line, rest, ok := cutLine(head)
	if !ok {
		return h, false
	}
	target, ok := bytes.CutPrefix(line, []byte("POST "))
	if !ok {
		return h, false
	}
	if target, ok = bytes.CutSuffix(target, []byte(" HTTP/1.1")); !ok {
		return h, false
	}
	if h.route, h.collection = findHotRoute(target); h.route == nil {
		return h, false
	}
	seen := hotHeaders(0)
	for {
		if line, rest, ok = cutLine(rest); !ok {
			return h, false
		}
		if len(line) == 0 {
			const needed = 1<<headerHost | 1<<headerLength
			return h, len(rest) == 0 && seen&needed == needed
		}
		at, value, known := hotHeader(line)
		if !known || at != headerOther && seen&(1<<at) != 0 {
			return h, false
		}
		seen |= 1 << at
		if !h.take(at, value) {
			return h, false
		}
	}
}

// cutLine returns a line before its CR LF. A CR or LF elsewhere, and bytes that are not visible, are none of a line.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	at := bytes.IndexByte(b, '\n')
	if at < 1 || b[at-1] != '\r' {
		return nil, nil, false
	}
	line = b[:at-1]
	for _, c := range line {
		if c < ' ' || c > '~' {
			return nil, nil, false
		}
	}
	return line, b[at+1:], true
}

// hotHeaders is a set of headers.
type hotHeaders uint

const (
	headerOther = iota // does not change what the request means
	headerHost
	headerLength
	headerType
	headerAuthorization
	headerConnection
)

// hotHeaderNames are the headers that a front knows, in small letters.
var hotHeaderNames = map[string]int{
	"host": headerHost, "content-length": headerLength, "content-type": headerType, "authorization": headerAuthorization,
	"connection": headerConnection, "accept": headerOther, "accept-encoding": headerOther, "accept-language": headerOther,
	"user-agent": headerOther, "x-request-id": headerOther, "x-forwarded-for": headerOther, "x-forwarded-proto": headerOther,
	"x-forwarded-host": headerOther, "x-real-ip": headerOther, "traceparent": headerOther, "tracestate": headerOther,
}

// longestHotHeader is the length of the longest of them.
const longestHotHeader = len("x-forwarded-proto")

// hotHeader splits a line of the head. A space before the colon, or in place of a name, makes it unknown.
func hotHeader(line []byte) (at int, value []byte, known bool) {
	name, value, found := bytes.Cut(line, []byte{':'})
	if !found || len(name) > longestHotHeader {
		return 0, nil, false
	}
	var small [longestHotHeader]byte
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		small[i] = c
	}
	at, known = hotHeaderNames[string(small[:len(name)])]
	return at, bytes.Trim(value, " "), known
}

// take takes a header; false says that its value is not one of those that a front knows.
func (h *hotHead) take(at int, value []byte) bool {
	switch at {
	case headerHost:
		return len(value) > 0 && isHost(value)
	case headerLength:
		if len(value) == 0 || len(value) > 5 {
			return false
		}
		for _, c := range value {
			if c < '0' || c > '9' {
				return false
			}
			h.length = 10*h.length + int(c-'0')
		}
		return h.length > 0 && h.length <= mostHotBody
	case headerType:
		return string(value) == jsonType || string(value) == jsonType+"; charset=utf-8"
	case headerAuthorization:
		h.authorization = string(value)
	case headerConnection:
		return strings.EqualFold(string(value), "keep-alive")
	}
	return true
}

// isHost tells whether all bytes are those of a name or address with a port.
func isHost(value []byte) bool {
	for _, c := range value {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-', c == ':', c == '_', c == '[', c == ']':
		default:
			return false
		}
	}
	return true
}

// A hotRoute answers JSON by JSON, and its requests come one by one in great numbers, so that a front answers them.
type hotRoute struct {
	path    string // of the route, or behind that of its collection
	pattern string // of the route in its list
	right   Right
	budget  func(s *Server) *budget
	// answer appends the answer to a body.
	answer func(s *Server, of *collection, dst, body []byte) ([]byte, error)
}

func addHot(_ *Server, of *collection, dst, body []byte) ([]byte, error) {
	return of.check(dst, body, true)
}

func searchHot(_ *Server, of *collection, dst, body []byte) ([]byte, error) {
	return of.search(dst, body)
}

func sketchHot(s *Server, _ *collection, dst, body []byte) ([]byte, error) {
	return s.sketchers.sketch(dst, body)
}

// inCollection are hot routes of a collection, and beside are others.
var (
	inCollection = []*hotRoute{
		{"/check", "POST" + ofCollection + "/check", Write, writing, addHot},
		{"/documents", "POST" + ofCollection + "/documents", Write, writing, addHot},
		{"/search", "POST" + ofCollection + "/search", Read, reading, searchHot},
	}
	beside = []*hotRoute{{"/v1/sketch", sketchPattern, ReadAny, reading, sketchHot}}
)

var collectionPath = []byte("/v1/collections/")

// findHotRoute returns the hot route of a path, nil if it is another one, and the collection in it.
func findHotRoute(path []byte) (route *hotRoute, collection string) {
	name, ok := bytes.CutPrefix(path, collectionPath)
	if !ok {
		for _, r := range beside {
			if r.path == string(path) {
				return r, ""
			}
		}
		return nil, ""
	}
	at := bytes.IndexByte(name, '/')
	if at < 0 || !isName(name[:at]) {
		return nil, ""
	}
	for _, r := range inCollection {
		if r.path == string(name[at:]) {
			return r, string(name[:at])
		}
	}
	return nil, ""
}
