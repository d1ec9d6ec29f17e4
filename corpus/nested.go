package corpus

import (
	"bytes"
	"strings"

	"github.com/alike-dev/alike/corpus/internal/jsonline"
)

// A nested field of JSON has a name with dots, as a nested column of Parquet: "meta.lang" is the field lang of the object
// meta. It is looked for only where no field of the outermost object has the whole name. An object in it is found by the
// same rule.
type nested struct {
	at, outer int    // in Parser.names: the field, and the object that it would lie in
	rest      []byte // of the name, in that object
	names     [2][]byte
	vals      [2]jsonline.Value // scratch
}

var dot = []byte(".")

// find sets the field if it lies in the object. The object is valid: the parser has accepted it.
func (n *nested) find(json *jsonline.Scanner, field, outer *jsonline.Value) {
	if field.Kind != jsonline.KindNone {
		return
	}
	for rest, more := n.rest, true; more && outer.Kind == jsonline.KindObject; outer = &n.vals[1] {
		object := outer.Val
		n.names[0] = rest
		n.names[1], rest, more = bytes.Cut(rest, dot)
		for i := range n.vals {
			n.vals[i].Kind, n.vals[i].Val = jsonline.KindNone, nil
		}
		json.Object(object, n.names[:], n.vals[:])
		if found := &n.vals[0]; found.Kind != jsonline.KindNone {
			field.Kind, field.Val = found.Kind, found.Val
			return
		}
	}
}

const (
	// mostNested is the number of fields in an object, of all records that were seen, up to which it has columns.
	mostNested = 100
	// deepest is the depth of objects down to which fields in them have names.
	deepest = 8
)

// fieldNames collects the names of fields of objects, nested ones for those that are objects.
type fieldNames struct {
	json  *jsonline.Scanner
	all   []*fieldName
	known map[string]*fieldName
}

// fieldName is a field of the outermost object.
type fieldName struct {
	name  string
	value bool // it was seen with a value that is neither an object nor null
	inner []string
	known map[string]bool
}

// see adds the fields of an object that the scanner has accepted.
func (f *fieldNames) see(object []byte) {
	f.json.Each(object, func(name, value []byte) {
		of := f.known[string(name)]
		if of == nil {
			if f.known == nil {
				f.known = map[string]*fieldName{}
			}
			of = &fieldName{name: string(name), known: map[string]bool{}}
			f.known[of.name], f.all = of, append(f.all, of)
		}
		of.see(f.json, of.name, value, 0)
	})
}

// see adds what is in a value, whose path is that of a field. No path leads through a name with a dot.
func (f *fieldName) see(json *jsonline.Scanner, path string, value []byte, depth int) {
	switch {
	case len(f.inner) > mostNested:
	case value[0] == '{' && depth < deepest && strings.Count(path, ".") == depth:
		json.Each(value, func(name, value []byte) { f.see(json, path+"."+string(name), value, depth+1) })
	case depth == 0:
		f.value = f.value || value[0] != 'n'
	case !f.known[path]:
		f.known[path], f.inner = true, append(f.inner, path)
	}
}

// names returns the names in the order in which they were seen, each once.
func (f *fieldNames) names() (names []string) {
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name], names = true, append(names, name)
		}
	}
	for _, of := range f.all {
		inner := of.inner
		if len(inner) > mostNested {
			inner = nil
		}
		if of.value || len(inner) == 0 {
			add(of.name)
		}
		for _, path := range inner {
			add(path)
		}
	}
	return names
}
