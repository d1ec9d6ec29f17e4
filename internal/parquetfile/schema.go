package parquetfile

import (
	"fmt"
	"strings"
)

// physical is how a column's values are stored.
type physical int8

const (
	boolean physical = iota
	int32s
	int64s
	int96s
	floats
	doubles
	byteArrays
	fixedArrays
)

var physicalNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

func (p physical) String() string { return physicalNames[p] }

// logical is what a column's values mean.
type logical int8

const (
	plainValue logical = iota // as the physical type
	utf8String                // STRING, ENUM, JSON
	decimal
	date
	timeOfDay
	timestamp
	unsigned
	uuid
	float16
	interval
	otherValue // bytes that are no text: BSON, VARIANT, GEOMETRY and unknown types
)

// A Leaf is a column: a leaf of the schema.
type Leaf struct {
	Name string // the names on its path, joined by dots

	physical       physical
	width          int // bytes of a value; 0: BYTE_ARRAY
	maxDef, maxRep int // levels

	logical logical
	scale   int  // of a decimal
	unit    int  // of a time: units in a second
	utc     bool // a timestamp is an instant, not a local time
}

// IsList tells whether a row may have several values of the column.
func (l *Leaf) IsList() bool { return l.maxRep > 0 }

// IsText tells whether the values are byte arrays that hold text.
func (l *Leaf) IsText() bool {
	return l.physical == byteArrays && (l.logical == plainValue || l.logical == utf8String)
}

// Type names the type, for messages.
func (l *Leaf) Type() string {
	if l.IsList() {
		return "a list of " + l.physical.String()
	}
	names := map[logical]string{decimal: "DECIMAL", date: "DATE", timeOfDay: "TIME", timestamp: "TIMESTAMP", uuid: "UUID",
		float16: "FLOAT16", interval: "INTERVAL", otherValue: "binary data"}
	if name, ok := names[l.logical]; ok {
		return name
	}
	return l.physical.String()
}

// Field ids of SchemaElement.
const (
	elemType, elemLength, elemRepetition, elemName, elemChildren = 1, 2, 3, 4, 5
	elemConverted, elemScale, elemLogical                        = 6, 7, 10
)

const (
	optional, repeated = 1, 2
	// maxSchemaDepth bounds levels: they are kept in a byte each.
	maxSchemaDepth = 100
	// maxNames bounds the bytes of all names: the name of a group is part of every name below it.
	maxNames = 64 << 20
)

// leavesOf walks the schema, which is a tree in depth-first order.
func leavesOf(schema []structure) ([]Leaf, error) {
	w := schemaWalk{left: schema}
	if len(schema) == 0 {
		return nil, errSchema
	}
	root, err := w.take()
	if err != nil {
		return nil, err
	}
	if err := w.children(root, nil, 0, 0); err != nil {
		return nil, err
	}
	if len(w.left) > 0 {
		return nil, errSchema
	}
	return w.leaves, nil
}

var errSchema = fmt.Errorf("%w: a schema that is no tree", ErrCorrupt)

type schemaWalk struct {
	left   []structure
	leaves []Leaf
	names  int // bytes so far
}

func (w *schemaWalk) take() (structure, error) {
	if len(w.left) == 0 {
		return nil, errSchema
	}
	e := w.left[0]
	w.left = w.left[1:]
	return e, nil
}

func (w *schemaWalk) children(parent structure, path []string, maxDef, maxRep int) error {
	if len(path) >= maxSchemaDepth {
		return fmt.Errorf("%w: a schema deeper than %d", ErrUnsupported, maxSchemaDepth)
	}
	for range parent.intOr(elemChildren, 0) {
		e, err := w.take()
		if err != nil {
			return err
		}
		name, ok := e.bytes(elemName)
		if !ok {
			return errSchema
		}
		path := append(path[:len(path):len(path)], string(name))
		maxDef, maxRep := maxDef, maxRep
		switch e.intOr(elemRepetition, 0) {
		case optional:
			maxDef++
		case repeated:
			maxDef++
			maxRep++
		}
		if _, leaf := e.int(elemType); !leaf {
			if err := w.children(e, path, maxDef, maxRep); err != nil {
				return err
			}
			continue
		}
		l, err := leafOf(e)
		if err != nil {
			return err
		}
		for _, part := range path {
			w.names += len(part) + 1
		}
		if w.names > maxNames {
			return fmt.Errorf("%w: names of columns longer than %d bytes", ErrUnsupported, maxNames)
		}
		l.Name, l.maxDef, l.maxRep = strings.Join(path, "."), maxDef, maxRep
		w.leaves = append(w.leaves, l)
	}
	return nil
}

