package advise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/hashing"
)

// Of inputs of more than scanMost bytes only a share of the blocks, of scanBlock bytes, is read where they lie apart
// on disk; compressedBy is by how much compressed ones are counted larger.
const (
	scanMost     = 128 << 20
	scanBlock    = 64 << 10
	compressedBy = 4
)

// ErrStream marks an input that can be read only once.
var ErrStream = errors.New("can be read only once: put it into a file")

// ReadOptions say how to read, and what may be held.
type ReadOptions struct {
	Corpus corpus.Options
	Again  bool  // the inputs are read once more afterwards
	Memory int64 // bytes that the advice may take; 0: no ceiling
	// Named are documents that are wanted beside the sample, such as those of examples. All of the inputs is read then.
	Named []string
	// OnSkip, if set, is called for what cannot be read, in input order. Its error ends Read.
	OnSkip func(*corpus.Problem) error
}

// Read makes a sample of the documents of inputs. What cannot be read it leaves out.
// Streams are read to their end, unless the inputs are wanted again: then the error of a stream is an ErrStream. Other
// errors are that of ctx, of OnSkip, and of inputs that do not exist.
func Read(ctx context.Context, inputs []string, o ReadOptions) (*Sample, error) {
	sources, lost, err := corpus.Find(ctx, inputs, o.Corpus)
	if err != nil {
		return nil, err
	}
	if o.OnSkip == nil {
		o.OnSkip = func(*corpus.Problem) error { return nil }
	}
	for i := range lost {
		if err := o.OnSkip(&lost[i]); err != nil {
			return nil, err
		}
	}
	var bytes int64
	for _, s := range sources {
		if s.Stream && o.Again {
			return nil, fmt.Errorf("%s %w", s.Label(), ErrStream)
		}
		if s.Compression != corpus.Plain {
			bytes += compressedBy * s.Size
		} else {
			bytes += s.Size
		}
	}
	r := &reader{collector: NewCollector(o.Memory), share: 1, o: o.Corpus, parser: corpus.NewParser(o.Corpus), skip: o.OnSkip}
	r.collector.want(o.Named)
	if bytes > scanMost && len(o.Named) == 0 {
		r.share = float64(scanMost) / float64(bytes)
		r.o.BlockSize = scanBlock
	}
	for number, s := range sources {
		if err := r.read(ctx, number, s); err != nil {
			return nil, err
		}
	}
	scanned := 1.0
	if r.taken < r.blocks {
		scanned = float64(max(r.taken, 1)) / float64(r.blocks)
	}
	return r.collector.Sample(scanned), ctx.Err()
}

// reader offers the documents of a share of the blocks to a collector.
type reader struct {
	collector *Collector
	share     float64
	o         corpus.Options
	parser    *corpus.Parser
	skip      func(*corpus.Problem) error
	blocks    int   // seen,
	taken     int   // and read
	next      int64 // block of the source that was not seen
	name      []byte
}

// wants chooses blocks by their place alone, and counts each once. A text file is one block.
func (r *reader) wants(source int, seq int64) bool {
	wanted := r.share == 1 || float64(hashing.Mix(place(source, seq))>>11)*0x1p-53 < r.share
	if seq >= r.next {
		r.next = seq + 1
		r.blocks++
		if wanted {
			r.taken++
		}
	}
	return wanted
}

func place(source int, seq int64) uint64 { return uint64(source)<<40 ^ uint64(seq) }

func (r *reader) read(ctx context.Context, number int, s corpus.Source) error {
	r.next = 0
	whole := s.Format == corpus.Text
	if whole && !r.wants(number, 0) {
		return nil
	}
	file, err := corpus.Open(ctx, s, r.o)
	if err != nil {
		return r.problem(err)
	}
	defer file.Close() // it was only read
	if !whole {
		file.Skip(func(seq int64) bool { return !r.wants(number, seq) })
	}
	var b corpus.Block
	defer b.Release()
	lines := int64(0)
	for {
		if err := file.Next(&b); err == io.EOF {
			return nil
		} else if err != nil {
			return r.problem(err)
		}
		var record corpus.Record
		for r.parser.Start(file, &b); r.parser.Next(&record); {
			if record.Err == nil {
				r.collector.Add(r.id(s, &record, lines), record.Text, place(number, b.Seq))
			} else if err := r.skip(file.RecordProblem(lines, &record, record.Err)); err != nil {
				return err
			}
		}
		lines += b.Lines
	}
}

// problem reports an error about an input, and returns any other one.
func (r *reader) problem(err error) error {
	if p := (*corpus.Problem)(nil); errors.As(err, &p) {
		return r.skip(p)
	}
	return err
}

// id returns the name of a record. Where blocks were left out, its line is not known.
func (r *reader) id(s corpus.Source, record *corpus.Record, lines int64) []byte {
	if record.ID != nil {
		return record.ID
	}
	if r.share == 1 {
		r.name = s.AppendID(r.name[:0], lines+record.Line)
	} else {
		r.name = strconv.AppendInt(append(r.name[:0], s.Label()+"@"...), record.Offset, 10)
	}
	return r.name
}
