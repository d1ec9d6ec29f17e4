package feed

import (
	"context"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
)

// Expected is what a sample lets expect of all documents.
type Expected struct{ Documents, Keys int64 }

// What Expect looks at: at most so many files, so many blocks of each, and blocks of that size.
const (
	sampleFiles  = 16
	sampleBlocks = 4
	sampleBlock  = 128 << 10
)

// Expect returns about how many documents the sources have, and how many keys those would have in an
// index of these options, by a sample from the front of compressed files and from all over plain ones. What
// cannot be read has no part in it. known is false if a source is a stream, of which nothing can be read
// twice.
func Expect(ctx context.Context, o index.Options, sources []corpus.Source, how corpus.Options) (e Expected, known bool, err error) {
	o.Keys = index.KeysInMemory
	x, err := index.New(o)
	if err != nil {
		return e, false, err
	}
	how.BlockSize = sampleBlock
	all := int64(0)
	for _, source := range sources {
		if source.Stream {
			return e, false, nil
		}
		all += source.Size
	}
	var s sample
	w := &worker{run: &run{Config: &Config{}}, parser: corpus.NewParser(how), batch: x.NewBatch()}
	every := (len(sources) + sampleFiles - 1) / sampleFiles // rounded up: sampleFiles at most
	for i := 0; i < len(sources) && ctx.Err() == nil; i += every {
		if err := s.add(ctx, w, sources[i], how); err != nil {
			return e, false, err
		}
	}
	if s.bytes > 0 {
		scale := float64(all) / float64(s.bytes)
		e.Documents, e.Keys = int64(float64(s.Documents)*scale), int64(float64(s.Keys)*scale)
	}
	return e, true, ctx.Err()
}

// sample is what was found, in so many bytes of files.
type sample struct {
	Expected
	bytes int64
}

func (s *sample) add(ctx context.Context, w *worker, source corpus.Source, how corpus.Options) error {
	file, err := corpus.Open(ctx, source, how)
	if err != nil {
		return nil // whoever reads it all tells
	}
	defer file.Close()
	if source.InPlace() {
		every := max(source.Size/sampleBlock/sampleBlocks, 1)
		file.Skip(func(seq int64) bool { return seq%every != 0 })
	}
	decoded := int64(0)
	var b corpus.Block
	for range sampleBlocks {
		if file.Next(&b) != nil {
			break
		}
		if err := w.Prepare(file, &b, 0); err != nil {
			return err
		}
		decoded += int64(len(b.Data()))
		s.Documents += int64(w.batch.Len())
		s.Keys += int64(w.batch.Keys())
	}
	if !source.InPlace() {
		decoded = min(file.BytesRead(), source.Size)
	}
	s.bytes += decoded
	return nil
}
