package passages

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/inorder"
	"github.com/alike-dev/alike/internal/pieces"
)

// texts are those of a Parquet file's documents, without what goes: for each its row (8 bytes), its length (4), and the
// text itself. The file is copied when it is read to its end, with these in place of its own.
type texts struct {
	store   *Store
	rows    int64 // before the block that is next
	changed bool
}

const textHead = 12

// putText appends the text of a document without what goes.
func (w *writing) putText(text []byte, cuts []pieces.Cut) {
	at := len(w.out)
	w.out = append(w.out, make([]byte, textHead)...)
	if len(cuts) == 0 {
		w.out = append(w.out, text...)
	} else {
		w.out = append(w.out, w.cut...)
	}
	binary.LittleEndian.PutUint32(w.out[at+8:], uint32(len(w.out)-at-textHead))
}

// writeRows takes a block of a Parquet file, and at its end writes the file.
func (o *outputs) writeRows(ctx context.Context, b *inorder.Block, w *writing) (err error) {
	if o.texts == nil {
		o.texts = &texts{store: &Store{Space: o.j.Space, Name: "texts", Most: int(o.j.Space.Share(8))}}
	}
	t := o.texts
	if !b.End {
		at := 0
		for _, line := range w.lines {
			binary.LittleEndian.PutUint64(w.out[at:], uint64(t.rows+line))
			at += textHead + int(binary.LittleEndian.Uint32(w.out[at+8:]))
		}
		t.rows += b.Lines
		t.changed = t.changed || w.counts.Changed > 0
		return t.store.Append(w.out)
	}
	o.texts = nil
	defer func() { err = errors.Join(err, t.store.Close()) }()
	if len(o.d.files[b.At].ends) == 0 && b.Err != nil {
		return nil // nothing of it could be read
	}
	return o.copyRows(ctx, &o.j.Sources[b.At], t)
}

// copyRows writes a Parquet file with other texts.
func (o *outputs) copyRows(ctx context.Context, source *corpus.Source, t *texts) error {
	w, err := o.to.CreateKept(source, 1, 0)
	if err != nil {
		return err
	}
	defer w.Abort()
	rows, own := &textReader{store: t.store}, &textReader{store: t.store}
	how := corpus.RowCopy{Threads: o.j.Space.Threads, PageMemory: o.j.Space.Share(4)}
	if t.changed {
		how.Text = own.text
	}
	if err := corpus.CopyRows(ctx, w, *source, o.j.Corpus, how, rows.has); err != nil {
		return err
	}
	if rows.err != nil {
		return rows.err
	}
	return o.to.CommitKept(ctx, source, w)
}

// textReader reads texts in ascending order of their rows.
type textReader struct {
	store *Store
	at    int64
	row   int64 // of the text at at
	size  int64
	known bool
	buf   []byte
	err   error
}

// seek finds the first text of a row from row on.
func (r *textReader) seek(row int64) (found bool) {
	for r.err == nil {
		if !r.known {
			var head [textHead]byte
			if r.at >= r.store.Len() {
				return false
			}
			if _, r.err = r.store.ReadAt(head[:], r.at); r.err != nil {
				return false
			}
			r.row, r.size = int64(binary.LittleEndian.Uint64(head[:])), int64(binary.LittleEndian.Uint32(head[8:]))
			r.known = true
		}
		if r.row >= row {
			return r.row == row
		}
		r.at += textHead + r.size
		r.known = false
	}
	return false
}

func (r *textReader) has(row int64) bool { return r.seek(row) }

// text returns the text of a row, until the next call.
func (r *textReader) text(row int64) ([]byte, error) {
	if !r.seek(row) {
		return nil, errors.Join(fmt.Errorf("row %d is no document", row), r.err)
	}
	if int64(cap(r.buf)) < r.size {
		r.buf = make([]byte, r.size)
	}
	r.buf = r.buf[:r.size]
	if n, err := r.store.ReadAt(r.buf, r.at+textHead); err != nil && !(err == io.EOF && int64(n) == r.size) {
		return nil, err
	}
	return r.buf, nil
}
