package runner

import (
	"cmp"
	"context"
	"errors"
	"path"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/splice"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/stage"
)

// Keep implements stage.Input: it copies the kept documents of the task's files.
func (in *input) Keep(ctx context.Context, kept func(position uint64) bool, edits stage.Edits) error {
	if in.plan.Engine { // the engine drops documents itself
		return nil
	}
	k := &keeper{kept: kept, cut: edits.Cut, cutsIn: edits.CutsIn}
	if edits.Tag != nil {
		k.fields = in.plan.tags()
		k.tag = func(position uint64) (tagging.Tag, error) {
			t, err := edits.Tag(position)
			if t.Duplicate && int(t.KeptFile) < len(in.plan.Files) {
				t.In = in.plan.Files[t.KeptFile].label()
			}
			return t.Tag, err
		}
	}
	return in.eachFile(ctx, func(file uint64, source corpus.Source, o corpus.Options) error {
		return in.keep(ctx, source, file, o, k)
	})
}

// A keeper says which documents of a file are copied, what is added to them, and what is cut out of their texts.
type keeper struct {
	kept   func(position uint64) bool
	fields *tagging.Fields // nil: nothing is added
	tag    func(position uint64) (tagging.Tag, error)
	cut    func(position uint64) ([]splice.Span, error) // nil: nothing is cut
	cutsIn func(first, end uint64) bool
}

// told ignores damage, which the first stage has reported.
func told(*corpus.Problem) error { return nil }

func (in *input) keep(ctx context.Context, source corpus.Source, file uint64, o corpus.Options, k *keeper) (err error) {
	if source.Format == corpus.Text && k.cut == nil { // it is listed
		return nil
	}
	f, err := corpus.Open(ctx, source, o)
	if err != nil {
		return broken(ctx, err, told)
	}
	to, err := in.create(ctx, path.Join(dedup.KeptFolder, source.Name))
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w, err := corpus.NewWriter(to, source.Compression, 1)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	defer w.Abort()
	if source.Format == corpus.Parquet {
		_ = f.Close() // it was opened only to see whether it can be read
		err = k.copyRows(ctx, w, source, file, o)
	} else {
		c := &copier{keeper: k, from: f, file: file, to: w, options: &o}
		err = errors.Join(c.copy(ctx), f.Close())
	}
	if err != nil {
		return err
	}
	return w.Commit()
}

// copyRows copies the rows of a Parquet file.
func (k *keeper) copyRows(ctx context.Context, to *corpus.Writer, source corpus.Source, file uint64, o corpus.Options) (err error) {
	how := corpus.RowCopy{Threads: 1}
	if k.fields != nil {
		tags := k.fields.Rows()
		how.Extra = func(rows []int64) ([]byte, error) {
			return tags.File(rows, func(row int64) (tagging.Tag, error) { return k.tag(file<<32 | uint64(row)) })
		}
	}
	if k.cut != nil && k.cutsIn(file<<32, (file+1)<<32) {
		rows, err := splice.OpenRows(ctx, source, o)
		if err != nil {
			return err
		}
		defer rows.Close()
		var out []byte
		how.Text = func(row int64) ([]byte, error) {
			text, err := rows.Text(row)
			if err != nil {
				return nil, err
			}
			spans, err := k.cut(file<<32 | uint64(row))
			if len(spans) == 0 {
				return text, err
			}
			out = splice.Cut(out[:0], text, spans)
			return out, err
		}
	}
	return corpus.CopyRows(ctx, to, source, o, how, func(row int64) bool { return k.kept(file<<32 | uint64(row)) })
}

// A copier copies the documents of an open file, not of Parquet.
type copier struct {
	*keeper
	from    *corpus.File
	file    uint64 // its number
	to      *corpus.Writer
	options *corpus.Options

	begun  bool                  // the header was written
	tags   *tagging.RecordTagger // nil: nothing is added
	splice *splice.Splicer       // nil: nothing was cut yet
	out    []byte
}

func (c *copier) copy(ctx context.Context) error {
	parser := corpus.NewParser(*c.options)
	var record corpus.Record
	number := uint64(0)
	err := eachBlockOf(ctx, c.from, told, func(b *corpus.Block) error {
		if err := c.begin(); err != nil {
			return err
		}
		for parser.Start(c.from, b); parser.NextRaw(&record); number++ {
			position := c.file<<32 | number
			if !c.kept(position) {
				continue
			}
			raw, err := c.edited(position, record.Raw)
			if err != nil {
				return err
			}
			if _, err := c.to.Write(raw); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return cmp.Or(err, c.begin())
}

// begin writes the header. A byte order mark is known only when a block was read.
func (c *copier) begin() error {
	if c.begun {
		return nil
	}
	c.begun = true
	c.to.PackLike(c.from)
	if c.from.Source().Format == corpus.Text {
		return nil
	}
	header := c.from.Header()
	if c.fields != nil {
		c.tags = c.fields.Records(c.from)
		header = c.tags.Header(header)
	}
	_, err := c.to.Write(header)
	return err
}

// edited returns a record with its tag, or without what is cut, until the next call.
func (c *copier) edited(position uint64, raw []byte) ([]byte, error) {
	switch {
	case c.tags != nil:
		t, err := c.tag(position)
		return c.tags.Record(raw, &t), err
	case c.cut != nil:
		spans, err := c.cut(position)
		if err != nil || len(spans) == 0 {
			return raw, err
		}
		if c.splice == nil {
			c.splice = splice.NewSplicer(c.from, c.options)
		}
		c.out = c.splice.Append(c.out[:0], raw, spans)
		return c.out, nil
	}
	return raw, nil
}
