package write

import (
	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/splice"
)

// recordCutter cuts spans out of the records of one open file.
type recordCutter struct {
	k       *keptWriter
	file    *corpus.File
	splicer *splice.Splicer // nil: nothing was cut yet
	spans   func(doc uint32) ([]splice.Span, error)
	out     []byte
}

func (k *keptWriter) newRecordCutter(file *corpus.File) *recordCutter {
	return &recordCutter{k: k, file: file}
}

// record returns a record without what is cut out of it, until the next call.
func (r *recordCutter) record(doc uint32, raw []byte) ([]byte, error) {
	if r.k.Cut == nil || !r.k.Cuts.Has(doc) {
		return raw, nil
	}
	if r.splicer == nil {
		r.splicer, r.spans = splice.NewSplicer(r.file, &r.k.Corpus), r.k.Cut()
	}
	spans, err := r.spans(doc)
	r.out = r.splicer.Append(r.out[:0], raw, spans)
	return r.out, err
}
