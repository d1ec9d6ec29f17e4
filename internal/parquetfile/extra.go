package parquetfile

import (
	"bytes"
	"context"
	"fmt"

	"github.com/alike-dev/alike/internal/bitset"
)

// Extra are columns that Copy adds behind those of a file. It is called once for each row group that is copied, in
// order and by one goroutine, with the numbers of its kept rows in the source; without rows, for the schema alone, if
// there is none. It returns a Parquet file of flat columns, always the same ones, with one row for each number in a
// single row group.
type Extra func(rows []int64) ([]byte, error)

// extraColumns is what Extra has returned.
type extraColumns struct {
	f      *File
	chunks []*chunk
	size   int64
}

// weight returns the bytes in memory.
func (x *extraColumns) weight() int64 {
	if x == nil {
		return 0
	}
	return x.size
}

// parseExtra checks what Extra has returned for so many rows.
func parseExtra(data []byte, rows int) (*extraColumns, error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	if f.Rows != int64(rows) || len(f.groups) > 1 {
		return nil, fmt.Errorf("parquetfile: %d more rows in %d row groups for %d rows", f.Rows, len(f.groups), rows)
	}
	x := &extraColumns{f: f, size: int64(len(data))}
	for i := range f.Leaves {
		if len(f.groups) == 0 {
			break
		}
		c, err := f.chunk(0, i)
		if err != nil {
			return nil, err
		}
		x.chunks = append(x.chunks, c)
	}
	return x, nil
}

// extraOf returns the columns to add to a row group; nil: none.
func (c *copier) extraOf(group int, rows bitset.Set[int]) (*extraColumns, error) {
	if c.extra == nil {
		return nil, nil
	}
	g := &c.f.groups[group]
	var kept []int64
	for i := range int(g.rows) {
		if rows == nil || rows.Has(i) {
			kept = append(kept, g.first+int64(i))
		}
	}
	data, err := c.extra(kept)
	if err != nil {
		return nil, err
	}
	x, err := parseExtra(data, len(kept))
	if c.added == nil {
		c.added = x
	}
	return x, err
}

// leave leaves a place for the column that takes the place of another.
func (g *outGroup) leave() { g.chunks = append(g.chunks, nil) }

// addExtra writes the added columns of a row group of f.
func (o *output) addExtra(ctx context.Context, g *outGroup, x *extraColumns, f *File, group int) error {
	if x == nil {
		return nil
	}
	for _, c := range x.chunks {
		out, shift := newOutChunk(x.f, c), o.at-c.start
		out.columnIndex, out.offsetIndex = x.f.columnIndex(c), x.f.shiftedOffsets(c, shift)
		for _, place := range [...]int16{metaDataPage, metaDictionaryPage} {
			if at, ok := out.meta.int(place); ok && at > 0 {
				out.meta.setInt(place, tI64, at+shift)
			}
		}
		out.bloomTo = 0
		if f.Instead == 0 {
			g.chunks = append(g.chunks, out)
		} else if err := g.put(f, group, out); err != nil {
			return err
		}
		if err := o.copyRange(ctx, x.f.r, c.start, c.end); err != nil {
			return err
		}
	}
	return nil
}

// put puts a column in the place of f.Instead, of which it takes the name.
func (g *outGroup) put(f *File, group int, out *outChunk) error {
	from, err := f.chunk(group, f.Instead-1)
	if err != nil {
		return err
	}
	path, ok := from.meta.list(metaPath, tBinary)
	if !ok {
		return fmt.Errorf("%w: a column without a path", ErrUnsupported)
	}
	out.meta.setList(metaPath, tBinary, path)
	g.chunks[f.Instead-1] = out
	return nil
}

// Texts returns the Extra that gives other values for the column f.Instead: of returns that of each row. All of these
// rows have one before.
func (f *File) Texts(of func(row int64) ([]byte, error)) (Extra, error) {
	leaf := &f.Leaves[f.Instead-1]
	if leaf.physical != byteArrays || leaf.IsList() {
		return nil, fmt.Errorf("%w: column %q: its values are no texts of any length", ErrUnsupported, leaf.Name)
	}
	column := Column{Name: "x", Kind: Bytes, Levels: leaf.maxDef}
	var codec codec
	if len(f.groups) > 0 {
		c, err := f.chunk(0, f.Instead-1)
		if err != nil {
			return nil, err
		}
		codec = c.codec
	}
	return func(rows []int64) ([]byte, error) {
		var out bytes.Buffer
		w := newWriter(&out, "texts", []Column{column}, len(rows)+1, codec, 1)
		for _, number := range rows {
			text, err := of(number)
			if err != nil {
				return nil, err
			}
			w.Bytes(0, text)
			if err := w.Row(); err != nil {
				return nil, err
			}
		}
		err := w.Close()
		return out.Bytes(), err
	}, nil
}

// addSchema adds the columns to the metadata of a file: leaves of the root, behind its others. What Arrow has noted of
// the schema is dropped, since it would not fit any more.
func (x *extraColumns) addSchema(meta *structure) error {
	schema, err := meta.structs(fileSchema)
	if err != nil {
		return err
	}
	more, err := x.f.meta.structs(fileSchema)
	if err != nil {
		return err
	}
	root := schema[0].edit()
	root.setInt(elemChildren, tI32, root.intOr(elemChildren, 0)+int64(len(x.f.Leaves)))
	elems := [][]byte{root.append(nil)}
	for _, e := range append(schema[1:], more[1:]...) {
		elems = append(elems, e.append(nil))
	}
	meta.setList(fileSchema, tStruct, elems)
	if orders, ok := meta.list(fileOrders, tStruct); ok {
		var order structure // TypeDefinedOrder
		order.setStruct(1, nil)
		for range x.f.Leaves {
			orders = append(orders, order.append(nil))
		}
		meta.setList(fileOrders, tStruct, orders)
	}
	pairs, _ := meta.structs(fileKeyValues)
	var kept [][]byte
	for _, p := range pairs {
		if key, _ := p.bytes(1); string(key) != arrowSchema {
			kept = append(kept, p.append(nil))
		}
	}
	if len(kept) < len(pairs) {
		meta.del(fileKeyValues)
		if len(kept) > 0 {
			meta.setList(fileKeyValues, tStruct, kept)
		}
	}
	return nil
}

// arrowSchema is the key under which Arrow notes a schema.
const arrowSchema = "ARROW:schema"
