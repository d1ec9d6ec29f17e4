package runner

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/stage"
)

// Pack packs one part of an engine's documents into blocks of stage.Documents. Part number belongs to task number.
// If the plan has no Work, the blocks go to out, in the form of Pipe. Else Pack writes an object there, unless it
// exists.
//
// Records are lines of JSON, one object a line, with the fields of the plan; with Options.Columns they come in the
// form of readColumns. Their order gives their positions. A record without an id gets the name PART:LINE, from 0:1
// on; for a Join it gets its number in its table. A record that cannot be used is an error, which names its line.
func Pack(ctx context.Context, p *Plan, number int, in io.Reader, out io.Writer, o Options) error {
	if number < 0 || number >= len(p.FirstFiles) {
		return fmt.Errorf("%w: part %d of documents, of which there are %d", stage.ErrStage, number, len(p.FirstFiles))
	}
	from := part{plan: p, number: number, in: in, o: o}
	if p.Work == "" {
		to := &frames{to: bufio.NewWriterSize(out, 256<<10)}
		return errors.Join(from.pack(ctx, to), to.to.Flush())
	}
	st, err := openStore(ctx, p, o.Buckets, packing.Name, number)
	if err != nil {
		return err
	}
	if !o.Again {
		if done, err := st.done(ctx, packing, number, o.Buckets); err != nil || done != nil {
			return err
		}
	}
	to, err := st.create(ctx, p.nameOf(packing.Name, number))
	if err != nil {
		return &corpus.Problem{Path: p.Work, Err: err}
	}
	defer to.Abort()
	documents, err := newStraight(to, p.header(packing, number))
	if err == nil {
		err = from.pack(ctx, documents)
	}
	if err == nil {
		err = documents.end()
	}
	if err != nil {
		return err
	}
	return to.Commit()
}

// part is one part of an engine's documents.
type part struct {
	plan   *Plan
	number int
	in     io.Reader
	o      Options
}

func (p *part) pack(ctx context.Context, to stage.Output) error {
	pack := stage.NewPacker(&p.plan.Plan, p.number, to)
	add := func(d *stage.Document) error {
		if d.Made && p.plan.Command != stage.Join { // names made of standard input's would be the same in all parts
			d.Name = fmt.Appendf(nil, "%d:%d", p.number, uint64(uint32(d.Position))+1)
		}
		return pack.Add(d)
	}
	read := p.readLines
	if p.o.Columns {
		read = p.readColumns
	}
	return errors.Join(read(ctx, add), pack.Flush())
}

// readLines visits documents that come as lines of JSON.
func (p *part) readLines(ctx context.Context, visit func(*stage.Document) error) error {
	file := p.plan.FirstFiles[p.number]
	options := p.plan.optionsOf(file, nil)
	options.Format, options.Stdin = corpus.JSONL, p.in
	found, _, err := corpus.Find(ctx, []string{"-"}, options)
	if err != nil {
		return err
	}
	strict := *p.plan
	strict.Reading.Fail = true
	r := reader{in: &input{plan: &strict, o: &p.o}, source: found[0], file: uint64(file), n: &stage.DocumentCounts{}, parser: corpus.NewParser(options)}
	return r.read(ctx, options, func(uint64) bool { return true }, visit)
}

// readColumns visits documents that come as batches of string columns, in the layout of Arrow, until the end of
// the stream:
//
//	batch: rows 4 | for each column: rows+1 ascending offsets of 4 | rows bytes, 1 where there is a value | values…
//
// Numbers are little-endian. The values have as many bytes as lie between the first offset, which need not be 0,
// and the last. The columns are the text (for records, the fields of the part's table), then the field within whose values
// texts are compared, that of the keep rule, and the id; the last three only if the plan has them.
func (p *part) readColumns(ctx context.Context, visit func(*stage.Document) error) error {
	file := p.plan.FirstFiles[p.number]
	o := p.plan.optionsOf(file, nil)
	named := o.IDField != corpus.NoID
	columns := len(o.Fields)
	if p.plan.Join == nil {
		columns++
	}
	if named {
		columns++
	}
	from := bufio.NewReaderSize(p.in, 256<<10)
	all := make([]column, columns)
	values := make([][]byte, columns)
	position := uint64(file) << 32
	for {
		rows, err := readNumber(from)
		if err == io.EOF {
			return nil
		}
		for i := range all {
			if err == nil {
				err = all[i].read(from, rows)
			}
		}
		if err != nil {
			return fmt.Errorf("standard input is no batch of %d columns: %w", columns, err)
		}
		for i := range int(rows) {
			for c := range all {
				values[c] = all[c].value(i)
			}
			d, rest := stage.Document{Position: position}, values
			if named {
				d.Name, rest = rest[len(rest)-1], rest[:len(rest)-1]
			}
			d.Made = len(d.Name) == 0
			if p.plan.Reading.Field != "" {
				d.Field, rest = rest[len(rest)-1], rest[:len(rest)-1]
			}
			if d.Fields = rest; p.plan.Join == nil {
				d.Text = rest[0]
			}
			if p.plan.Reading.Within != "" {
				d.Within = rest[1]
			}
			if err := visit(&d); err != nil {
				return err
			}
			position++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

type column struct {
	ends    []byte // rows+1 offsets of 4 bytes
	present []byte // a byte for each row: 1 if it has a value
	values  []byte
}

func (c *column) read(from io.Reader, rows uint32) error {
	if rows > stage.MaxBlock/4-1 {
		return fmt.Errorf("%d rows", rows)
	}
	c.ends, c.present = scratch.Buffer(c.ends, 4*int(rows)+4), scratch.Buffer(c.present, int(rows))
	for _, b := range [][]byte{c.ends, c.present} {
		if _, err := io.ReadFull(from, b); err != nil {
			return unexpected(err)
		}
	}
	for i := range int(rows) {
		if c.offset(i) > c.offset(i+1) {
			return fmt.Errorf("offset %d is before the one of the row before", c.offset(i+1))
		}
	}
	size := c.offset(int(rows)) - c.offset(0)
	if size > stage.MaxBlock {
		return fmt.Errorf("values of %d bytes", size)
	}
	c.values = scratch.Buffer(c.values, int(size))
	_, err := io.ReadFull(from, c.values)
	return unexpected(err)
}

func (c *column) offset(i int) uint32 { return binary.LittleEndian.Uint32(c.ends[4*i:]) }

// value returns the value of a row, or nil if it has none.
func (c *column) value(i int) []byte {
	if c.present[i] == 0 {
		return nil
	}
	first := c.offset(0)
	return c.values[c.offset(i)-first : c.offset(i+1)-first : c.offset(i+1)-first]
}

// readNumber reads a number. At the end of the stream it returns io.EOF.
func readNumber(from io.Reader) (uint32, error) {
	var b [4]byte
	_, err := io.ReadFull(from, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}
