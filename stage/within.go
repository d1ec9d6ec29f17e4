package stage

import (
	"bytes"
	"fmt"

	"github.com/alike-dev/alike/recipe"
)

// within returns the hash of a document's value; 0 if the recipe compares all documents.
func (p *Plan) within(d *Document) recipe.Within {
	if p.recipe.Within() == "" {
		return 0
	}
	return recipe.WithinOf(d.Within)
}

// appendWithin appends a document's value to a payload, if the recipe compares within values.
func (p *Plan) appendWithin(dst, value []byte) []byte {
	if p.recipe.Within() == "" {
		return dst
	}
	return appendPart(dst, value)
}

// cutWithin undoes appendWithin.
func (p *Plan) cutWithin(b []byte) (value, rest []byte, err error) {
	if p.recipe.Within() == "" {
		return nil, b, nil
	}
	return cutPart(b)
}

// sameValue is an error if two documents that were found similar have different values: only those with equal hashes
// get so far.
func (p *Plan) sameValue(a, b []byte) error {
	if bytes.Equal(a, b) {
		return nil
	}
	return fmt.Errorf("the values %q and %q of the field %q have the same hash, so that documents of both were compared: write one of them in another way", a, b, p.recipe.Within())
}
