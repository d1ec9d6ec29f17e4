package passages

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/pieces"
)

// List writes found.csv and little.csv.
func List(ctx context.Context, j *Job, d *Documents, r *Rows, out *write.Folder) (err error) {
	var starts extsort.Lookup // of substrings: row → byte at the source
	if j.Cut.Unit == pieces.Substring {
		places, failed := j.starts(ctx, d, r)
		if failed != nil {
			return failed
		}
		starts = extsort.NewLookup(places)
		defer func() { err = errors.Join(err, starts.Err(), starts.Close(), j.Space.Release(places)) }()
	}
	header := []string{"document", "start", "end", "first_document", "first_start"}
	err = out.Rows(write.FoundFile, header, func(row func(...string)) error {
		names := [2]named{{d: d}, {d: d}}
		return r.rows.each(rowBytes, func(i int64, b []byte) error {
			at := func(n int) uint32 { return binary.LittleEndian.Uint32(b[4*n:]) }
			start := uint64(at(4))
			if starts.Reader != nil {
				var ok bool
				if start, ok = starts.Find(uint64(i)); !ok {
					return errors.Join(corpus.ErrChanged, starts.Err())
				}
			}
			document, err := names[0].of(at(0))
			first, other := names[1].of(at(3))
			if err = errors.Join(err, other, ctx.Err()); err != nil {
				return err
			}
			row(document, decimal(uint64(at(1))), decimal(uint64(at(2))), first, decimal(start))
			return nil
		})
	})
	if err != nil {
		return err
	}
	return out.Rows(write.LittleFile, []string{"document", "words"}, func(row func(...string)) error {
		names := named{d: d}
		return r.little.each(8, func(_ int64, b []byte) error {
			document, err := names.of(binary.LittleEndian.Uint32(b))
			row(document, decimal(uint64(binary.LittleEndian.Uint32(b[4:]))))
			return errors.Join(err, ctx.Err())
		})
	})
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// starts returns where the rows of substrings begin at their sources, by row.
func (j *Job) starts(ctx context.Context, d *Documents, r *Rows) (*extsort.Sorted, error) {
	tokens := &asked{reader: r.asked.Reader(), shift: 32}
	places, err := j.Space.Sorted(ctx, j.Space.Sorting("starts", 8, 0), func(to *extsort.Appender) error {
		return visit(ctx, j, d, tokens, func(c *pieces.Cutter, record *corpus.Record, entries []extsort.Entry, out *found) {
			c.Pieces(record.Text)
			inFile := placesOf(record)
			for _, e := range entries {
				if e.Value < uint64(len(c.Tokens())) {
					out.entries = append(out.entries, extsort.Entry{Key: uint64(uint32(e.Key)), Value: uint64(inFile(c.Tokens()[e.Value].Start))})
				}
			}
		}, addTo(to))
	})
	return places, errors.Join(err, tokens.close())
}

// named remembers the last name.
type named struct {
	d     *Documents
	doc   uint32
	name  string
	known bool
}

func (n *named) of(doc uint32) (string, error) {
	if n.known && n.doc == doc {
		return n.name, nil
	}
	name, err := n.d.name(doc)
	n.doc, n.name, n.known = doc, string(name), err == nil
	return n.name, err
}
