package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/valyala/fastjson"

	"github.com/alike-dev/alike/internal/plant"
)

// blockDocuments is the number of documents made and written at a time.
const blockDocuments = 256

// tally counts what was made.
type tally struct {
	documents int
	bytes     int64
	pairs     int
}

// block is a sequence of documents. The planner sends it to the makers and, at the
// same time, to the writer, which waits for done.
type block struct {
	first, end int
	lines      []byte
	ends       []int // where each document ends in lines
	pairs      []plant.Pair
	done       chan struct{}
}

// produce makes the documents with several makers and writes them in order. It
// ends when the plan is done and the size reached.
func produce(corpus *plant.Corpus, c config, out *shards, truth io.Writer) (tally, error) {
	work := make(chan *block, c.threads)
	order := make(chan *block, 4*c.threads)
	stop := make(chan struct{})
	var makers sync.WaitGroup
	for range c.threads {
		makers.Go(func() {
			m := corpus.NewMaker()
			for b := range work {
				makeBlock(m, b, truth != nil)
			}
		})
	}
	go func() {
		defer close(order)
		defer close(work)
		for first := 0; ; {
			end := first + blockDocuments
			if first < corpus.Len() {
				end = min(end, corpus.Len())
			} else if c.options.Bytes == 0 || c.options.Cut {
				return // nothing is made beyond the plan
			}
			b := &block{first: first, end: end, done: make(chan struct{})}
			select {
			case work <- b:
			case <-stop:
				return
			}
			select {
			case order <- b:
			case <-stop:
				return
			}
			first = end
		}
	}()
	made, err := writeBlocks(order, corpus.Len(), c.options.Bytes, out, truth)
	close(stop)
	for range order { // until the planner has seen it
	}
	makers.Wait()
	return made, err
}

func makeBlock(m *plant.Maker, b *block, pairs bool) {
	defer close(b.done)
	for i := b.first; i < b.end; i++ {
		b.lines = m.AppendRecord(b.lines, i)
		b.ends = append(b.ends, len(b.lines))
		if pairs {
			b.pairs = m.AppendPairs(b.pairs, i)
		}
	}
}

// writeBlocks writes the planned documents, and then more until the corpus has the
// size.
func writeBlocks(order <-chan *block, planned int, size int64, out *shards, truth io.Writer) (tally, error) {
	var made tally
	var line []byte
	for b := range order {
		<-b.done
		lines, documents := b.lines, len(b.ends)
		if b.first >= planned {
			if made.bytes >= size {
				return made, nil
			}
			documents = 0
			for documents < len(b.ends) && (documents == 0 || made.bytes+int64(b.ends[documents-1]) < size) {
				documents++
			}
			lines = lines[:b.ends[documents-1]]
		}
		if err := out.write(lines, b.first, made.bytes); err != nil {
			return made, err
		}
		for _, p := range b.pairs {
			line = plant.AppendTruth(line[:0], p)
			if _, err := truth.Write(line); err != nil {
				return made, err
			}
		}
		made.documents += documents
		made.bytes += int64(len(lines))
		made.pairs += len(b.pairs)
	}
	return made, nil
}

// readBases reads the texts of JSONL files, each file into a pool of its own.
func readBases(names []string, field string, whole bool) (*plant.Base, error) {
	base := new(plant.Base)
	for _, name := range names {
		base.NewPool()
		if err := readBase(base, name, field, whole); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return base, nil
}

func readBase(base *plant.Base, name, field string, whole bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := decompressor(f, name)
	if err != nil {
		return err
	}
	defer r.Close()
	lines := bufio.NewReaderSize(r, 1<<20)
	var parser fastjson.Parser
	var long []byte // a line longer than the buffer, put together
	for number := 1; ; number++ {
		long = long[:0]
		var part []byte
		err := bufio.ErrBufferFull
		for errors.Is(err, bufio.ErrBufferFull) {
			part, err = lines.ReadSlice('\n')
			long = append(long, part...)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(long) > 0 {
			v, parseErr := parser.ParseBytes(long)
			if parseErr != nil {
				return fmt.Errorf("line %d: %w", number, parseErr)
			}
			text := v.GetStringBytes(field)
			if text == nil {
				return fmt.Errorf("line %d: no text in field %q: name the field with -text-field", number, field)
			}
			base.Add(text, whole)
		}
		if err != nil {
			return nil
		}
	}
}

// decompressor reads r as the name of its file says.
func decompressor(r io.Reader, name string) (io.ReadCloser, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		return gzip.NewReader(r)
	case strings.HasSuffix(name, ".zst"):
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(r), nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// compressor compresses what is written to w as the name of its file says.
func compressor(w io.Writer, name string) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		return gzip.NewWriter(w), nil
	case strings.HasSuffix(name, ".zst"):
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return nopCloser{w}, nil
}
