package cluster

import (
	"fmt"
	"strings"
)

// rule is the property that a Keep compares.
type rule uint8

const (
	first rule = iota
	last
	longest
	shortest
	maxField
	minField
)

var ruleNames = [...]string{"first", "last", "longest", "shortest", "max:", "min:"}

// Keep says which document of a cluster to keep. The zero value keeps the first one.
// Values compare with ==.
type Keep struct {
	rule  rule
	field string
}

// Meta is what a Keep may need to know of a document; NeedsLength and Field tell which
// parts it uses.
type Meta struct {
	Length   int64  // of the text, in bytes
	Value    string // of the field, as written in the input
	HasValue bool   // false: the document has no such field
}

// IsNumber reports whether the field has a value that compares as a number.
func (m Meta) IsNumber() bool { return parseValue(m).class == number }

// ParseKeep reads "first", "last", "longest", "shortest", "max:FIELD" or
// "min:FIELD".
func ParseKeep(s string) (Keep, error) {
	for r, name := range ruleNames {
		field, isField := strings.CutPrefix(s, name)
		switch {
		case rule(r) < maxField:
			if s == name {
				return Keep{rule: rule(r)}, nil
			}
		case isField && field == "":
			return Keep{}, fmt.Errorf("keep rule %q lacks the field's name: write %sFIELD, such as %sdate", s, name, name)
		case isField:
			return Keep{rule: rule(r), field: field}, nil
		}
	}
	return Keep{}, fmt.Errorf("unknown keep rule %q: use first, last, longest, shortest, max:FIELD or min:FIELD", s)
}

// String returns the form that ParseKeep reads.
func (k Keep) String() string { return ruleNames[k.rule] + k.field }

// Field returns the field whose value the rule compares, "" if none.
func (k Keep) Field() string { return k.field }

// NeedsLength reports whether the rule compares the lengths of the texts.
func (k Keep) NeedsLength() bool { return k.rule == longest || k.rule == shortest }

// NeedsMeta reports whether the rule looks at more than document numbers.
func (k Keep) NeedsMeta() bool { return k.rule > last }

// Prefer reports whether to keep document a with metadata ma rather than b with mb. It is
// a strict total order on documents: ties go to the lower number.
//
// Values of a field compare so that the order has no cycles: a number wins over any other
// text, any text over a missing field, for max and min alike. Numbers ("12", "-0.5",
// "1e3", spaces around them ignored) compare by their exact decimal value, other texts by
// their bytes, which suits ISO 8601 dates.
func (k Keep) Prefer(a, b uint32, ma, mb Meta) bool {
	c := 0 // below 0: a is better
	switch k.rule {
	case last:
		return a > b
	case longest:
		c = -compareInt(ma.Length, mb.Length)
	case shortest:
		c = compareInt(ma.Length, mb.Length)
	case maxField:
		c = compareValues(ma, mb, -1)
	case minField:
		c = compareValues(ma, mb, 1)
	}
	if c != 0 {
		return c < 0
	}
	return a < b
}

// Order returns Prefer as a function of document numbers alone, the form that Star and
// Kept take. If NeedsMeta is false, meta is not called and may be nil.
func (k Keep) Order(meta func(doc uint32) Meta) func(a, b uint32) bool {
	if !k.NeedsMeta() {
		return func(a, b uint32) bool { return k.Prefer(a, b, Meta{}, Meta{}) }
	}
	return func(a, b uint32) bool { return k.Prefer(a, b, meta(a), meta(b)) }
}

// compareValues returns a negative number if a's value is better. sign is 1 if small
// values are better, −1 if large ones are.
func compareValues(a, b Meta, sign int) int {
	x, y := parseValue(a), parseValue(b)
	if x.class != y.class {
		return int(y.class) - int(x.class)
	}
	switch x.class {
	case number:
		return sign * x.decimal.compare(y.decimal)
	case text:
		return sign * strings.Compare(a.Value, b.Value)
	}
	return 0
}

type class uint8

const (
	missing class = iota
	text
	number
)

type value struct {
	class   class
	decimal decimal
}

func parseValue(m Meta) value {
	if !m.HasValue {
		return value{class: missing}
	}
	if d, ok := parseDecimal(strings.TrimSpace(m.Value)); ok {
		return value{number, d}
	}
	return value{class: text}
}

func compareInt(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
