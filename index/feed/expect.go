package feed

import (
	"context"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
)

// Expected is an estimate, from a sample, of how many documents and keys an index will have.
type Expected struct{ Documents, Keys int64 }

// Where returns where the keys belong in an index that will be opened with the options, and what it needs with keys in
// memory: they are there if o.Memory has room for them and a tenth more.
func (e Expected) Where(o index.OpenOptions) (keys index.Keys, needed int64) {
	needed = o.Ceiling(e.Documents, e.Keys)
	if o.Memory > 0 && needed+needed/10 > o.Memory {
		keys = index.KeysOnDisk
	}
	return keys, needed
}

// The largest sample that Expect reads.
const (
	sampleFiles  = 16        // files
	sampleBlocks = 4         // blocks of each file
	sampleBlock  = 128 << 10 // bytes of a block
	// A decoder reads ahead of the blocks that it has returned. So that this matters little, a compressed file
	// is decoded until so many stored bytes are read, or so many are decoded, or to its end.
	sampleStored  = 1 << 20
	sampleDecoded = 16 << 20
)

// Expect estimates how many documents the sources have, and how many keys these documents would have in
// an index with the options. The sample of a compressed file is its first blocks; that of any other file
// is spread over the file. Files and records that cannot be read are left out. known is false if a source
// is a stream: Expect would consume it.
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
	every := (len(sources) + sampleFiles - 1) / sampleFiles // rounded up, so that at most sampleFiles are read
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

// sample counts the documents and keys of the sampled blocks.
type sample struct {
	Expected
	bytes int64 // of files, as they are stored, that the blocks take
}

// add adds the sample of one file. It returns no error for a file that cannot be opened: the run that reads
// the whole file reports it.
func (s *sample) add(ctx context.Context, w *worker, source corpus.Source, how corpus.Options) error {
	file, err := corpus.Open(ctx, source, how)
	if err != nil {
		return nil
	}
	defer file.Close()
	if source.InPlace() {
		every := max(source.Size/sampleBlock/sampleBlocks, 1)
		file.Skip(func(seq int64) bool { return seq%every != 0 })
	}
	sampled, decoded := int64(0), int64(0) // bytes
	var b corpus.Block
	for n := 0; n < sampleBlocks || !source.InPlace() && file.BytesRead() < sampleStored && decoded < sampleDecoded; n++ {
		if file.Next(&b) != nil {
			break
		}
		decoded += int64(len(b.Data()))
		if n >= sampleBlocks {
			continue
		}
		if err := w.Prepare(file, &b, 0); err != nil {
			return err
		}
		sampled += int64(len(b.Data()))
		s.Documents += int64(w.batch.Len())
		s.Keys += int64(w.batch.Keys())
	}
	if source.InPlace() || decoded == 0 {
		s.bytes += sampled
	} else {
		s.bytes += int64(float64(min(file.BytesRead(), source.Size)) * float64(sampled) / float64(decoded))
	}
	return nil
}
