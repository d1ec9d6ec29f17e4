package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/scratch"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/stage"
	"github.com/alike-dev/alike/vfs"
)

// Options say how to run tasks.
type Options struct {
	Buckets Buckets // opens object stores; nil: none
	Memory  int64   // bytes of the process; 0: as the plan says
	Again   bool    // run a task even if its object exists
	Columns bool    // Pack reads columns, in place of lines of JSON
	// Blocks, when set, receives the blocks of Run in the form of Pipe. Run writes no object then.
	Blocks io.Writer
	// OnSkip, when set, is called for every record that cannot be used.
	OnSkip func(*corpus.Problem)
	// Begin, when set, is called by Run when the task has to be run, before it reads anything.
	Begin func() error
}

// space returns the memory and the temporary folder of a task. The caller must close it.
func (o *Options) space(p *Plan, name string, number int) *scratch.Space {
	memory := o.Memory
	if memory == 0 {
		memory = p.Memory
	}
	return scratch.New(scratch.Options{
		FS: vfs.OS, Threads: 1, Ceiling: memory, Scheme: p.Digest, Label: fmt.Sprintf("%s-%s-%d", p.Digest, name, number),
	})
}

// input is what a task reads: objects of the store, and files of the plan.
type input struct {
	plan   *Plan
	number int
	store  *store
	header *header // of the object that the task leaves
	o      *Options
}

