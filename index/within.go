package index

import (
	"slices"

	"github.com/alike-dev/alike/recipe"
)

// A value is what a document has in the field of recipe.Recipe.Within, which is one of its columns. Keys and digests
// depend on it, and candidates with another one are left out by comparing the values.
type value struct {
	recipe.Within
	bytes []byte
}

// ColumnsWithin returns the columns of a document of which only the value is stored within which it is compared; nil if all
// documents are compared.
func (o Options) ColumnsWithin(value []byte) [][]byte {
	at := o.WithinAt()
	if at < 0 {
		return nil
	}
	columns := make([][]byte, len(o.Columns))
	columns[at] = value
	return columns
}

// WithinAt returns which column has the value, -1 if all documents are compared.
func (o Options) WithinAt() int {
	if within := o.Recipe.Within(); within != "" {
		return slices.Index(o.Columns, within)
	}
	return -1
}
