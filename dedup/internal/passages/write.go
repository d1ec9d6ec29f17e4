package passages

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/inorder"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/pieces"
	"github.com/alike-dev/alike/internal/splice"
)

// Counts are the numbers of what goes.
type Counts struct {
	Changed int64 // documents out of which something goes
	Emptied int64 // of them, those of which no word stays
	Little  int64 // of them, those with fewer than pieces.Little words, emptied ones too
	Rows    int64
	Bytes   int64 // of the texts, that go
}

// Rows are those of found.csv, in order, without names.
type Rows struct {
	rows   *Store
	little *Store          // documents left with too little: number and words, 4 bytes each
	asked  *extsort.Sorted // of substrings, document and row (32 bits each) → token
	Counts
}

func (r *Rows) Close(j *Job) error {
	return errors.Join(r.rows.Close(), r.little.Close(), j.Space.ReleaseAll(r.asked))
}

const rowBytes = 5 * 4 // document, start, end, first document, place there

// writing is the work on one block.
type writing struct {
	parser         *corpus.Parser
	cutter         *pieces.Cutter
	firsts, places []extsort.Entry
	sources        map[uint64]pieces.Source
	at             *splice.Splicer // of file
	file           *corpus.File
	out            []byte
	cut            []byte
	rows           []byte
	little         []byte
	counts         Counts
	spans          []splice.Span
	lines          []int64 // of the documents, within the block; of Parquet files
}

// Write finds what goes of each document and, if out is not nil, writes all documents without it. The caller closes the
// rows.
func Write(ctx context.Context, j *Job, d *Documents, g *Groups, out *write.Folder) (r *Rows, err error) {
	share := int(j.Space.Share(16))
	r = &Rows{rows: &Store{Space: j.Space, Name: "rows", Most: share}, little: &Store{Space: j.Space, Name: "little", Most: share}}
	firsts, places := &asked{reader: g.Firsts.Reader(), shift: 32}, &asked{reader: g.Places.Reader(), shift: 32}
	defer func() { err = errors.Join(err, firsts.close(), places.close()) }()
	workers := make([]*writing, j.Space.Threads)
	for i := range workers {
		workers[i] = &writing{parser: corpus.NewParser(j.Corpus), cutter: pieces.NewCutter(j.Cut), sources: map[uint64]pieces.Source{}}
	}
	files := &outputs{j: j, d: d, to: out}
	defer func() { files.abort() }()
	r.asked, err = j.Space.Sorted(ctx, j.Space.Sorting("asked", 8, 0), func(to *extsort.Appender) error {
		return inorder.Each(ctx, j.order(), inorder.Steps{
			Take: func(worker int, b *inorder.Block) error {
				w := workers[worker]
				if w.firsts, w.places = w.firsts[:0], w.places[:0]; !b.End {
					_, end := d.block(b.At, b.Seq)
					w.firsts, w.places = firsts.upTo(w.firsts, end), places.upTo(w.places, end)
				}
				return errors.Join(firsts.reader.Err(), places.reader.Err())
			},
			Work: func(worker int, b *inorder.Block) error {
				return workers[worker].work(j, d, b, firsts, places, out != nil)
			},
			Commit: func(worker int, b *inorder.Block) error {
				w := workers[worker]
				if err := files.write(ctx, b, w); err != nil {
					return err
				}
				j.Progress.Advance(0, int64(len(b.Data())))
				return r.add(j, w, to)
			},
		})
	})
	if _, left := firsts.next(); left && err == nil {
		err = corpus.ErrChanged
	}
	return r, err
}

// work finds what goes of the documents of a block.
func (w *writing) work(j *Job, d *Documents, b *inorder.Block, firsts, places *asked, kept bool) error {
	w.out, w.rows, w.little, w.lines, w.counts = w.out[:0], w.rows[:0], w.little[:0], w.lines[:0], Counts{}
	if b.End {
		return nil
	}
	doc, end := d.block(b.At, b.Seq)
	ofFirsts, ofPlaces := w.firsts, w.places
	if !kept && len(ofFirsts) == 0 {
		return nil
	}
	var record corpus.Record
	for w.parser.Start(b.File, &b.Block); w.parser.Next(&record); doc++ {
		if record.Err != nil {
			doc--
			continue
		}
		var own, at []extsort.Entry
		own, ofFirsts = firsts.of(ofFirsts, doc)
		at, ofPlaces = places.of(ofPlaces, doc)
		var cuts []pieces.Cut
		if len(own) > 0 {
			clear(w.sources)
			for _, e := range own {
				w.sources[e.Value] = pieces.Source{Document: uint64(uint32(e.Key))}
			}
			for _, e := range at {
				s := w.sources[e.Value]
				s.At = uint32(e.Key)
				w.sources[e.Value] = s
			}
			cuts = w.find(doc, &record)
		}
		if kept {
			w.put(j, b, &record, cuts)
			w.lines = append(w.lines, record.Line)
		}
	}
	w.parser.Trim()
	w.cutter.Trim()
	if doc != end {
		return corpus.ErrChanged
	}
	return nil
}

