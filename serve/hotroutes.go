package serve

import "bytes"

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
	beside = []*hotRoute{{"/v1/sketch", "POST /v1/sketch", ReadAny, reading, sketchHot}}
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
