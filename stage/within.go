package stage

import (
	"bytes"
	"fmt"

	"github.com/alike-dev/alike/recipe"
)

// A withinField is the name of the field within whose values a plan compares documents; "": all are compared.
type withinField string

func (p *Plan) within() withinField { return withinField(p.recipe.Within()) }

// of returns the hash of a document's value; 0 if all documents are compared.
func (f withinField) of(d *Document) recipe.Within {
	if f == "" {
		return 0
	}
	return recipe.WithinOf(d.Within)
}

// append appends a document's value to a payload, if documents are compared within values.
func (f withinField) append(dst, value []byte) []byte {
	if f == "" {
		return dst
	}
	return appendPart(dst, value)
}

// cut undoes append.
func (f withinField) cut(b []byte) (value, rest []byte, err error) {
	if f == "" {
		return nil, b, nil
	}
	return cutPart(b)
}

// same is an error if two documents that were found similar have different values: only those with equal hashes
// get so far.
func (f withinField) same(a, b []byte) error {
	if bytes.Equal(a, b) {
		return nil
	}
	return fmt.Errorf("the values %q and %q of the field %q have the same hash, so that documents of both were compared: write one of them in another way", a, b, string(f))
}