var widths = [...]int{boolean: 1, int32s: 4, int64s: 8, int96s: 12, floats: 4, doubles: 8, byteArrays: 0, fixedArrays: 0}

func leafOf(e structure) (Leaf, error) {
	typ := e.intOr(elemType, -1)
	if typ < 0 || typ > int64(fixedArrays) {
		return Leaf{}, fmt.Errorf("%w: a column of type %d", ErrUnsupported, typ)
	}
	l := Leaf{physical: physical(typ), width: widths[typ]}
	if l.physical == fixedArrays {
		length := e.intOr(elemLength, -1)
		if length < 1 || length > 1<<20 {
			return Leaf{}, fmt.Errorf("%w: a column of values of %d bytes", ErrUnsupported, length)
		}
		l.width = int(length)
	}
	l.scale = int(e.intOr(elemScale, 0))
	if union, ok := e.sub(elemLogical); ok && len(union) > 0 {
		l.setLogical(union)
	} else if c, ok := e.int(elemConverted); ok {
		l.setConverted(c)
	}
	if !l.fits() {
		l.logical = plainValue
	}
	return l, nil
}

// setLogical applies a LogicalType: a union, with one field set.
func (l *Leaf) setLogical(union structure) {
	detail, _ := union.sub(union[0].id)
	units := func() {
		l.utc = detail.bool(1, false)
		if unit, ok := detail.sub(2); ok && len(unit) > 0 && unit[0].id >= 1 && unit[0].id <= 3 {
			l.unit = [...]int{1e3, 1e6, 1e9}[unit[0].id-1]
		}
	}
	switch union[0].id {
	case 1, 4, 12:
		l.logical = utf8String
	case 5:
		l.logical, l.scale = decimal, int(detail.intOr(1, 0))
	case 6:
		l.logical = date
	case 7:
		l.logical = timeOfDay
		units()
	case 8:
		l.logical = timestamp
		units()
	case 10:
		if !detail.bool(2, true) {
			l.logical = unsigned
		}
	case 11:
		l.logical = plainValue // always null
	case 14:
		l.logical = uuid
	case 15:
		l.logical = float16
	default:
		l.logical = otherValue
	}
}

// setConverted applies the older ConvertedType.
func (l *Leaf) setConverted(c int64) {
	switch c {
	case 0, 4, 19:
		l.logical = utf8String
	case 5:
		l.logical = decimal
	case 6:
		l.logical = date
	case 7, 8:
		l.logical, l.unit, l.utc = timeOfDay, [...]int{1e3, 1e6}[c-7], true
	case 9, 10:
		l.logical, l.unit, l.utc = timestamp, [...]int{1e3, 1e6}[c-9], true
	case 11, 12, 13, 14:
		l.logical = unsigned
	case 15, 16, 17, 18:
		l.logical = plainValue
	case 21:
		l.logical = interval
	default:
		l.logical = otherValue
	}
}

// fits tells whether the logical type is valid for the physical one; a column where it is not is
// read by its physical type.
func (l *Leaf) fits() bool {
	switch l.logical {
	case utf8String:
		return l.physical == byteArrays
	case decimal:
		return l.scale >= 0 && l.scale <= 1000 &&
			(l.physical == int32s || l.physical == int64s || l.physical == byteArrays || l.physical == fixedArrays)
	case date:
		return l.physical == int32s
	case timeOfDay:
		return l.unit > 0 && (l.physical == int32s || l.physical == int64s)
	case timestamp:
		return l.unit > 0 && l.physical == int64s
	case unsigned:
		return l.physical == int32s || l.physical == int64s
	case uuid:
		return l.physical == fixedArrays && l.width == 16
	case float16:
		return l.physical == fixedArrays && l.width == 2
	case interval:
		return l.physical == fixedArrays && l.width == 12
	}
	return true
}
