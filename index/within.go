package index

import (
	"bytes"
	"slices"

	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/recipe"
)

// A value is what a document has in the field of recipe.Recipe.Within, which is one of its columns. Keys and digests
// depend on it, and candidates with another one are left out by comparing the values.
type value struct {
	recipe.Within
	bytes []byte
}

// valueOf returns the value of a document by its columns; nil columns have none.
func (x *collection) valueOf(columns [][]byte) value {
	if x.within < 0 {
		return value{}
	}
	v := value{}
	if x.within < len(columns) {
		v.bytes = columns[x.within]
	}
	v.Within = recipe.WithinOf(v.bytes)
	return v
}

// valueIn returns the value of a stored document.
func (x *collection) valueIn(r record) (value, error) {
	if x.within < 0 {
		return value{}, nil
	}
	columns, err := parseColumns(r.columns)
	return x.valueOf(columns), err
}

// accepting returns a function that accepts columns that accepts does, of documents with the value.
func (x *collection) accepting(v value, accepts func([][]byte) bool) func([][]byte) bool {
	if x.within < 0 {
		return accepts
	}
	return func(columns [][]byte) bool {
		return bytes.Equal(x.valueOf(columns).bytes, v.bytes) && (accepts == nil || accepts(columns))
	}
}

// valueAsked returns the value within which a search is made.
func (x *collection) valueAsked(within []byte) (value, error) {
	if x.within < 0 {
		return value{}, nil
	}
	if within == nil {
		return value{}, setting.Errorf("the index compares within the values of %q: search it for records that have the field", x.options.Recipe.Within())
	}
	return value{recipe.WithinOf(within), within}, nil
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
