package corpus

import (
	"bytes"

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

// wantNested adds the objects in which the wanted fields may lie.
func (p *Parser) wantNested() {
	for at, wanted := 0, len(p.names); at < wanted; at++ {
		if outer, rest, ok := bytes.Cut(p.names[at], dot); ok {
			p.nested = append(p.nested, nested{at: at, outer: p.want(string(outer)), rest: rest})
		}
	}
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
