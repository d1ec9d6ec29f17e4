package parquetfile

import "fmt"

// A shape says which fields the format requires in a structure. Other programs refuse a file
// without a required field, even one that this program does not use: such a file is damaged.
type shape []member

// member is a field of a shape. Fields that no shape names may be anything.
type member struct {
	id      int16
	typ     byte // of its value, or of its elements
	list    bool
	mayMiss bool
	of      shape // of its value or its elements, if those are structures
}

func needs(typ byte, ids ...int16) (s shape) {
	for _, id := range ids {
		s = append(s, member{id: id, typ: typ})
	}
	return s
}

func allows(typ byte, ids ...int16) (s shape) {
	for _, id := range ids {
		s = append(s, member{id: id, typ: typ, mayMiss: true})
	}
	return s
}

func shapeOf(parts ...shape) (s shape) {
	for _, p := range parts {
		s = append(s, p...)
	}
	return s
}

// The shapes of format 2.12.
var (
	statisticsShape = shapeOf(allows(tBinary, statMax, statMin, statMaxValue, statMinValue), allows(tI64, statNulls, statDistinct), allows(tTrue, statMaxExact, statMinExact))
	encodingShape   = needs(tI32, statPage, statEncoding, statCount)
	keyValueShape   = shapeOf(needs(tBinary, 1), allows(tBinary, 2))

	metaShape = shapeOf(
		needs(tI32, metaType, metaCodec), needs(tI64, metaValues, metaUncompressed, metaCompressed, metaDataPage),
		allows(tI64, metaIndexPage, metaDictionaryPage, metaBloom), allows(tI32, metaBloomLength),
		shape{
			{id: metaEncodings, typ: tI32, list: true}, {id: metaPath, typ: tBinary, list: true},
			{id: metaKeyValues, typ: tStruct, list: true, mayMiss: true, of: keyValueShape},
			{id: metaStatistics, typ: tStruct, mayMiss: true, of: statisticsShape},
			{id: metaEncodingStats, typ: tStruct, list: true, mayMiss: true, of: encodingShape},
		})
	chunkShape = shapeOf(
		allows(tBinary, chunkPath), needs(tI64, chunkOffset),
		allows(tI64, chunkOffsetIndex, chunkColumnIndex), allows(tI32, chunkOffsetIndexLength, chunkColumnIndexLength),
		shape{{id: chunkMeta, typ: tStruct, mayMiss: true, of: metaShape}})
	sortingShape = shapeOf(needs(tI32, 1), needs(tTrue, 2, 3))
	groupShape   = shapeOf(
		needs(tI64, groupBytes, groupRows), allows(tI64, groupOffset, groupCompressed), allows(tI16, groupOrdinal),
		shape{
			{id: groupColumns, typ: tStruct, list: true, of: chunkShape},
			{id: groupSorting, typ: tStruct, list: true, mayMiss: true, of: sortingShape},
		})
	timeShape    = shapeOf(needs(tTrue, 1), needs(tStruct, 2))
	logicalShape = shape{ // a union of decimal, time, timestamp, integer and others
		{id: 5, typ: tStruct, mayMiss: true, of: needs(tI32, 1, 2)},
		{id: 7, typ: tStruct, mayMiss: true, of: timeShape},
		{id: 8, typ: tStruct, mayMiss: true, of: timeShape},
		{id: 10, typ: tStruct, mayMiss: true, of: shapeOf(needs(tI8, 1), needs(tTrue, 2))},
	}
	elementShape = shapeOf(
		needs(tBinary, elemName), allows(tI32, elemType, elemLength, elemRepetition, elemChildren, elemConverted, elemScale),
		shape{{id: elemLogical, typ: tStruct, mayMiss: true, of: logicalShape}})
	fileShape = shapeOf(
		needs(tI32, fileVersion), needs(tI64, fileRows), allows(tBinary, fileCreator),
		shape{
			{id: fileSchema, typ: tStruct, list: true, of: elementShape},
			{id: fileGroups, typ: tStruct, list: true, of: groupShape},
			{id: fileKeyValues, typ: tStruct, list: true, mayMiss: true, of: keyValueShape},
		})

	pageShape = shapeOf(needs(tI32, headType, headUncompressed, headCompressed), allows(tI32, headCRC), shape{
		{id: headData, typ: tStruct, mayMiss: true, of: shapeOf(needs(tI32, dataValues, dataEncoding, dataDefEncoding, dataRepEncoding),
			shape{{id: dataStatistics, typ: tStruct, mayMiss: true, of: statisticsShape}})},
		{id: headDictionary, typ: tStruct, mayMiss: true, of: needs(tI32, dictValues, dictEncoding)},
		{id: headDataV2, typ: tStruct, mayMiss: true, of: shapeOf(needs(tI32, v2Values, v2Nulls, v2Rows, v2Encoding, v2DefLength, v2RepLength),
			allows(tTrue, v2IsCompressed), shape{{id: v2Statistics, typ: tStruct, mayMiss: true, of: statisticsShape}})},
	})

	offsetsShape = shape{{id: offsetsPages, typ: tStruct, list: true, of: shapeOf(needs(tI64, locationAt, locationRow), needs(tI32, locationSize))}}
	indexShape   = shape{
		{id: indexNullPages, typ: tTrue, list: true}, {id: indexMin, typ: tBinary, list: true}, {id: indexMax, typ: tBinary, list: true},
		{id: indexOrder, typ: tI32}, {id: indexNullCounts, typ: tI64, list: true, mayMiss: true},
	}
	bloomShape = shapeOf(needs(tI32, bloomBytes), needs(tStruct, 2, 3, 4))
)

// parseShape is parseStruct for a structure that must have a shape.
func parseShape(b []byte, of shape) (structure, int, error) {
	s, n, err := parseStruct(b)
	if err == nil {
		err = s.check(of)
	}
	return s, n, err
}

// parseWhole is parseShape for a structure that must fill all of b.
func parseWhole(b []byte, of shape) (structure, error) {
	s, n, err := parseShape(b, of)
	if err == nil && n != len(b) {
		err = fmt.Errorf("%w: %d bytes behind its end", errThrift, len(b)-n)
	}
	return s, err
}

// check checks that s has a shape.
func (s structure) check(of shape) error {
	for i := range of {
		m := &of[i]
		f := s.find(m.id)
		if f == nil {
			if m.mayMiss {
				continue
			}
			return fmt.Errorf("%w: field %d is missing", errThrift, m.id)
		}
		if err := f.check(m); err != nil {
			return err
		}
	}
	return nil
}

func (f *field) check(m *member) error {
	if m.list {
		elems, ok := structure{*f}.list(m.id, m.typ)
		if !ok {
			return errField(m)
		}
		for _, e := range elems {
			if err := checkStruct(e, m.of); err != nil {
				return err
			}
		}
		return nil
	}
	if f.typ != m.typ && !(m.typ == tTrue && f.typ == tFalse) {
		return errField(m)
	}
	return checkStruct(f.raw, m.of)
}

func errField(m *member) error {
	return fmt.Errorf("%w: field %d is something else", errThrift, m.id)
}

// checkStruct checks an encoded structure; if of is nil, any fields will do.
func checkStruct(b []byte, of shape) error {
	if of == nil {
		return nil
	}
	_, _, err := parseShape(b, of)
	return err
}