// find finds what goes of a document, and adds its rows.
func (w *writing) find(doc uint32, record *corpus.Record) []pieces.Cut {
	text := record.Text
	cuts, rows := w.cutter.Find(text, w.cutter.Pieces(text), func(key uint64) (pieces.Source, bool) {
		s, ok := w.sources[key]
		return s, ok
	})
	if len(cuts) == 0 {
		return nil
	}
	inFile := placesOf(record)
	for _, r := range rows {
		for _, n := range [...]uint32{doc, uint32(inFile(r.Start)), uint32(inFile(r.End)), uint32(r.Source.Document), r.Source.At} {
			w.rows = binary.LittleEndian.AppendUint32(w.rows, n)
		}
	}
	w.spans = w.spans[:0]
	for _, c := range cuts {
		w.spans = append(w.spans, splice.Span(c))
		w.counts.Bytes += int64(c.End - c.Start)
	}
	w.cut = splice.Cut(w.cut[:0], text, w.spans)
	words := w.cutter.Words(w.cut)
	w.counts.Changed++
	w.counts.Rows += int64(len(rows))
	if words == 0 {
		w.counts.Emptied++
	}
	if words < pieces.Little {
		w.counts.Little++
		w.little = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(w.little, doc), uint32(words))
	}
	return cuts
}

// placesOf returns where bytes of a text stand: in the file, if the text is all of it.
func placesOf(record *corpus.Record) func(at int) int {
	if record.Encoding.Len() == 0 {
		return func(at int) int { return at }
	}
	return record.Encoding.Places(record.Text).InFile
}

// put appends a record without what goes.
func (w *writing) put(j *Job, b *inorder.Block, record *corpus.Record, cuts []pieces.Cut) {
	raw, source := record.Raw, b.File.Source()
	if source.Format == corpus.Parquet {
		w.putText(record.Text, cuts)
		return
	}
	if len(cuts) == 0 {
		w.out = append(w.out, raw...)
		return
	}
	spans := w.spans
	if source.Format == corpus.Text {
		inFile := placesOf(record)
		spans = make([]splice.Span, len(w.spans))
		for i, s := range w.spans {
			spans[i] = splice.Span{Start: inFile(s.Start), End: inFile(s.End)}
		}
	}
	if w.at == nil || w.file != b.File {
		w.at, w.file = splice.NewSplicer(b.File, &j.Corpus), b.File
	}
	w.out = w.at.Append(w.out, raw, spans)
}

// add adds what a worker has found in a block.
func (r *Rows) add(j *Job, w *writing, to *extsort.Appender) error {
	if j.Cut.Unit == pieces.Substring {
		for i := 0; i < len(w.rows); i += rowBytes {
			first, token := binary.LittleEndian.Uint32(w.rows[i+12:]), binary.LittleEndian.Uint32(w.rows[i+16:])
			row := r.rows.Len()/rowBytes + int64(i/rowBytes)
			if row > 1<<32-1 {
				return errors.New("more than 2^32 passages: take a part of the input")
			}
			if err := to.Add(uint64(first)<<32|uint64(row), uint64(token)); err != nil {
				return err
			}
		}
	}
	r.Changed += w.counts.Changed
	r.Emptied += w.counts.Emptied
	r.Little += w.counts.Little
	r.Counts.Rows += w.counts.Rows
	r.Bytes += w.counts.Bytes
	return errors.Join(r.rows.Append(w.rows), r.little.Append(w.little))
}

// outputs writes the files of kept/, one after the other.
type outputs struct {
	j  *Job
	d  *Documents
	to *write.Folder // nil: nothing is written
	w  *corpus.Writer

	texts *texts // of the Parquet file that is read
}

func (o *outputs) write(ctx context.Context, b *inorder.Block, w *writing) error {
	if o.to == nil || b.File == nil {
		return nil
	}
	source := &o.j.Sources[b.At]
	if source.Format == corpus.Parquet {
		return o.writeRows(ctx, b, w)
	}
	if o.w == nil {
		var err error
		if o.w, err = o.to.CreateKept(source, o.j.Space.Threads, o.j.Space.Share(4)); err != nil {
			return err
		}
		o.w.PackLike(b.File)
		if source.Format != corpus.Text {
			if _, err := o.w.Write(b.File.Header()); err != nil {
				return err
			}
		}
	}
	if _, err := o.w.Write(w.out); err != nil {
		return err
	}
	if !b.End {
		return nil
	}
	done := o.w
	o.w = nil
	return o.to.CommitKept(ctx, source, done)
}

func (o *outputs) abort() {
	if o.w != nil {
		o.w.Abort()
	}
}
