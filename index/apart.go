package index

import (
	"bytes"
	"fmt"

	"github.com/alike-dev/alike/internal/hashing"
)

// A made id is one that a program has made up for a document without an id of its own: file:line, or the place in
// a stream. Two documents can have it by chance: the line 1 of standard input is another document each day. So
// with Options.ByID a document with a made id replaces only itself. If another document has the id, it is named
// apart:
//
//	stdin.jsonl:1#3f2a9c0d11e8b7a4      # and the hash of its columns and its text, or what is stored of it
//
// A text gets the same name each time, so a command that is repeated finds the document there.

// same reports whether two documents with one id are equal in all that is stored of them.
func (r *record) same(as *record) bool {
	return r.kind == as.kind && bytes.Equal(r.columns, as.columns) && bytes.Equal(r.body, as.body)
}

// renamedApart returns the record under its name apart.
func (r record) renamedApart() record {
	content := hashing.Bytes(appendRecord(nil, record{kind: r.kind, columns: r.columns, body: r.body}))
	r.id = fmt.Appendf(nil, "%s#%016x", r.id, content)
	return r
}