// Blocks implements stage.Input.
func (in *input) Blocks(ctx context.Context, s stage.Stream, visit func(block []byte) error) error {
	for _, of := range in.plan.Stages() {
		if slices.Contains(of.Writes, s.String()) {
			if err := in.store.blocks(ctx, of, s, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// Step implements stage.Input.
func (in *input) Step(s stage.Stage, number int) stage.Input {
	step := *in
	step.number, step.store = number, in.store.as(s.Name, number)
	return &step
}

// Documents implements stage.Input.
func (in *input) Documents(ctx context.Context, wanted func(uint64) bool, visit func(*stage.Document) error) (n stage.DocumentCounts, err error) {
	if in.plan.Engine {
		err = in.store.documents(ctx, func(block []byte) error { return eachDocument(in.plan, block, &n, wanted, visit) })
		return n, err
	}
	err = in.eachFile(ctx, func(file uint64, source corpus.Source, o corpus.Options) error {
		r := reader{in: in, source: source, file: file, n: &n, parser: corpus.NewParser(o)}
		return r.read(ctx, o, wanted, visit)
	})
	return n, err
}

// eachFile calls visit for each file of the task, with its number in the plan and how to read it.
func (in *input) eachFile(ctx context.Context, visit func(file uint64, source corpus.Source, o corpus.Options) error) error {
	first, end := in.plan.filesOf(in.number)
	for file := first; file < end; file++ {
		o := in.plan.optionsOf(file, in.o.Buckets)
		source, err := in.plan.source(ctx, in.plan.Files[file], o)
		if err != nil {
			return err
		}
		if err := visit(uint64(file), source, o); err != nil {
			return err
		}
	}
	return nil
}

// reader reads the documents of a file.
type reader struct {
	in     *input
	source corpus.Source
	file   uint64
	n      *stage.DocumentCounts
	parser *corpus.Parser
	d      stage.Document
	name   []byte
	place  []byte
	rows   uint64 // number of usable records so far
}

// skip counts and reports a record that cannot be used.
func (r *reader) skip(p *corpus.Problem) error {
	r.n.Read++
	r.n.Skipped++
	if r.in.plan.Reading.Fail {
		return p
	}
	if r.in.o.OnSkip != nil {
		r.in.o.OnSkip(p)
	}
	return nil
}

func (r *reader) read(ctx context.Context, o corpus.Options, wanted func(uint64) bool, visit func(*stage.Document) error) error {
	table, ends := r.in.plan.Join != nil, r.skip
	if table { // a damaged table is an error
		ends = func(p *corpus.Problem) error { return p }
	}
	f, err := corpus.Open(ctx, r.source, o)
	if err != nil {
		return broken(ctx, err, ends)
	}
	defer f.Close()
	lines, number := int64(0), uint64(0)
	var tags *tagging.Fields // that the records must not have
	if r.file >= uint64(r.in.plan.References) {
		tags = r.in.plan.tags()
	}
	return eachBlockOf(ctx, f, ends, func(b *corpus.Block) error {
		var record corpus.Record
		layout := f.Layout()
		if r.parser.Start(f, b); tags != nil {
			if err := tags.FreeFile(f); err != nil {
				return err
			}
		}
		for r.parser.NextRaw(&record) {
			position := r.file<<32 | number
			if number++; number > 1<<32 {
				return &corpus.Problem{Path: r.source.Label(), Err: errors.New("more than 2³² records; cut the file into several")}
			}
			asked := wanted(position)
			if !asked && !table { // the usable records of a table are counted, so it parses all of them
				continue
			}
			if record.Err == nil {
				r.parser.ParseRaw(layout, record.Raw, &record)
			}
			if record.Err != nil {
				p := &corpus.Problem{Path: r.source.Label(), Line: lines + record.Line + 1, Offset: record.Offset, ID: string(record.ID), Err: record.Err}
				if err := r.skip(p); err != nil {
					return err
				}
				if !asked {
					continue
				}
				if err := visit(&stage.Document{Position: position, Damaged: true}); err != nil {
					return err
				}
				continue
			}
			r.n.Read++
			r.rows++
			if !asked {
				continue
			}
			if tags != nil {
				if err := tags.FreeRecord(f, &record); err != nil {
					return err
				}
			}
			if err := visit(r.document(position, lines, &record)); err != nil {
				return err
			}
		}
		r.parser.Trim()
		lines += b.Lines
		return ctx.Err()
	})
}

func (r *reader) document(position uint64, lines int64, record *corpus.Record) *stage.Document {
	r.d = stage.Document{Position: position, Name: record.ID, Text: record.Text, Made: record.ID == nil}
	p := r.in.plan
	if p.Command == stage.Join {
		r.d.Fields, r.d.Row, r.d.Made = record.Fields, r.rows, len(record.ID) == 0
		return &r.d
	}
	if r.d.Made {
		r.name = r.source.AppendID(r.name[:0], lines+record.Line)
		r.d.Name = r.name
	}
	if r.d.Whole = r.source.Format == corpus.Text; r.d.Whole && p.Passages != nil && record.Encoding.Len() > 0 {
		r.d.InFile = record.Encoding.Places(record.Text).InFile
	}
	if r.file < uint64(p.References) {
		r.place = r.source.AppendID(append(r.place[:0], engine.AgainstPrefix...), lines+record.Line)
		r.d.Place = r.place
	}
	if r.d.Fields = record.Fields; p.Reading.Field != "" { // the field of the keep rule comes last
		last := len(record.Fields) - 1
		r.d.Fields, r.d.Field = record.Fields[:last], record.Fields[last]
	}
	if p.Reading.Within != "" { // which texts have no other fields besides
		r.d.Within = r.d.Fields[0]
	}
	return &r.d
}

// eachBlockOf visits the blocks of a file in order, up to the first damage, for which it calls skip.
func eachBlockOf(ctx context.Context, f *corpus.File, skip func(*corpus.Problem) error, visit func(b *corpus.Block) error) error {
	var b corpus.Block
	defer b.Release()
	for seq := int64(0); ; seq++ {
		err := f.Next(&b)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return broken(ctx, err, skip)
		}
		if b.Seq != seq {
			return fmt.Errorf("block %d of a file comes as number %d", b.Seq, seq)
		}
		if err := visit(&b); err != nil {
			return err
		}
	}
}

// broken decides what an error of reading means. It calls skip if the file is damaged, which every run
// will find again; it returns any other error.
func broken(ctx context.Context, err error, skip func(*corpus.Problem) error) error {
	var p *corpus.Problem
	if err := ctx.Err(); err != nil {
		return err
	}
	if errors.Is(err, corpus.ErrUnavailable) || errors.Is(err, corpus.ErrChanged) || !errors.As(err, &p) {
		return err
	}
	return skip(p)
}

// eachDocument visits the wanted documents of a block, and adds all of them to the counts.
func eachDocument(p *Plan, block []byte, n *stage.DocumentCounts, wanted func(uint64) bool, visit func(*stage.Document) error) error {
	return stage.EachDocument(block, &p.Plan, func(d *stage.Document) error {
		n.Read++
		if !wanted(d.Position) {
			return nil
		}
		return visit(d)
	})
}
